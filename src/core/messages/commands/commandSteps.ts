/** Predicts what each step of a command line prints and does to files. */

import { makePrintedInlineText, joinWordPath, findProgram, makeWriteEffect } from './programs';
import {
  EMPTY_PRINT,
  UNKNOWN_PRINT,
  type CommandEffect,
  type CommandOutcome,
  type ExpectedPrint,
  type SimulatedProgram,
} from './printed';
import {
  stripWrapperPrograms,
  type ScriptStep,
  type SimpleCommand,
  type RunCondition,
  type ScriptWord,
} from './script';
import { parseShScript } from './sh';

export type ShellKind = 'sh' | 'powershell';

export interface CommandStep {
  readonly when: RunCondition;
  readonly printed: readonly ExpectedPrint[];
  readonly effects: readonly CommandEffect[];
  /** Program names with which this step's error messages can start. */
  readonly programs: readonly string[];
}

/** Longer lines are mostly data and slow to parse. */
const MAX_COMMAND_LINE_CHARS = 400_000;

export interface CommandParseOptions {
  readonly shell?: ShellKind | undefined;
  /** The folder in which the line starts. Default ''. */
  readonly folder?: string | undefined;
}

/** Returns undefined for anything but sh and bash, such as PowerShell. */
export function parseCommandSteps(line: string, options: CommandParseOptions = {}): readonly CommandStep[] | undefined {
  if (line.length > MAX_COMMAND_LINE_CHARS) return undefined;
  const shell = options.shell ?? detectShell(line);
  return shell === 'sh' ? parseShScript(line, options.folder ?? '')?.map(simulateStep) : undefined;
}

const POWERSHELL_SYNTAX =
  /(?:^|[\s;|({&])(?:Get|Set|Add|Select|Where|ForEach|Write|Remove|New|Out|Test|Copy|Move|Push|Pop|Start|Stop|Invoke|ConvertFrom|ConvertTo|Measure|Sort|Format|Join|Split|Resolve|Import|Export)-[A-Z]\w+|\$env:\w|\$_\b|\$LASTEXITCODE|@'\r?\n|@"\r?\n/;
const POSIX_SYNTAX = /<<-?\s*['"]?\w|\$\(\(|(?:^|[\s;])(?:then|fi|done|esac)(?:[\s;]|$)|\bexport \w+=|(?:^|\n)#!/;

export const detectShell = (line: string): ShellKind =>
  POWERSHELL_SYNTAX.test(line) && !POSIX_SYNTAX.test(line) ? 'powershell' : 'sh';

function simulateStep({ when, folder, commands }: ScriptStep): CommandStep {
  if (commands.length === 0) return { when, printed: [UNKNOWN_PRINT], effects: [], programs: [] };
  let lastPrinted: readonly ExpectedPrint[] | undefined;
  const effects: CommandEffect[] = [];
  const programs: string[] = [];
  for (const command of commands) {
    const outcome = simulateCommand(command, folder, lastPrinted);
    lastPrinted = outcome.printed;
    effects.push(...outcome.effects);
    const [program] = stripWrapperPrograms(command.words);
    if (program !== undefined) programs.push(program);
  }
  return { when, printed: lastPrinted ?? [EMPTY_PRINT], effects, programs };
}

function simulateCommand(
  command: SimpleCommand,
  folder: ScriptWord,
  piped: readonly ExpectedPrint[] | undefined,
): CommandOutcome {
  const [name, ...words] = stripWrapperPrograms(command.words);
  const input = getCommandInput(command, folder, piped);
  const outcome = findProgramOrUnknown(name)({ words, folder, input });
  return applyRedirects(outcome, command, folder);
}

const runUnknownProgram: SimulatedProgram = () => ({ printed: [UNKNOWN_PRINT], effects: [] });

const findProgramOrUnknown = (name: ScriptWord): SimulatedProgram =>
  (name === undefined ? undefined : findProgram(name)) ?? runUnknownProgram;

function getCommandInput(
  { inputText, inputFile }: SimpleCommand,
  folder: ScriptWord,
  piped: readonly ExpectedPrint[] | undefined,
): readonly ExpectedPrint[] | undefined {
  if (inputText) return [makePrintedInlineText(inputText)];
  if (inputFile === null) return piped;
  const path = joinWordPath(folder, inputFile);
  return path === undefined || path === '/dev/null'
    ? [UNKNOWN_PRINT]
    : [{ kind: 'lines', path, ranges: [{ first: 1, maxLines: Infinity }], numbers: undefined, maxLines: Infinity }];
}

function applyRedirects(outcome: CommandOutcome, { redirects }: SimpleCommand, folder: ScriptWord): CommandOutcome {
  let { printed: remainingPrints } = outcome;
  const effects = [...outcome.effects];
  for (const { stream, target, appends } of redirects) {
    if (stream === 'errors') continue;
    const path = joinWordPath(folder, target);
    if (path !== undefined && !isDevicePath(path))
      effects.push(makeWriteEffect(path, remainingPrints.length === 1 ? remainingPrints[0] : undefined, appends));
    remainingPrints = path === '/dev/stderr' || path === '/dev/stdout' ? remainingPrints : [EMPTY_PRINT];
  }
  return { printed: remainingPrints, effects };
}

const isDevicePath = (path: string): boolean => path.startsWith('/dev/') || /^(?:nul|\$null)$/i.test(path);
