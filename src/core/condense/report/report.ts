import { formatChange, formatCost, formatTime, formatTokens } from '../../format';
import { formatShare } from '../../percent';
import { coherenceLines } from '../coherence/coherence';
import type { OutcomeSummary } from '../condensation';
import { withConfigName, type StepReport } from '../types';

export interface ReportOptions {
  /** Tokens of the model for a number of o200k tokens. Default: the same. */
  readonly calibrate?: (tokens: number) => number;
  /** O200k tokens that the messages were to have at most. */
  readonly targetTokens?: number;
  /** The whole request before and after, in the model's tokens, where it is known: the total is told of it. */
  readonly request?: { readonly tokensBefore: number; readonly tokensAfter: number };
  /** US dollars that each later request costs less once the agent goes on with the result; absent where that is not known. */
  readonly savedPerRequest?: number;
}

/**
 * Reports a condensation in the form of NFR-U-002: one line for each step that changed anything, then total, cost and time;
 * behind them which facts of the conversation still stand in the view.
 * @param nameOf what people call a provider.
 */
export function formatReport(
  outcome: OutcomeSummary,
  nameOf: (provider: string) => string,
  { calibrate = (count) => count, targetTokens, request, savedPerRequest }: ReportOptions = {},
): string {
  const tokens = (count: number): string => formatTokens(calibrate(count));
  const change = (before: number, after: number): string =>
    `${tokens(before)} → ${tokens(after)} tokens (${formatChange(before, after)})`;
  const lines = [headline(outcome, nameOf), ...stepLines(outcome.steps, change)];
  if (outcome.kind === 'condensed') {
    const { tokensAfter } = outcome;
    lines.push(totalLine(outcome, request, tokens));
    if (targetTokens !== undefined && tokensAfter > targetTokens) {
      lines.push(targetLine(targetTokens, tokensAfter, calibrate));
    }
  }
  lines.push(
    ` - Cost: ${formatCost(outcome.cost)}${requestWords(outcome.calls)}`,
    ...(savedPerRequest === undefined
      ? []
      : [` - Once given back to its agent: ${formatCost(savedPerRequest)} less with each later request`]),
    ` - Time: ${formatTime(outcome.timeMs)}`,
  );
  if (outcome.kind === 'condensed') lines.push(...coherenceLines(outcome.coherence).map((line) => ` - ${line}`));
  // A strategy notes what failed for those who are shown no steps.
  const told = outcome.steps.flatMap((step) =>
    step.outcome.kind === 'failed' ? [`${step.name}: ${step.outcome.reason}`] : [],
  );
  const notes = outcome.notes.filter((note) => !told.includes(note));
  return [...lines, ...notes.map((note) => ` - Note: ${note}`)].join('\n');
}

function totalLine(
  messages: { readonly tokensBefore: number; readonly tokensAfter: number },
  request: ReportOptions['request'],
  tokens: (count: number) => string,
): string {
  const { tokensBefore, tokensAfter } = request ?? messages;
  const words = request ? formatTokens : tokens;
  const reduction = formatShare(tokensBefore - tokensAfter, tokensBefore);
  const ofWhat = request ? ' of the whole request' : '';
  return ` - Total reduction: ${reduction}${ofWhat} (${words(tokensBefore)} → ${words(tokensAfter)} tokens)`;
}

/** That a target was missed, and by how much. O200k tokens. */
export const targetLine = (target: number, tokensAfter: number, calibrate: (tokens: number) => number): string =>
  ` - Target: ${formatTokens(calibrate(target))} tokens, missed by ${formatTokens(calibrate(tokensAfter - target))}`;

/** How many requests were made of whose model: many subscriptions count requests and not tokens. */
function requestWords(calls: OutcomeSummary['calls'] = []): string {
  const models = new Map<string, number>();
  for (const { model, profile, chosen } of calls) {
    const own = chosen === 'conversation' ? ", the conversation's own" : '';
    const whose = profile === model ? `${model}${own}` : `${model} (${profile}${own})`;
    models.set(whose, (models.get(whose) ?? 0) + 1);
  }
  return [...models].map(([whose, count]) => `, ${count} ${count === 1 ? 'request' : 'requests'} to ${whose}`).join('');
}

/** A result's providers, and the presets or strategies that they ran with. */
export interface NamedResult {
  readonly provider: string;
  readonly alsoBy?: readonly string[];
  readonly configNames?: Readonly<Record<string, string>>;
}

/** The providers that took something out, in the order in which they did. */
export const namesOf = (
  { provider, alsoBy = [], configNames = {} }: NamedResult,
  nameOf: (provider: string) => string,
): string => [...alsoBy, provider].map((id) => withConfigName(nameOf(id), configNames[id])).join(', then ');

/** The same of condensations as a ledger has them, each name once. */
export const namesOfCondensations = (
  condensations: readonly { readonly provider: string; readonly configName?: string | undefined }[],
  nameOf: (provider: string) => string,
): string =>
  [...new Set(condensations.map(({ provider, configName }) => withConfigName(nameOf(provider), configName)))].join(
    ', then ',
  );

function headline(outcome: OutcomeSummary, nameOf: (provider: string) => string): string {
  const { provider, configNames = {} } = outcome;
  const configName = configNames[provider];
  const name = withConfigName(nameOf(provider), configName);
  switch (outcome.kind) {
    case 'condensed':
      return provider === 'strategy'
        ? `Context condensed using ${configName === undefined ? 'a' : `the ${configName}`} strategy:`
        : `Context condensed using ${namesOf(outcome, nameOf)}:`;
    case 'unchanged':
      return `Nothing was condensed. ${outcome.detail}`;
    case 'refused': {
      const [first] = outcome.violations;
      const where = first ? `message ${first.message}: ${first.detail} (${first.rule})` : '';
      return `Nothing was condensed: the result of ${name} would not be a valid conversation. ${where}`;
    }
    case 'cancelled':
      return 'Cancelled. Nothing was condensed.';
    case 'failed':
      return `Nothing was condensed: ${name} failed. ${outcome.error.message}`;
  }
}

/** The steps that did something or failed, one a line; the others, which can be many, together. */
function stepLines(steps: readonly StepReport[], change: (before: number, after: number) => string): string[] {
  const idle = steps.filter(({ edits, outcome }) => outcome.kind === 'done' && edits === 0).length;
  const skipped = new Map<string, string[]>();
  for (const { name, outcome } of steps)
    if (outcome.kind === 'skipped')
      skipped.set(outcome.reason, [...(skipped.get(outcome.reason) ?? []), nameOnce(name)]);
  const counted = (count: number): string => `${count} ${count === 1 ? 'step' : 'steps'}`;
  return [
    ...steps
      .filter(({ edits, outcome }) => outcome.kind === 'failed' || edits > 0)
      .map((step) => stepLine(step, change)),
    ...(idle > 0 ? [` - ${counted(idle)} found nothing`] : []),
    ...[...skipped].map(([reason, names]) => ` - ${counted(names.length)} skipped${namedIfFew(names)}: ${reason}`),
  ];
}

const MOST_NAMED = 3;
const namedIfFew = (names: readonly string[]): string => (names.length > MOST_NAMED ? '' : ` (${names.join(', ')})`);

const stepLine = (step: StepReport, change: (before: number, after: number) => string): string =>
  step.outcome.kind === 'failed'
    ? ` - ${step.name}: failed and was left out: ${step.outcome.reason}`
    : ` - ${nameOnce(step.name)}: ${change(step.tokensBefore, step.tokensAfter)}`;

/** A strategy puts the provider's name before its step's; a provider of one step has given it the same. */
const nameOnce = (name: string): string => name.replace(/^(.+): \1$/, '$1');
