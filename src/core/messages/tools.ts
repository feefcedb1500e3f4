import type { ToolExchange } from './exchanges';
import { isRecord } from './blocks';

/** What a tool does, as far as condensation cares. */
export const TOOL_KINDS = ['read', 'list', 'search', 'command', 'write', 'edit', 'plan'] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** How to read a tool's parameters. */
export interface ToolRule {
  readonly kind: ToolKind;
  /** Parameters that may name the file or folder, the first present one wins. */
  readonly path?: readonly string[];
}

/** Rules by tool name; users add rows for tools of other agents. */
export type ToolTable = Readonly<Record<string, ToolRule>>;

const PATH = ['file_path', 'filePath', 'path', 'notebook_path', 'dir_path', 'TargetFile'] as const;

const rows = (kind: ToolKind, names: readonly string[]): [string, ToolRule][] =>
  names.map((name) => [name, { kind, path: PATH }]);

/** Tools of Claude Code, VS Code's agent mode, Roo and Zoo, Cline, Codex. Sources: the agents' public tool definitions. */
export const DEFAULT_TOOLS: ToolTable = Object.fromEntries([
  ...rows('read', ['Read', 'NotebookRead', 'read_file', 'read_files', 'view', 'View', 'view_image']),
  ...rows('list', ['LS', 'Glob', 'list_dir', 'list_files', 'file_search', 'list_code_definition_names']),
  ...rows('search', ['Grep', 'grep_search', 'search_files', 'grep_files', 'semantic_search', 'codebase_search']),
  ...rows('command', ['Bash', 'run_in_terminal', 'execute_command', 'run_commands', 'shell', 'exec_command']),
  ...rows('write', ['Write', 'create_file', 'write_to_file']),
  ...rows('edit', [
    'Edit',
    'MultiEdit',
    'NotebookEdit',
    'replace_string_in_file',
    'multi_replace_string_in_file',
    'insert_edit_into_file',
    'apply_patch',
    'apply_diff',
    'insert_content',
    'search_and_replace',
    'replace_in_file',
    'editor',
  ]),
  ...rows('plan', ['TodoWrite', 'update_todo_list', 'manage_todo_list', 'update_plan']),
]);

/** The rule for a tool; own keys only, so that a tool called "constructor" has none. */
export const ruleFor = (tools: ToolTable, name: string): ToolRule | undefined =>
  Object.hasOwn(tools, name) ? tools[name] : undefined;

/** The file or folder that a call works on, as the call names it. */
export function pathOf(tools: ToolTable, exchange: ToolExchange): string | undefined {
  const rule = ruleFor(tools, exchange.tool);
  for (const key of rule?.path ?? []) {
    const value = exchange.input[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return rule ? (xmlPath(exchange.input) ?? listedPath(exchange.input)) : undefined;
}

/** Roo's later XML form: `<args><file><path>x</path></file></args>`; several files have no single path. */
function xmlPath(input: ToolExchange['input']): string | undefined {
  const args = input['args'];
  if (typeof args !== 'string') return undefined;
  const paths = [...args.matchAll(/<path>([^<]*)<\/path>/g)];
  return paths.length === 1 ? paths[0]?.[1]?.trim() : undefined;
}

/** Cline 4: `files: [{path, start_line, end_line}]`. */
function listedPath(input: ToolExchange['input']): string | undefined {
  const files = input['files'];
  const first: unknown = Array.isArray(files) && files.length === 1 ? files[0] : undefined;
  return isRecord(first) && typeof first['path'] === 'string' ? first['path'] : undefined;
}

/** A command line as one string: Codex passes a list, Cline 4 a list of command lines. */
export function commandOf(exchange: ToolExchange): string | undefined {
  for (const key of ['command', 'cmd', 'commands']) {
    const value = exchange.input[key];
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return value.map(String).join(' ');
  }
  return undefined;
}
