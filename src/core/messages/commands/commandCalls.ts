import { isRecord } from '../blocks';
import type { Slice } from '../../slice';
import { detectShell, type ShellKind } from './commandSteps';

export interface CommandCall {
  readonly line: string;
  readonly shell: ShellKind;
  readonly folder: string | undefined;
}

const COMMAND_LINE_KEYS = ['command', 'cmd', 'commands', 'script'] as const;
const FOLDER_KEYS = ['workdir', 'cwd', 'working_directory', 'dir_path', 'directory'] as const;

/** Undefined if there is no command line, or several whose outputs can't be separated. */
export function parseCommandCall(tool: string, input: Readonly<Record<string, unknown>>): CommandCall | undefined {
  const callInput = parseCodeModeCall(input['input']) ?? input;
  const line = COMMAND_LINE_KEYS.map((key) => getCommandLine(callInput[key])).find((found) => found !== undefined);
  if (line === undefined) return undefined;
  const folder = FOLDER_KEYS.map((key) => callInput[key]).find((value) => typeof value === 'string' && value !== '');
  const shell = /powershell|pwsh/i.test(tool) ? 'powershell' : detectShell(line);
  return { line, shell, folder: typeof folder === 'string' ? folder : undefined };
}

/** Codex passes a list of shell words, Cline a list of command lines. */
function getCommandLine(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string')) return undefined;
  const words: readonly string[] = value;
  const [program = '', flag = ''] = words;
  if (words.length === 1) return program;
  if (/^(?:.*\/)?(?:ba|z|da)?sh$/.test(program) && /^-\w*c$/.test(flag) && words.length === 3) return words[2];
  if (/^(?:powershell|pwsh)(?:\.exe)?$/i.test(program)) return words.at(-1);
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

/**
 * Matches a program that runs one command and prints only its output: `const r = await
 * tools.exec_command({cmd:"…", …}); text(r.output);`
 */
const CODE_MODE_PROGRAM =
  /^\s*(?:\/\/[^\n]*\n\s*)*const (\w+) = await tools\.(?:exec_command|shell_command)\((\{[\s\S]*?\})\);?\s*text\(\1\.output(?: \?\? \1)?\);?\s*(?:if ?\(\1\.session_id\)[^;\n]*;?\s*)?$/;

/**
 * In Codex code mode the call is a program.
 * @returns the parameters of its only command, if the program prints nothing else
 */
function parseCodeModeCall(program: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof program !== 'string' || !program.includes('tools.') || program.split('tools.').length !== 2)
    return undefined;
  const objectText = CODE_MODE_PROGRAM.exec(program)?.[2];
  if (objectText === undefined) return undefined;
  try {
    // Keys may be unquoted; strings are JSON.
    const value: unknown = JSON.parse(
      objectText.replace(/"(?:[^"\\]|\\.)*"|([{,]\s*)(\w+)(?=\s*:)/g, (all: string, before?: string, key?: string) =>
        key === undefined ? all : `${before ?? ''}"${key}"`,
      ),
    );
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Headers before the output: Codex (exec_command, shell_command, code mode), Gemini CLI, Qwen Code,
 * Roo, Claude Code's failures.
 */
const COMMAND_OUTPUT_HEADERS = [
  /^Chunk ID: [^\n]*\nWall time: [^\n]*\nProcess [^\n]*\n(?:Original token count: [^\n]*\n)?Output:\n/,
  /^Exit code: -?\d+\nWall time: [^\n]*\n(?:Total output lines: \d+\n)?Output:\n/,
  /^Script (?:completed|failed|running)[^\n]*\nWall time:? [^\n]*\nOutput:\n\n?/,
  /^(?:<untrusted_context>\n)?(?:Command: [^\n]*\nDirectory: [^\n]*\n)?Output: /,
  /^Command executed[^\n]*\n(?:Working directory[^\n]*\n)?(?:Exit code: \d+\n)?Output:\n/,
  /^Exit code:? -?\d+\n/,
];
const SECOND_OUTPUT_HEADER = /^(?:Warning: truncated output[^\n]*\n)?Total output lines: \d+\n\n/;

/**
 * Footers after the output: Copilot CLI, Pi, Oh My Pi, Claude Code, Gemini CLI, Qwen Code,
 * OpenCode.
 */
const COMMAND_OUTPUT_FOOTER =
  /\n*(?:\n<shellId: [^\n]*>|\n<command with shellId: [^\n]*>|\nCommand exited with code \d+|\nWall time: [\d.]+ seconds|\nShell cwd was reset to [^\n]*|\nError: \(none\)\nExit Code: [\s\S]{0,200}|\nProcess Group PGID: [^\n]*(?:\n<\/untrusted_context>)?|\n<\/?(?:bash|shell)_metadata>[\s\S]{0,2000})\s*$/;
const MAX_OUTPUT_FOOTER_CHARS = 2_200;

export function findSlicePrintedByCommand(text: string): Slice {
  let start = 0;
  for (const headerPattern of COMMAND_OUTPUT_HEADERS) {
    const match = headerPattern.exec(text);
    if (!match) continue;
    start = match[0].length;
    break;
  }
  start += SECOND_OUTPUT_HEADER.exec(text.slice(start, start + 200))?.[0].length ?? 0;
  const searchStart = Math.max(start, text.length - MAX_OUTPUT_FOOTER_CHARS);
  const footerMatch = COMMAND_OUTPUT_FOOTER.exec(text.slice(searchStart));
  return { start, end: footerMatch ? Math.max(start, searchStart + footerMatch.index) : text.length };
}
