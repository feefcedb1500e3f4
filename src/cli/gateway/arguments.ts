import { DEFAULT_THRESHOLD_PERCENT, type CondensationThreshold } from '../../core/condense/trigger/thresholds';
import type { NewResultsMode, WhenNotEnough } from '../../live/types';
import type { ConversationLimits } from '../../live/conversationSpending';
import { checkCommandOptions, parseOptions, parsePositiveInteger, readProviderOption, UsageError } from '../args';
import { selectOptions, type OptionValues } from '../help';

export interface GatewayArguments {
  /** Command of the agent that `run` starts; undefined if another command follows `--`. */
  readonly agent: string | undefined;
  readonly rest: readonly string[];
  readonly provider: string | undefined;
  readonly config: string | undefined;
  readonly preset: string | undefined;
  /** The model's context window in tokens; if undefined, the model table decides. */
  readonly window: number | undefined;
  readonly threshold: CondensationThreshold;
  readonly store: string | undefined;
  readonly log: string | undefined;
  readonly port: number | undefined;
  /** Each is `route=URL`: a URL to use instead of the vendor's own. */
  readonly upstreams: readonly string[];
  /** Lets project settings redirect requests even if the agent distrusts the project. */
  readonly trustProject: boolean;
  /** Folder in which VS Code windows look for running gateways. */
  readonly announce: string | undefined;
  /** File that stores port and secret, so that `gateway` has the same URL at its next start. */
  readonly addressFile: string | undefined;
  /** If true, the terminal of `run` stays open until the user presses Enter. */
  readonly hold: boolean;
  /** Limits in US dollars for the cost of all requests, per conversation and per day. */
  readonly limits: ConversationLimits;
  /** Limits for summaries by the conversation's own model; if undefined, no model is called. */
  readonly summaries: SummaryCostLimits | undefined;
  /**
   * File in which costs are added up, shared with other gateways; undefined: a file in the store.
   */
  readonly spending: string | undefined;
  /** True if nothing is condensed, for comparison. */
  readonly off: boolean;
  /** What to do if Lossless misses the target; undefined: the default. */
  readonly whenNotEnough: WhenNotEnough | undefined;
  readonly newResults: NewResultsMode;
  /** Removes transient terminal output and colors from new results. */
  readonly newResultsNoise: boolean;
  /**
   * A single new result that fills this percentage of the window is shortened. 0: never; undefined:
   * the default.
   */
  readonly largeResultPercent: number | undefined;
}

/** Limits in US dollars. */
export interface SummaryCostLimits {
  /** Undefined means unlimited, even for unknown prices. */
  readonly perCondensation: number | undefined;
  /** 0 means unlimited. */
  readonly perDay: number;
}

/**
 * Default limit in US dollars per condensation, the same as VS Code's
 * (contextCondenser.maxCostPerCondensation).
 */
const NATIVE_COST_DOLLARS = 0.5;

const GATEWAY_COMMAND_NAMES = ['run', 'gateway'] as const;
type GatewayOptionValues = OptionValues<(typeof GATEWAY_COMMAND_NAMES)[number]>;

/** @throws UsageError */
export function parseGatewayLine(command: 'gateway' | 'run', argv: readonly string[]): GatewayArguments {
  const { ownArguments, agent, rest } =
    command === 'run' ? splitAgentArguments(argv) : { ownArguments: argv, agent: undefined, rest: [] };
  const { values } = parseOptions(ownArguments, GATEWAY_COMMAND_NAMES, { positionals: false });
  checkCommandOptions(command, values, GATEWAY_COMMAND_NAMES);
  const thresholdPercent = parsePositiveInteger('--threshold', values.threshold) ?? DEFAULT_THRESHOLD_PERCENT;
  if (thresholdPercent > 100) throw new UsageError('--threshold must be a percentage from 1 to 100.');
  const thresholdTokens = parsePositiveInteger('--threshold-tokens', values['threshold-tokens']);
  const targetPercent = parsePositiveInteger('--target', values.target);
  if (targetPercent !== undefined && (targetPercent < 10 || targetPercent > 90))
    throw new UsageError('--target must be a percentage from 10 to 90.');
  readProviderOption(values, true);
  const newResults = values['on-arrival'];
  if (newResults !== 'off' && newResults !== 'lossless') throw new UsageError('--on-arrival must be off or lossless.');
  const limits = readConversationLimits(values);
  if (values.off && (limits.perConversation > 0 || limits.perDay > 0)) {
    throw new UsageError(
      "With --off, requests are not read, so their cost can't be limited: leave out one of the two.",
    );
  }
  return {
    agent,
    rest,
    limits,
    summaries: readSummaryOptions(values),
    spending: values.spending,
    provider: values.provider,
    config: values.config,
    preset: values.preset,
    window: parsePositiveInteger('--window', values.window),
    threshold: {
      percent: thresholdPercent,
      ...(thresholdTokens !== undefined && { tokens: thresholdTokens }),
      ...(targetPercent !== undefined && { targetPercent }),
    },
    store: values.store,
    log: values.log,
    port: parsePort(values.port),
    upstreams: values.upstream,
    trustProject: values['trust-project'],
    announce: values.announce,
    addressFile: values['address-file'],
    hold: values.hold,
    off: values.off,
    whenNotEnough: parseWhenNotEnough(values['when-not-enough']),
    newResults,
    newResultsNoise: values['noise-on-arrival'],
    largeResultPercent: parseLargeResultPercent(values['large-result']),
  };
}

/** @throws UsageError */
function parseWhenNotEnough(text: string | undefined): WhenNotEnough | undefined {
  if (text === undefined || text === 'nothing') return text;
  if (text === 'file-aware') return 'fileAware';
  throw new UsageError('--when-not-enough must be file-aware or nothing.');
}

/** @throws UsageError */
function parseLargeResultPercent(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const percent = Number(text);
  if (text.trim() !== '' && percent >= 0 && percent <= 100) return percent;
  throw new UsageError('--large-result must be a percentage from 0 to 100; 0: never.');
}

/** @throws UsageError */
function parsePort(text: string | undefined): number | undefined {
  const port = parsePositiveInteger('--port', text);
  if (port !== undefined && port > 65_535)
    throw new UsageError(`--port must be a number from 1 to 65535, not "${port}".`);
  return port;
}

/** @throws UsageError */
function parseDollars(option: string, text: string, zeroMeaning: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new UsageError(`--${option} must be an amount in US dollars, such as 2.50; ${zeroMeaning}.`);
}

/**
 * A model writes summaries only if the user selected Summary or allowed the cost of summaries.
 * @throws UsageError
 */
function readSummaryOptions({
  provider,
  'max-cost-per-condensation': maxCost,
  'max-condensing-cost-per-day': dayLimit,
}: GatewayOptionValues): SummaryCostLimits | undefined {
  const perDay = parseDollars('max-condensing-cost-per-day', dayLimit, '0: no limit');
  if (maxCost === 'none') return { perCondensation: undefined, perDay };
  const zeroMeaning = 'none: no limit; 0: no model is asked';
  const perCondensation =
    maxCost === undefined
      ? provider === 'native'
        ? NATIVE_COST_DOLLARS
        : 0
      : parseDollars('max-cost-per-condensation', maxCost, zeroMeaning);
  if (perCondensation > 0) return { perCondensation, perDay };
  if (provider === 'native')
    throw new UsageError('Summary calls a model, so --max-cost-per-condensation must be more than 0.');
  return undefined;
}

/** @throws UsageError */
function readConversationLimits(values: GatewayOptionValues): ConversationLimits {
  const readDollars = (name: 'max-cost-per-conversation' | 'max-cost-per-day'): number =>
    parseDollars(name, values[name], '0: no limit');
  const actionAtMaxCost = values['at-max-cost'];
  if (actionAtMaxCost !== 'stop' && actionAtMaxCost !== 'warn')
    throw new UsageError('--at-max-cost must be warn or stop.');
  return {
    perConversation: readDollars('max-cost-per-conversation'),
    perDay: readDollars('max-cost-per-day'),
    stops: actionAtMaxCost === 'stop',
  };
}

/**
 * Our own options end at the first argument that isn't an option. The arguments from there on
 * belong to the agent.
 */
function splitAgentArguments(argv: readonly string[]): {
  ownArguments: string[];
  agent: string | undefined;
  rest: string[];
} {
  const options: Partial<ReturnType<typeof selectOptions>> = selectOptions(GATEWAY_COMMAND_NAMES);
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '--') return { ownArguments: argv.slice(0, index), agent: undefined, rest: argv.slice(index + 1) };
    if (!word.startsWith('-')) return { ownArguments: argv.slice(0, index), agent: word, rest: argv.slice(index + 1) };
    if (options[word.slice(2)]?.type === 'string') index++;
  }
  return { ownArguments: [...argv], agent: undefined, rest: [] };
}
