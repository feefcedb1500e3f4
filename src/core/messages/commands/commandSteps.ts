/**
 * Predicts the output and file effects of each step of a command line. Unknown steps are kept as
 * commands.
 */

import { givenText, pathIn, findProgram, written } from './programs';
import { NOTHING, OTHER, type Effect, type Outcome, type PrintedText, type Program } from './printed';
import { unwrapped, type ScriptStep, type SimpleCommand, type When, type Word } from './script';
import { readSh } from './sh';

export type ShellKind = 'sh' | 'powershell';

export interface CommandStep {
  readonly when: When;
  readonly printed: readonly PrintedText[];
  readonly effects: readonly Effect[];
  /** Program names, which their error messages start with. */
  readonly programs: readonly string[];
}

/** Longer lines are mostly data and slow to parse. */
const MAX_LENGTH = 400_000;

export interface CommandOptions {
  readonly shell?: ShellKind | undefined;
  /**
   * Folder the line was started in, if known. Paths are relative to where this path is. Default ''.
   */
  readonly folder?: string | undefined;
}

/**
 * Parses a command line of sh or bash.
 * @returns undefined if it is not one, such as PowerShell
 */
export function commandSteps(line: string, options: CommandOptions = {}): readonly CommandStep[] | undefined {
  if (line.length > MAX_LENGTH) return undefined;
  const shell = options.shell ?? detectShell(line);
  return shell === 'sh' ? readSh(line, options.folder ?? '')?.map(understood) : undefined;
}

const POWERSHELL =
  /(?:^|[\s;|({&])(?:Get|Set|Add|Select|Where|ForEach|Write|Remove|New|Out|Test|Copy|Move|Push|Pop|Start|Stop|Invoke|ConvertFrom|ConvertTo|Measure|Sort|Format|Join|Split|Resolve|Import|Export)-[A-Z]\w+|\$env:\w|\$_\b|\$LASTEXITCODE|@'\r?\n|@"\r?\n/;
const POSIX = /<<-?\s*['"]?\w|\$\(\(|(?:^|[\s;])(?:then|fi|done|esac)(?:[\s;]|$)|\bexport \w+=|(?:^|\n)#!/;

export const detectShell = (line: string): ShellKind =>
  POWERSHELL.test(line) && !POSIX.test(line) ? 'powershell' : 'sh';

function understood({ when, folder, commands }: ScriptStep): CommandStep {
  if (commands.length === 0) return { when, printed: [OTHER], effects: [], programs: [] };
  let printed: readonly PrintedText[] | undefined;
  const effects: Effect[] = [];
  const programs: string[] = [];
  for (const command of commands) {
    const outcome = simulateCommand(command, folder, printed);
    printed = outcome.printed;
    effects.push(...outcome.effects);
    const [program] = unwrapped(command.words);
    if (program !== undefined) programs.push(program);
  }
  return { when, printed: printed ?? [NOTHING], effects, programs };
}

function simulateCommand(command: SimpleCommand, folder: Word, piped: readonly PrintedText[] | undefined): Outcome {
  const [name, ...words] = unwrapped(command.words);
  const input = getInput(command, folder, piped);
  const outcome = programFor(name)({ words, folder, input });
  return redirected(outcome, command, folder);
}

const anything: Program = () => ({ printed: [OTHER], effects: [] });

const programFor = (name: Word): Program => (name === undefined ? undefined : findProgram(name)) ?? anything;

/** Input from a here-document or here-string, a file, or the pipe. */
function getInput(
  { given, inputFile }: SimpleCommand,
  folder: Word,
  piped: readonly PrintedText[] | undefined,
): readonly PrintedText[] | undefined {
  if (given) return [givenText(given)];
  if (inputFile === null) return piped;
  const path = pathIn(folder, inputFile);
  return path === undefined || path === '/dev/null'
    ? [OTHER]
    : [{ kind: 'lines', path, ranges: [{ first: 1, most: Infinity }], numbers: undefined, most: Infinity }];
}

/** What is left of an outcome after redirecting its output to files. */
function redirected(outcome: Outcome, { redirects }: SimpleCommand, folder: Word): Outcome {
  let { printed } = outcome;
  const effects = [...outcome.effects];
  for (const { stream, to, appends } of redirects) {
    if (stream === 'errors') continue;
    const path = pathIn(folder, to);
    if (path !== undefined && !isDevice(path))
      effects.push(written(path, printed.length === 1 ? printed[0] : undefined, appends));
    printed = path === '/dev/stderr' || path === '/dev/stdout' ? printed : [NOTHING];
  }
  return { printed, effects };
}

const isDevice = (path: string): boolean => path.startsWith('/dev/') || /^(?:nul|\$null)$/i.test(path);
