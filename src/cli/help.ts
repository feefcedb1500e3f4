/**
 * The entry bundle loads nothing else, so this file repeats presets, strategies, agents and
 * options; help.test.ts checks that they match the originals.
 */
export const SESSION_COMMANDS = ['inspect', 'estimate', 'condense', 'expand', 'undo', 'export', 'report'] as const;
export type SessionCommandName = (typeof SESSION_COMMANDS)[number];

/** Commands without a conversation file. */
export const STANDALONE_COMMANDS = ['run', 'gateway', 'account', 'judge', 'mcp'] as const;
export type StandaloneCommandName = (typeof STANDALONE_COMMANDS)[number];

export type CommandName = SessionCommandName | StandaloneCommandName;

interface CommandHelpTexts {
  /** The part of the usage line after the program's name. */
  readonly usage: string;
  readonly description: string;
  readonly more?: string;
}

const COMMAND_HELP: Readonly<Record<CommandName, CommandHelpTexts>> = {
  inspect: {
    usage: 'inspect <file> [options]',
    description: 'what a conversation contains: tokens by content type and tool, and anything invalid',
  },
  estimate: {
    usage: 'estimate <file> [options]',
    description: 'what condensing it would save and cost; nothing is written',
  },
  condense: {
    usage: 'condense <file> [options]',
    description: 'condense it; the file itself is never changed',
    more: 'The result is kept in the store, where expand, undo and report find it; --out writes it to a file.',
  },
  expand: {
    usage: 'expand <file> [reference …] [options]',
    description: 'restore the original of a condensed conversation, or of single references',
  },
  undo: { usage: 'undo <file> [options]', description: 'undo the last condensation' },
  export: {
    usage: 'export <file> --to <form> [options]',
    description: 'convert it to another form: Anthropic or OpenAI messages, Markdown, a prompt for another agent',
  },
  report: {
    usage: 'report <file> --out <page.html> [options]',
    description: 'write an HTML page about its condensation, or a preview of one',
    more: 'The page has sizes, steps, facts, and what was removed. It is one file that loads nothing and needs no script.',
  },
  run: {
    usage: 'run [options] <agent> [its arguments …]',
    description: 'start an agent behind a gateway that condenses what it sends',
    more: 'Agents: claude, cline, cn (Continue), codex, copilot, gemini, kilo, opencode, pi, qwen. For any other program: run [options] -- <command> …',
  },
  gateway: { usage: 'gateway [options]', description: 'the same gateway alone, until Ctrl+C; prints what to set' },
  account: {
    usage: 'account [<file>] [options]',
    description: 'what the sessions of all agents on this machine cost, and what they contained',
    more: 'A file is only for --with, which then replays that one session.',
  },
  judge: {
    usage: 'judge <folder> … [options]',
    description: 'on the sessions in folders, what each option would have kept of what was needed next',
  },
  mcp: {
    usage: 'mcp [options]',
    description: 'an MCP server on stdin and stdout: recalls and searches what was condensed away',
  },
};

/** Characters of a line, and of the column before an option's description. */
const LINE_WIDTH = 110;
const OPTION_TEXT_COLUMN = 24;

const CONDENSING_COMMANDS = ['estimate', 'condense', 'report'] as const;
const GATEWAY_COMMAND_NAMES = ['run', 'gateway'] as const;
/** Commands with a selectable provider. */
const PROVIDER_COMMANDS = [...CONDENSING_COMMANDS, ...GATEWAY_COMMAND_NAMES, 'judge'] as const;

interface OptionHelp {
  /**
   * Name and, if any, value of the option: `--provider <id>`. An option without a value is a flag.
   */
  readonly option: `--${string}`;
  readonly description: string;
  readonly of: readonly CommandName[];
  readonly default?: string;
  /** True if the option can be given several times. */
  readonly isRepeatable?: true;
}

/** Options in display order. An option with different meanings has one entry per meaning. */
const OPTION_ROWS = [
  {
    option: '--provider <id>',
    description: 'lossless (default), truncation, smart or strategy',
    of: [...CONDENSING_COMMANDS, 'judge'],
  },
  {
    option: '--provider <id>',
    description:
      "lossless (default), truncation, smart, strategy or native, which has the agent's own model write a summary, at a cost",
    of: GATEWAY_COMMAND_NAMES,
  },
  {
    option: '--config <what>',
    description:
      "the provider's settings: JSON, the path of a JSON file, or the name of a built-in strategy: pipeline, adaptive-threshold, cost-aware, quality-first, progressive-enhancement",
    of: PROVIDER_COMMANDS,
  },
  {
    option: '--preset <name>',
    description:
      "preset of the Smart provider: conservative, balanced, aggressive, speed, quality, cost, multi-zone or file-aware; or a preset's file (*.json)",
    of: PROVIDER_COMMANDS,
  },
  {
    option: '--target-tokens <n>',
    description:
      'stop at this many tokens; without it, as far as the provider goes, and steps that work toward a target are skipped',
    of: CONDENSING_COMMANDS,
  },
  { option: '--to <form>', description: 'anthropic, openai, markdown or handover', of: ['export'] },
  { option: '--condensed', description: 'as the last condensation left it', of: ['export'] },
  { option: '--out <file>', description: 'the HTML page', of: ['report'] },
  { option: '--without-content', description: "figures only, none of the conversation's text", of: ['report'] },
  { option: '--out <file>', description: 'write the result to this file instead of stdout', of: ['export'] },
  {
    option: '--out <file>',
    description:
      'write the result as { "messages": […] }, which these commands read again ("export" makes a request of it)',
    of: ['condense', 'expand', 'undo'],
  },
  {
    option: '--model <id>',
    description: "count as this model's tokenizer does (default: o200k)",
    of: SESSION_COMMANDS,
  },
  {
    option: '--history <which>',
    description: 'active (default): what the agent would send now; all: also what it has compacted away',
    of: SESSION_COMMANDS,
    default: 'active',
  },
  {
    option: '--by <what>',
    description: 'agent (default), project, model, block (five hours), day, week or session',
    of: ['account'],
    default: 'agent',
  },
  {
    option: '--line',
    description: 'one line for a status bar: today, this five-hour block, this session',
    of: ['account'],
  },
  {
    option: '--session <id>',
    description: 'with --line: the session, by id or path (default: the newest of this folder)',
    of: ['account'],
  },
  { option: '--days <n>', description: 'only requests of the last n days, including today', of: ['account'] },
  {
    option: '--with <what>',
    description:
      'what the sessions, or the one in the file, would have cost with a provider or preset that calls no model',
    of: ['account'],
  },
  {
    option: '--window <n>',
    description: "tokens of the model's context window, where it is not known: only with a file",
    of: ['account'],
  },
  { option: '--out <file>', description: 'an HTML page with charts; with --json or --csv, that form', of: ['account'] },
  { option: '--csv', description: 'one line for each row and day', of: ['account'] },
  {
    option: '--json',
    description: 'one JSON object on stdout, everything else on stderr',
    of: ['inspect', 'estimate', 'condense', 'undo', 'account', 'judge'],
  },
  {
    option: '--window <n>',
    description: "tokens of the model's context window (default: by the agent's settings and the table of models)",
    of: GATEWAY_COMMAND_NAMES,
  },
  {
    option: '--threshold <n>',
    description: 'condense at this percentage of the window (default: 75)',
    of: GATEWAY_COMMAND_NAMES,
  },
  {
    option: '--threshold-tokens <n>',
    description: 'condense at this many tokens, if that is less',
    of: GATEWAY_COMMAND_NAMES,
  },
  {
    option: '--target <n>',
    description:
      "condense until this percentage of the threshold's tokens is left (default: 67); the lower, the less often the vendor's prompt cache is broken",
    of: GATEWAY_COMMAND_NAMES,
  },
  {
    option: '--when-not-enough <what>',
    description:
      'what follows where Lossless leaves more than the target at the threshold: file-aware (default for agents that can recall what it removes) or nothing (default for others, and if --provider or --preset is given)',
    of: GATEWAY_COMMAND_NAMES,
  },
  {
    option: '--on-arrival <what>',
    description:
      'lossless (default): new results leave out what the conversation already contains; off: they are sent whole',
    of: GATEWAY_COMMAND_NAMES,
    default: 'lossless',
  },
  {
    option: '--noise-on-arrival',
    description: 'new results of commands leave out progress bars, colors and repeated lines',
    of: GATEWAY_COMMAND_NAMES,
  },
  {
    option: '--large-result <n>',
    description:
      'shorten a single new result at this percentage of the window (default: 25; 0: never); if the agent cannot recall it, only if it would not fit',
    of: GATEWAY_COMMAND_NAMES,
  },
  { option: '--off', description: 'condense nothing', of: GATEWAY_COMMAND_NAMES },
  {
    option: '--max-cost-per-conversation <usd>',
    description: 'spending limit in US dollars (default: 0, no limit)',
    of: GATEWAY_COMMAND_NAMES,
    default: '0',
  },
  { option: '--max-cost-per-day <usd>', description: 'the same for a day', of: GATEWAY_COMMAND_NAMES, default: '0' },
  {
    option: '--at-max-cost <what>',
    description: 'warn (default): say so at the end; stop: send no further requests',
    of: GATEWAY_COMMAND_NAMES,
    default: 'warn',
  },
  {
    option: '--max-cost-per-condensation <usd>',
    description:
      "let steps that need one ask the agent's own model, over its own address and sign-in, as long as one condensation costs no more; none: no limit (default: 0.50 with the provider native, otherwise 0: no model is asked)",
    of: GATEWAY_COMMAND_NAMES,
  },
  {
    option: '--max-condensing-cost-per-day <usd>',
    description: 'spending limit of all that in a day (default: 0, no limit)',
    of: GATEWAY_COMMAND_NAMES,
    default: '0',
  },
  {
    option: '--spending <file>',
    description: 'file in which costs are counted, shared with other runs (default: spending.jsonl in the store)',
    of: GATEWAY_COMMAND_NAMES,
  },
  {
    option: '--upstream <route>=<url>',
    description: "where a route leads: anthropic, openai, gemini (default: the agent's own setting)",
    of: GATEWAY_COMMAND_NAMES,
    isRepeatable: true,
  },
  {
    option: '--trust-project',
    description:
      "use the addresses in this project's settings, even if the agent has not been told to trust the folder",
    of: ['run'],
  },
  { option: '--port <n>', description: 'port on 127.0.0.1 (default: any that is free)', of: GATEWAY_COMMAND_NAMES },
  {
    option: '--address-file <file>',
    description: 'keep the port and the secret in this file, so that the address stays the same',
    of: ['gateway'],
  },
  { option: '--log <file>', description: 'what happened, without content', of: GATEWAY_COMMAND_NAMES },
  {
    option: '--announce <folder>',
    description: 'announce it to windows of VS Code that watch this folder',
    of: GATEWAY_COMMAND_NAMES,
  },
  {
    option: '--hold',
    description: 'keep the terminal open at the end until Enter is pressed',
    of: ['run'],
  },
  {
    option: '--store <folder>',
    description: "where originals and the ledger are kept (default: context-condenser in the user's state folder)",
    of: [...SESSION_COMMANDS, ...GATEWAY_COMMAND_NAMES, 'account'],
  },
  {
    option: '--store <folder>',
    description: "where originals and the ledger are kept (default: context-condenser in the user's state folder)",
    of: ['mcp'],
    isRepeatable: true,
  },
] as const satisfies readonly OptionHelp[];

type OptionRow = (typeof OPTION_ROWS)[number];
type ExtractOptionName<Written> = Written extends `--${infer Name} <${string}`
  ? Name
  : Written extends `--${infer Name}`
    ? Name
    : never;
type ExtractOptionValue<R> = R extends { readonly isRepeatable: true }
  ? readonly string[]
  : R extends { readonly option: `${string} <${string}` }
    ? R extends { readonly default: string }
      ? string
      : string | undefined
    : boolean;
type OptionRowOfCommand<C, R = OptionRow> = R extends { readonly of: readonly (infer Having)[] }
  ? C & Having extends never
    ? never
    : R
  : never;

/** By option, the type of its value after parsing. */
export type OptionValues<C extends CommandName> = {
  readonly [R in OptionRowOfCommand<C> as ExtractOptionName<R['option']>]: ExtractOptionValue<R>;
};

const getOptionName = ({ option }: OptionHelp): string => option.slice(2).split(' ')[0] ?? '';

/** Returns options in the form that Node's `parseArgs` takes. */
export function selectOptions(commands: readonly CommandName[]) {
  const options: readonly OptionHelp[] = OPTION_ROWS;
  return Object.fromEntries(
    options
      .filter(({ of }) => of.some((each) => commands.includes(each)))
      .map((row) => {
        const type = row.option.includes(' ') ? 'string' : 'boolean';
        const defaultValue = row.isRepeatable ? [] : (row.default ?? (type === 'boolean' ? false : undefined));
        const multiple = row.isRepeatable && { multiple: true };
        return [
          getOptionName(row),
          { type, ...multiple, ...(defaultValue !== undefined && { default: defaultValue }) } as const,
        ];
      }),
  );
}

/** Returns undefined if the option is unknown. */
export function findCommandsWithOption(name: string): readonly CommandName[] | undefined {
  const options: readonly OptionHelp[] = OPTION_ROWS;
  const optionsWithName = options.filter((row) => getOptionName(row) === name);
  return optionsWithName.length === 0 ? undefined : optionsWithName.flatMap(({ of }) => of);
}

export function formatHelp(command?: CommandName): string {
  if (command === undefined) return formatProgramHelp();
  const { usage, description, more } = COMMAND_HELP[command];
  const options = (OPTION_ROWS as readonly OptionHelp[]).filter(({ of }) => of.includes(command));
  return [
    `Usage: context-condenser ${usage}`,
    '',
    ...wrapText(`${description[0]?.toUpperCase()}${description.slice(1)}.${more === undefined ? '' : ` ${more}`}`, 0),
    '',
    'Options',
    ...options.flatMap((row) => formatHelpRow(row.option, row.description)),
    '',
    EXIT_CODES_TEXT,
    '',
  ].join('\n');
}

const EXIT_CODES_TEXT = 'Exit codes: 0 done, 1 nothing to gain, 2 bad input or usage, 3 failed, 130 cancelled.';

const formatCommandRows = (names: readonly CommandName[]): string[] =>
  names.flatMap((name) => formatHelpRow(name, COMMAND_HELP[name].description, 12));

const formatProgramHelp = (): string =>
  [
    'Usage: context-condenser <command> [options]',
    '',
    'For a conversation: <command> <file>',
    ...formatCommandRows(SESSION_COMMANDS),
    '',
    'Without a file',
    ...formatCommandRows(STANDALONE_COMMANDS),
    '',
    'Options of a command: context-condenser <command> --help',
    'Version: context-condenser --version',
    '',
    'For example',
    '  context-condenser condense session.jsonl --preset file-aware --target-tokens 50000',
    '  context-condenser report session.jsonl --out report.html',
    '  context-condenser run claude',
    '',
    EXIT_CODES_TEXT,
    '',
  ].join('\n');

/** Formats a row of the help. A name that is too long for its column gets its own line. */
function formatHelpRow(name: string, description: string, margin = OPTION_TEXT_COLUMN): string[] {
  const [first = '', ...rest] = wrapText(description, margin);
  const indentedName = `  ${name}`;
  return indentedName.length + 2 > margin
    ? [indentedName, first, ...rest]
    : [`${indentedName.padEnd(margin)}${first.slice(margin)}`, ...rest];
}

function wrapText(text: string, margin: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && margin + line.length + 1 + word.length > LINE_WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${' '.repeat(margin)}${each}`);
}
