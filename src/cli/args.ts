import { parseArgs, type ParseArgsConfig } from 'node:util';
import { errorMessage } from '../core/errors';

export const COMMANDS = ['inspect', 'estimate', 'condense', 'expand', 'undo', 'export', 'report'] as const;
export type CommandName = (typeof COMMANDS)[number];

/** Commands that have no conversation's file. */
const OTHER_COMMANDS = ['run', 'gateway', 'account', 'judge', 'mcp'] as const;
export type OtherCommandName = (typeof OTHER_COMMANDS)[number];

/** The command line, parsed. */
export interface Arguments {
  readonly command: CommandName;
  readonly file: string;
  /** References to expand. */
  readonly references: readonly string[];
  readonly provider: string;
  readonly config: string | undefined;
  /** Id of a preset of the Smart provider. */
  readonly preset: string | undefined;
  readonly targetTokens: number | undefined;
  readonly model: string | undefined;
  readonly history: 'active' | 'all';
  readonly json: boolean;
  readonly out: string | undefined;
  readonly store: string | undefined;
  /** Where `export` goes. */
  readonly to: string | undefined;
  /** `export`: the condensed conversation instead of the original. */
  readonly condensed: boolean;
  /** `report`: figures only. */
  readonly withoutContent: boolean;
}

/** The command line can't be understood; the message says what was expected. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

export const HELP = `Usage: context-condenser <command> <file> [options]

Commands
  inspect   what a conversation contains: tokens by content type and tool, and anything invalid
  estimate  what condensing it would save and cost
  condense  condense it; the file itself is never changed
  expand    restore the original of a condensed conversation, or of single references: expand <file> [ref …]
  undo      undo the last condensation
  export    convert it to another form: Anthropic or OpenAI messages, Markdown, a prompt for another agent
  report    write an HTML page about its condensation, or a preview of one: sizes, steps, facts, and what was removed

Commands without a file
  run       start an agent behind a gateway that condenses what it sends: run [options] <agent> [its arguments …]
            agents: claude, cline, cn (Continue), codex, gemini, kilo, opencode, pi, qwen; run -- <command> … for any other
  gateway   the same gateway alone, until Ctrl+C; prints what to set
  account   what the sessions of all agents on this machine cost, and what they contained
  judge     on the sessions in folders, what each option would have kept of what was needed next: judge <folder> … [--preset <name>] [--json];
            with --fit <file> also your own weights for File-Aware, written as a preset if they are significantly better
  mcp       an MCP server on stdin and stdout: recalls and searches what was condensed away

Options
  --provider <id>       lossless (default), truncation, smart or strategy
  --config <what>       settings of the provider: JSON, the path of a JSON file, or the name of a built-in strategy
  --preset <name>       preset of the Smart provider, such as file-aware, or a preset's file (*.json);
                        what would call a model is truncated instead
  --target-tokens <n>   stop at this many tokens; none: as far as the provider goes
  --model <id>          count as this model's tokenizer does (default: o200k)
  --history <which>     active (default): what the agent would send now; all: also what it has compacted away
  --out <file>          write the result as Anthropic messages JSON: { "messages": […] }; export: in the chosen form; report: the page
  --json                one JSON object on stdout, everything else on stderr
  --store <folder>      where originals and the ledger are kept (default: context-condenser in the user's state folder)
  --to <form>           export: anthropic, openai, markdown or handover
  --condensed           export: as the last condensation left it
  --without-content     report: figures only, none of the conversation's text

Options of account
  --by <what>           agent (default), project, model, day or session
  --days <n>            only requests of the last n days, including today
  --out <file>          an HTML page with charts; with --json or --csv, that form
  <file> --with <what>  what one session would have cost with a provider or preset that calls no model
                        (--window <n> if its model's window is not known)
  --with <what>         the same for all sessions, or for the last n days
  --json, --csv         for other programs; --store as above

Options of run and gateway
  --window <n>          tokens of the model's window (default: by the agent's settings and the table of models)
  --threshold <n>       condense at this percentage of the window (default 75)
  --threshold-tokens <n>  condense at this many tokens, if that is less
  --upstream <r>=<url>  where a route leads: anthropic, openai, gemini (default: the agent's own setting)
  --port <n>            port on 127.0.0.1 (default: any that is free)
  --log <file>          what happened, without content
  --on-arrival <what>   lossless (default): new results leave out what the conversation already contains; off: they are sent whole
  --max-cost-per-conversation <usd>, --max-cost-per-day <usd>
                        spending limit in US dollars (default 0: no limit)
  --at-max-cost <what>  warn (default): say so at the end; stop: send no further requests
  --noise-on-arrival    new results of commands leave out progress bars, colors and repeated lines
  --large-result <n>    shorten a single new result at this percentage of the window (default 25; 0: never);
                        if the agent cannot recall it, only if it would not fit
  --off                 condense nothing
  --announce <folder>   announce it to windows of VS Code that watch this folder
  --address-file <file> gateway: keep its port and secret in this file, so that its address stays the same
  --spending <file>     file in which costs are counted, shared with other runs (default: spending.jsonl in the store)
  --hold                run: keep the terminal open at the end until Enter is pressed
  --provider, --config, --preset, --store as above

  --help, --version

Exit codes: 0 done, 1 nothing to gain, 2 bad input or usage, 3 failed, 130 cancelled.
`;

const SEE_HELP = 'See --help.';
const ALL_COMMANDS = [...COMMANDS, ...OTHER_COMMANDS].join(', ');

const OPTIONS = {
  provider: { type: 'string' },
  config: { type: 'string' },
  preset: { type: 'string' },
  'target-tokens': { type: 'string' },
  model: { type: 'string' },
  history: { type: 'string', default: 'active' },
  json: { type: 'boolean', default: false },
  out: { type: 'string' },
  store: { type: 'string' },
  to: { type: 'string' },
  condensed: { type: 'boolean', default: false },
  'without-content': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'v', default: false },
} as const satisfies ParseArgsConfig['options'];

/** Options that only some of the commands have; the others belong to all. */
const COMMANDS_WITH: Partial<Record<keyof typeof OPTIONS, readonly CommandName[]>> = {
  provider: ['estimate', 'condense', 'report'],
  config: ['estimate', 'condense', 'report'],
  preset: ['estimate', 'condense', 'report'],
  'target-tokens': ['estimate', 'condense', 'report'],
  json: ['inspect', 'estimate', 'condense', 'undo'],
  out: ['condense', 'expand', 'undo', 'export', 'report'],
  to: ['export'],
  condensed: ['export'],
  'without-content': ['report'],
};

export type ParsedLine = Arguments | 'help' | 'version';

/**
 * Parses the arguments behind the program's name.
 * @throws UsageError
 */
export function parseLine(argv: readonly string[]): ParsedLine {
  const { values, positionals } = parse(argv);
  if (values.help) return 'help';
  if (values.version) return 'version';
  const [command, file, ...references] = positionals;
  if (command === undefined) throw new UsageError(`Missing command. The commands are ${ALL_COMMANDS}. ${SEE_HELP}`);
  if (command === 'help') return 'help';
  if (isOtherCommand(command)) throw new UsageError(`${command} comes first: context-condenser ${command} [options].`);
  if (!isCommand(command))
    throw new UsageError(`Unknown command "${command}". The commands are ${ALL_COMMANDS}. ${SEE_HELP}`);
  if (file === undefined) throw new UsageError(`Missing file: context-condenser ${command} <file>. ${SEE_HELP}`);
  if (references.length > 0 && command !== 'expand') {
    throw new UsageError(`${command} takes one file; "${references.join(' ')}" is one too many.`);
  }
  checkOptionsOf(command, values);
  const { history } = values;
  if (history !== 'active' && history !== 'all') {
    throw new UsageError(`--history must be active or all, not "${history}".`);
  }
  return {
    command,
    file,
    references,
    provider: providerIn(values),
    config: values.config,
    preset: values.preset,
    targetTokens: positiveInteger('--target-tokens', values['target-tokens']),
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

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    throw optionError(error);
  }
}

/** An option that a command would pass over is a mistake: what was asked for with it would not happen. */
function checkOptionsOf(command: CommandName, values: Readonly<Record<string, unknown>>): void {
  for (const [option, commands] of Object.entries(COMMANDS_WITH)) {
    const isGiven = values[option] !== undefined && values[option] !== false;
    if (isGiven && !commands.includes(command))
      throw new UsageError(
        `${command} has no --${option}; ${commands.join(', ')} ${commands.length > 1 ? 'have' : 'has'} it.`,
      );
  }
}

/**
 * The provider that `--provider` or `--preset` names; Lossless where neither does.
 * @throws UsageError where they contradict each other, or it can't run here
 */
export function providerIn({
  provider: named,
  preset,
  config,
}: {
  readonly provider?: string | undefined;
  readonly preset?: string | undefined;
  readonly config?: string | undefined;
}): string {
  if (preset !== undefined && config !== undefined)
    throw new UsageError("--preset and --config can't be combined: use one of them.");
  const provider = named ?? (preset === undefined ? 'lossless' : 'smart');
  if (preset !== undefined && provider !== 'smart')
    throw new UsageError(`--preset needs the provider smart, not "${provider}".`);
  if (provider === 'native')
    throw new UsageError('Native needs a model, and the command line calls none: condense with it in VS Code.');
  return provider;
}

/** Node's words about an option that it can't parse, as ours: its first sentence, without hints on file names and dashes. */
export function optionError(error: unknown): UsageError {
  const [what = ''] = errorMessage(error).split(/\.\s/);
  const [, option] = /^Option '(?:-\w, )?(--[\w-]+).*(?:is ambiguous|argument missing)/.exec(what) ?? [];
  return new UsageError(
    option === undefined
      ? `${what}. --help lists the options.`
      : `${option} needs a value. Write one that begins with "-" as ${option}=-1.`,
  );
}

export const isOtherCommand = (name: string): name is OtherCommandName =>
  (OTHER_COMMANDS as readonly string[]).includes(name);

const isCommand = (name: string): name is CommandName => (COMMANDS as readonly string[]).includes(name);

/** A word that asks for help. */
export const isHelp = (word: string | undefined): boolean => word === '--help' || word === '-h';

/** @throws UsageError where an option is given and is no whole number of at least 1. */
export function positiveInteger(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new UsageError(`${option} must be a whole number of at least 1, not "${text}".`);
  }
  return value;
}

/** @throws UsageError where it is no address of a server. */
export function addressOf(option: string, text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new UsageError(`${option} must be an address that begins with https:// or http://, not "${text}".`);
}
