/**
 * Classifies a call by the user's own rules for tools, then by the agents' rules, then by the shape
 * of its parameters.
 */
import { AGENT_LIST } from '../agents';
import type { ParameterNames, ToolRule } from '../agents/types';
import { memoizeByObject } from '../memoizeByObject';
import { isRecord } from './blocks';
import type { PlacedContent, ToolExchange } from './exchanges';

/** Rules for the tools of all agents; the user's own rules override them. */
export interface ToolTable {
  readonly own: Readonly<Record<string, ToolRule>>;
}

export const DEFAULT_TOOLS: ToolTable = { own: {} };

/** Reused while the user's rules are the same, so that caches keyed by the table stay valid. */
let latestTable: { readonly json: string; readonly table: ToolTable } | undefined;

export function makeToolTable(own: Readonly<Record<string, ToolRule>>): ToolTable {
  const rows = Object.entries(own);
  if (rows.length === 0) return DEFAULT_TOOLS;
  const json = JSON.stringify(rows);
  if (latestTable?.json !== json)
    latestTable = { json, table: { own: Object.fromEntries(rows.map(([name, rule]) => [name.toLowerCase(), rule])) } };
  return latestTable.table;
}

type ToolCall = Pick<ToolExchange, 'tool' | 'input'>;

const getCachedRules = memoizeByObject<
  ToolTable,
  WeakMap<ToolCall['input'], { readonly tool: string; readonly rule: ToolRule | undefined }>
>(() => new WeakMap());

export function getToolRule(tools: ToolTable, call: ToolCall): ToolRule | undefined {
  const cachedRule = getCachedRules(tools).get(call.input);
  if (cachedRule?.tool === call.tool) return cachedRule.rule;
  const rule = findToolRule(tools, call);
  getCachedRules(tools).set(call.input, { tool: call.tool, rule });
  return rule;
}

function findToolRule({ own }: ToolTable, { tool, input }: ToolCall): ToolRule | undefined {
  const name = tool.toLowerCase();
  // Own keys only, in case a tool is called "constructor".
  if (Object.hasOwn(own, name)) return own[name];
  const rows = RULES_BY_TOOL.get(name);
  if (rows) return chooseRuleMatchingMostParameters(rows, input);
  const unprefixedRows = RULES_BY_TOOL.get(name.slice(name.lastIndexOf('__') + 2));
  if (
    unprefixedRows &&
    name.startsWith('mcp__') &&
    unprefixedRows.some((row) => countMatchingParameters(row, input) > 0)
  ) {
    return chooseRuleMatchingMostParameters(unprefixedRows, input);
  }
  return guessToolRule(name, input);
}

/** A name can have several rules, because agents use the same name for different tools. */
const RULES_BY_TOOL: ReadonlyMap<string, readonly [ToolRule, ...ToolRule[]]> = (() => {
  const rows = new Map<string, [ToolRule, ...ToolRule[]]>();
  for (const { tools } of AGENT_LIST) {
    for (const [name, row] of Object.entries<ToolRule>(tools)) {
      const rowsOfName = rows.get(name);
      if (rowsOfName) rowsOfName.push(row);
      else rows.set(name, [row]);
    }
  }
  return rows;
})();

type ToolRuleRows = readonly [ToolRule, ...ToolRule[]];

/** Chooses the rule that matches most of the parameters. For a tie, merges the rules' formats. */
function chooseRuleMatchingMostParameters(rows: ToolRuleRows, input: ToolCall['input']): ToolRule {
  const [first, ...others] = rows;
  if (others.length === 0) return first;
  const matchCounts = rows.map((row) => countMatchingParameters(row, input));
  const bestMatchCount = Math.max(...matchCounts);
  const bestIndexes = rows.flatMap((_, at) => (matchCounts[at] === bestMatchCount ? [at] : []));
  const joinedRules = joinedRuleCache(rows);
  const key = bestIndexes.join();
  const cachedRule = joinedRules.get(key);
  if (cachedRule) return cachedRule;
  const joinedRule = joinRulesOfSameKind(bestIndexes.map((at) => rows[at] as ToolRule) as [ToolRule, ...ToolRule[]]);
  joinedRules.set(key, joinedRule);
  return joinedRule;
}

const joinedRuleCache = memoizeByObject<ToolRuleRows, Map<string, ToolRule>>(() => new Map());

function joinRulesOfSameKind([best, ...bestRows]: ToolRuleRows): ToolRule {
  const numberForms = [best, ...bestRows].flatMap((row) => (row.kind === best.kind ? (row.numbers ?? []) : []));
  return { ...best, ...(best.numbers && { numbers: [...new Set(numberForms)] }) };
}

const countMatchingParameters = (row: ToolRule, input: ToolCall['input']): number =>
  listParametersOfRule(row).filter((parameters) =>
    parameters.some((parameter) => listParameterValues(input, parameter).length > 0),
  ).length;

const listParametersOfRule = memoizeByObject(
  ({ path, old, new: newNames, content, patch, pattern, command, range }: ToolRule): readonly ParameterNames[] =>
    [
      path,
      old,
      newNames,
      content,
      patch,
      pattern,
      command,
      range?.first,
      range?.last,
      range?.count,
      range?.pair,
    ].filter((parameters) => parameters !== undefined),
);

/** @param parameter such as `path`, `task.command`, `files[]`, `edits[].oldText` */
export function listParameterValues(input: ToolCall['input'], parameter: string): readonly unknown[] {
  if (!parameter.includes('.') && !parameter.includes('['))
    return Object.hasOwn(input, parameter) && isNonEmptyValue(input[parameter]) ? [input[parameter]] : EMPTY_VALUES;
  let values: readonly unknown[] = [input];
  for (const step of parameter.split('.')) {
    const isList = step.endsWith('[]');
    const key = isList ? step.slice(0, -2) : step;
    values = values.flatMap((value): readonly unknown[] => {
      if (!isRecord(value) || !Object.hasOwn(value, key)) return [];
      const innerValue = value[key];
      if (!isList) return [innerValue];
      return Array.isArray(innerValue) ? (innerValue as readonly unknown[]) : [];
    });
  }
  return values.filter(isNonEmptyValue);
}

const EMPTY_VALUES: readonly never[] = [];

const isNonEmptyValue = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

export function listParameterTexts(
  input: ToolCall['input'],
  parameters: ParameterNames | undefined,
): readonly string[] {
  for (const parameter of parameters ?? []) {
    const texts = listParameterValues(input, parameter).filter((value) => typeof value === 'string');
    if (texts.length > 0) return texts;
  }
  return [];
}

/** Returns undefined if the call has several files. */
export function getToolPath(tools: ToolTable, exchange: ToolCall): string | undefined {
  const rule = getToolRule(tools, exchange);
  if (!rule) return undefined;
  for (const parameter of rule.path ?? []) {
    const [path, secondPath] = listParameterValues(exchange.input, parameter);
    const isSinglePath =
      !parameter.includes('[]') || listParameterValues(exchange.input, getListNameInParameter(parameter)).length === 1;
    if (typeof path === 'string' && secondPath === undefined && isSinglePath) return path;
  }
  return readXmlPath(exchange.input);
}

const getListNameInParameter = (parameter: string): string => parameter.slice(0, parameter.indexOf('[]') + 2);

/** Roo's later XML form: `<args><file><path>x</path></file></args>`. */
function readXmlPath(input: ToolCall['input']): string | undefined {
  const args = input['args'];
  if (typeof args !== 'string') return undefined;
  const pathMatches = [...args.matchAll(/<path>([^<]*)<\/path>/g)];
  return pathMatches.length === 1 ? pathMatches[0]?.[1]?.trim() : undefined;
}

/** Codex passes a list of words, Cline 4 a list of lines. */
export function getCommandOfCall(exchange: ToolCall): string | undefined {
  for (const key of ['command', 'cmd', 'commands']) {
    const value = exchange.input[key];
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return value.map(String).join(' ');
  }
  return undefined;
}

/** True for the parameter that names the file, without which a call makes no sense. */
export const isFileNameParameter = ({ path }: Pick<PlacedContent, 'path'>): boolean =>
  path.includes('input') && FILE_PARAMETERS.has(String(path.findLast((key) => typeof key === 'string')));

const PARAMETER_SPELLINGS = {
  path: [
    'file_path',
    'filePath',
    'path',
    'filepath',
    'file',
    'filename',
    'target_file',
    'absolute_path',
    'relative_path',
  ],
  old: ['old_string', 'oldString', 'old_str', 'old_text', 'oldText', 'search', 'find'],
  new: ['new_string', 'newString', 'new_str', 'new_text', 'newText', 'replace', 'replacement'],
  content: ['content', 'contents', 'file_text', 'text'],
  patch: ['patch', 'patchText', 'diff'],
  pattern: ['pattern', 'query', 'regex'],
  command: ['command', 'cmd', 'commandLine', 'command_line'],
  where: ['glob', 'include', 'include_pattern', 'includePattern', 'dir', 'directory', 'folder', 'dir_path'],
  first: ['offset', 'start_line', 'startLine', 'start', 'view_range', 'line_start'],
  url: ['url', 'urls', 'uri'],
} as const satisfies Readonly<Record<string, ParameterNames>>;

/** Last segment of every parameter that names a file: `file_path`, `edits[].path`. */
const FILE_PARAMETERS: ReadonlySet<string> = new Set(
  [
    ...PARAMETER_SPELLINGS.path,
    ...AGENT_LIST.flatMap(({ tools }) => Object.values<ToolRule>(tools)).flatMap(({ path }) => path ?? []),
  ].map((parameter) => parameter.replaceAll('[]', '').split('.').at(-1) ?? parameter),
);

/**
 * Uses parameter names first, then the tool's name. Ignores results, since condensing them must not
 * change the class.
 */
function guessToolRule(name: string, input: ToolCall['input']): ToolRule | undefined {
  const findParameter = (what: keyof typeof PARAMETER_SPELLINGS): string | undefined =>
    PARAMETER_SPELLINGS[what].find((each) => typeof input[each] === 'string');
  const hasParameter = (what: keyof typeof PARAMETER_SPELLINGS): boolean =>
    PARAMETER_SPELLINGS[what].some((each) => Object.hasOwn(input, each));
  const pathName = findParameter('path');
  const pathRule = pathName === undefined ? {} : { path: [pathName] };
  const oldTextName = findParameter('old');
  const newTextName = findParameter('new');
  if (oldTextName !== undefined && newTextName !== undefined)
    return { kind: 'edit', ...pathRule, old: [oldTextName], new: [newTextName] };
  const patchName = findParameter('patch');
  if (patchName !== undefined) return { kind: 'edit', ...pathRule, patch: [patchName] };
  const commandName = findParameter('command');
  // `commandName` may also be a subcommand such as "list"; the other parameters decide.
  if (
    commandName !== undefined &&
    Object.keys(input).every((each) => each === commandName || COMMAND_SIDE_PARAMETERS.has(each))
  ) {
    return { kind: 'command', command: [commandName] };
  }
  const patternName = findParameter('pattern');
  const pathOrFolderName = findParameter('path') ?? findParameter('where');
  if (patternName !== undefined) {
    return pathOrFolderName === undefined
      ? undefined
      : { kind: 'search', path: [pathOrFolderName], pattern: [patternName] };
  }
  const contentName = findParameter('content');
  if (pathName !== undefined) {
    if (contentName !== undefined)
      return WRITING_TOOL_NAME.test(name) ? { kind: 'write', ...pathRule, content: [contentName] } : undefined;
    if (LISTING_TOOL_NAME.test(name)) return { kind: 'list', ...pathRule };
    if (hasParameter('first') || READING_TOOL_NAME.test(name)) return { kind: 'read', ...pathRule };
    return undefined;
  }
  return hasParameter('url') ? { kind: 'fetch' } : undefined;
}

const COMMAND_SIDE_PARAMETERS: ReadonlySet<string> = new Set([
  'cwd',
  'workdir',
  'working_directory',
  'workingDirectory',
  'directory',
  'dir',
  'description',
  'explanation',
  'timeout',
  'timeout_ms',
  'shell',
  'env',
  'background',
  'is_background',
  'isBackground',
  'run_in_background',
]);

const WRITING_TOOL_NAME = /(?:^|[_.-])(?:write|create|save|put|overwrite)|(?:write|create|save)[_-]?file/;
const LISTING_TOOL_NAME = /(?:^|[_.-])(?:list|ls|dir|tree)(?:[_.-]|$)|list_?(?:dir|files|folder)|directory_tree/;
const READING_TOOL_NAME = /(?:^|[_.-])(?:read|cat|view|open)(?:[_.-]|$)|(?:read|view|open|get)_?(?:text_?)?file/;
