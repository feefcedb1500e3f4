import { parseArgs, type ParseArgsConfig } from 'node:util';
import { getErrorMessage } from '../core/errors';
import {
  SESSION_COMMANDS,
  findCommandsWithOption,
  STANDALONE_COMMANDS,
  selectOptions,
  type CommandName,
  type SessionCommandName,
  type OptionValues,
  type StandaloneCommandName,
} from './help';

export interface SessionArguments {
  readonly command: SessionCommandName;
  readonly file: string;
  readonly references: readonly string[];
  readonly provider: string;
  readonly config: string | undefined;
  /** ID of a Smart preset, or a preset file. */
  readonly preset: string | undefined;
  readonly targetTokens: number | undefined;
  readonly model: string | undefined;
  readonly history: 'active' | 'all';
  readonly json: boolean;
  readonly out: string | undefined;
  readonly store: string | undefined;
  /** The format that `export` writes, from `--to`. */
  readonly to: string | undefined;
  /** If true, `export` writes the condensed conversation instead of the original. */
  readonly condensed: boolean;
  /** If true, `report` writes figures only. */
  readonly withoutContent: boolean;
}

/** An error in the command line; the message says what was expected. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

const SEE_HELP_HINT = 'See --help.';
const COMMAND_NAMES_TEXT = [...SESSION_COMMANDS, ...STANDALONE_COMMANDS].join(', ');

export type ParsedCommandLine =
  | SessionArguments
  | { readonly help: SessionCommandName | StandaloneCommandName | undefined }
  | 'version';

/** @throws UsageError */
export function parseCommandLine(argv: readonly string[]): ParsedCommandLine {
  const { values, positionals } = parseOptions(argv, SESSION_COMMANDS, { more: GLOBAL_OPTIONS });
  if (values.version) return 'version';
  const [command, file, ...references] = positionals;
  if (values.help || command === 'help')
    return { help: [command, file].find((word) => isSessionCommand(word) || isStandaloneCommand(word)) };
  if (command === undefined)
    throw new UsageError(`Missing command. The commands are ${COMMAND_NAMES_TEXT}. ${SEE_HELP_HINT}`);
  if (isStandaloneCommand(command))
    throw new UsageError(`${command} comes first: context-condenser ${command} [options].`);
  if (!isSessionCommand(command))
    throw new UsageError(`Unknown command "${command}". The commands are ${COMMAND_NAMES_TEXT}. ${SEE_HELP_HINT}`);
  if (file === undefined) throw new UsageError(`Missing file: context-condenser ${command} <file>. ${SEE_HELP_HINT}`);
  if (references.length > 0 && command !== 'expand') {
    throw new UsageError(`${command} takes one file; "${references.join(' ')}" is one too many.`);
  }
  checkCommandOptions(command, values, SESSION_COMMANDS);
  const { history } = values;
  if (history !== 'active' && history !== 'all') {
    throw new UsageError(`--history must be active or all, not "${history}".`);
  }
  return {
    command,
    file,
    references,
    provider: readProviderOption(values),
    config: values.config,
    preset: values.preset,
    targetTokens: parsePositiveInteger('--target-tokens', values['target-tokens']),
    model: values.model,
    history,
    json: values.json,
    out: values.out,
    store: values.store,
    to: values.to,
    condensed: values.condensed,
    withoutContent: values['without-content'],
  };
}

const GLOBAL_OPTIONS = {
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'v', default: false },
} as const satisfies ParseArgsConfig['options'];

interface ParsedOptions<C extends CommandName> {
  readonly values: OptionValues<C> & { readonly help?: boolean; readonly version?: boolean };
  readonly positionals: readonly string[];
}

/** @throws UsageError for an unknown option, a missing value, or an unexpected argument */
export function parseOptions<C extends CommandName>(
  argv: readonly string[],
  commands: readonly C[],
  {
    positionals: allowPositionals = true,
    more = {},
  }: { readonly positionals?: boolean; readonly more?: ParseArgsConfig['options'] } = {},
): ParsedOptions<C> {
  try {
    const options = { ...selectOptions(commands), ...more };
    // The cast is safe, because the options and these types come from the same table.
    return parseArgs({ args: [...argv], options, allowPositionals, strict: true }) as unknown as ParsedOptions<C>;
  } catch (error) {
    throw createOptionError(error);
  }
}

/**
 * Rejects options that the command would ignore.
 * @param commandsToCheck all commands for which these options were parsed
 * @throws UsageError
 */
export function checkCommandOptions<Name extends SessionCommandName | StandaloneCommandName>(
  command: Name,
  values: Readonly<Record<string, unknown>>,
  commandsToCheck: readonly Name[],
): void {
  for (const [option, value] of Object.entries(values)) {
    const commandsWithOption = findCommandsWithOption(option);
    const commands = commandsToCheck.filter((each) => commandsWithOption?.includes(each) ?? true);
    const isGiven = value !== undefined && value !== false;
    if (isGiven && !commands.includes(command))
      throw new UsageError(
        `${command} has no --${option}; ${commands.join(', ')} ${commands.length > 1 ? 'have' : 'has'} it.`,
      );
  }
}

/**
 * Default: Lossless.
 * @throws UsageError if the options contradict each other, or the provider can't run here
 */
export function readProviderOption(
  {
    provider: givenProvider,
    preset,
    config,
  }: {
    readonly provider?: string | undefined;
    readonly preset?: string | undefined;
    readonly config?: string | undefined;
  },
  hasModel = false,
): string {
  if (preset !== undefined && config !== undefined)
    throw new UsageError("--preset and --config can't be combined: use one of them.");
  const provider = givenProvider ?? (preset === undefined ? 'lossless' : 'smart');
  if (preset !== undefined && provider !== 'smart')
    throw new UsageError(`--preset needs the provider smart, not "${provider}".`);
  if (provider === 'native' && !hasModel)
    throw new UsageError(
      'Summary needs a model, and this command calls none: use it in VS Code, or for an agent with run or gateway.',
    );
  return provider;
}

/** Keeps only the first sentence of Node's option errors. */
function createOptionError(error: unknown): UsageError {
  const [what = ''] = getErrorMessage(error).split(/\.\s/);
  const [, option, problem] = /^Option '(?:-\w, )?(--[\w-]+).*(is ambiguous|argument missing)/.exec(what) ?? [];
  if (option === undefined) return new UsageError(`${what}. --help lists the options.`);
  const dashAdvice = problem === 'is ambiguous' ? ` Write one that begins with "-" as ${option}=<value>.` : '';
  return new UsageError(`${option} needs a value.${dashAdvice}`);
}

export const isStandaloneCommand = (name: string | undefined): name is StandaloneCommandName =>
  (STANDALONE_COMMANDS as readonly (string | undefined)[]).includes(name);

const isSessionCommand = (name: string | undefined): name is SessionCommandName =>
  (SESSION_COMMANDS as readonly (string | undefined)[]).includes(name);

export const isHelpOption = (word: string | undefined): boolean => word === '--help' || word === '-h';

/** @throws UsageError if the option isn't a whole number of at least 1 */
export function parsePositiveInteger(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new UsageError(`${option} must be a whole number of at least 1, not "${text}".`);
  }
  return value;
}

/** @throws UsageError if the text isn't a server's URL */
export function parseAddress(option: string, text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new UsageError(`${option} must be an address that begins with https:// or http://, not "${text}".`);
}
