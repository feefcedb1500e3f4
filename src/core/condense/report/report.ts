import { formatPercentChange, formatCost, formatDurationMs, formatTokens } from '../../format';
import { formatShare } from '../../percent';
import { describeCoherence } from '../coherence/coherence';
import type { OutcomeSummary } from '../condensation';
import { formatProviderName, type StepReport } from '../types';

export interface ReportOptions {
  /** Converts o200k tokens to the model's tokens. Default: unchanged. */
  readonly calibrate?: (tokens: number) => number;
  /** In o200k tokens. */
  readonly targetTokens?: number;
  /** Size of the whole request in the model's tokens; if known, the total refers to it. */
  readonly request?: { readonly tokensBefore: number; readonly tokensAfter: number };
  /** In US dollars; absent if unknown. */
  readonly savedPerRequest?: number;
}

/** @param getName returns a provider's display name */
export function formatOutcomeReport(
  outcome: OutcomeSummary,
  getName: (provider: string) => string,
  { calibrate = (count) => count, targetTokens, request, savedPerRequest }: ReportOptions = {},
): string {
  const formatCalibrated = (count: number): string => formatTokens(calibrate(count));
  const formatChange = (before: number, after: number): string =>
    `${formatCalibrated(before)} → ${formatCalibrated(after)} tokens (${formatPercentChange(before, after)})`;
  const lines = [formatHeadline(outcome, getName), ...formatStepLines(outcome.steps, formatChange)];
  if (outcome.kind === 'condensed') {
    const { tokensAfter } = outcome;
    lines.push(formatTotalChange(outcome, request, formatCalibrated));
    if (targetTokens !== undefined && tokensAfter > targetTokens) {
      lines.push(formatMissedTarget(targetTokens, tokensAfter, calibrate));
    }
  }
  lines.push(
    ` - Cost: ${formatCost(outcome.cost)}${describeModelRequests(outcome.calls)}`,
    ...(savedPerRequest === undefined
      ? []
      : [` - Once given back to its agent: ${formatCost(savedPerRequest)} less with each later request`]),
    ` - Time: ${formatDurationMs(outcome.timeMs)}`,
  );
  if (outcome.kind === 'condensed') lines.push(...describeCoherence(outcome.coherence).map((line) => ` - ${line}`));
  // For users who see no steps, the notes repeat these failures.
  const failureNotes = outcome.steps.flatMap((step) =>
    step.outcome.kind === 'failed' ? [`${step.name}: ${step.outcome.reason}`] : [],
  );
  const notes = outcome.notes.filter((note) => !failureNotes.includes(note));
  return [...lines, ...notes.map((note) => ` - Note: ${note}`)].join('\n');
}

function formatTotalChange(
  messages: { readonly tokensBefore: number; readonly tokensAfter: number },
  request: ReportOptions['request'],
  formatCalibrated: (count: number) => string,
): string {
  const { tokensBefore, tokensAfter } = request ?? messages;
  const formatCount = request ? formatTokens : formatCalibrated;
  const reduction = formatShare(tokensBefore - tokensAfter, tokensBefore);
  const requestSuffix = request ? ' of the whole request' : '';
  return ` - Total reduction: ${reduction}${requestSuffix} (${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens)`;
}

export const formatMissedTarget = (
  target: number,
  tokensAfter: number,
  calibrate: (tokens: number) => number,
): string =>
  ` - Target: ${formatTokens(calibrate(target))} tokens, missed by ${formatTokens(calibrate(tokensAfter - target))}`;

/** Many subscriptions count requests instead of tokens. */
function describeModelRequests(calls: OutcomeSummary['calls'] = []): string {
  const callsByModel = new Map<string, number>();
  for (const { model, profile, chosen } of calls) {
    const ownModelNote = chosen === 'conversation' ? ', the conversation’s own' : '';
    const modelText = profile === model ? `${model}${ownModelNote}` : `${model} (${profile}${ownModelNote})`;
    callsByModel.set(modelText, (callsByModel.get(modelText) ?? 0) + 1);
  }
  return [...callsByModel]
    .map(([whose, count]) => `, ${count} ${count === 1 ? 'request' : 'requests'} to ${whose}`)
    .join('');
}

export interface ResultWithProvider {
  readonly provider: string;
  readonly alsoBy?: readonly string[];
  readonly configNames?: Readonly<Record<string, string>>;
}

export const listProviderNames = (
  { provider, alsoBy: otherProviders = [], configNames = {} }: ResultWithProvider,
  getName: (provider: string) => string,
): string =>
  [...otherProviders, provider].map((id) => formatProviderName(getName(id), configNames[id])).join(', then ');

export const listCondensationNames = (
  condensations: readonly { readonly provider: string; readonly configName?: string | undefined }[],
  getName: (provider: string) => string,
): string =>
  [...new Set(condensations.map(({ provider, configName }) => formatProviderName(getName(provider), configName)))].join(
    ', then ',
  );

function formatHeadline(outcome: OutcomeSummary, getName: (provider: string) => string): string {
  const { provider, configNames = {} } = outcome;
  const configName = configNames[provider];
  const name = formatProviderName(getName(provider), configName);
  switch (outcome.kind) {
    case 'condensed':
      return provider === 'strategy'
        ? `Context condensed using ${configName === undefined ? 'a' : `the ${configName}`} strategy:`
        : `Context condensed using ${listProviderNames(outcome, getName)}:`;
    case 'unchanged':
      return `Nothing was condensed. ${outcome.detail}`;
    case 'refused': {
      const [first] = outcome.violations;
      const placeText = first ? `message ${first.message}: ${first.detail} (${first.rule})` : '';
      return `Nothing was condensed: the result of ${name} would not be a valid conversation. ${placeText}`;
    }
    case 'cancelled':
      return 'Canceled. Nothing was condensed.';
    case 'failed':
      return `Nothing was condensed: ${name} failed. ${outcome.error.message}`;
  }
}

function formatStepLines(
  steps: readonly StepReport[],
  formatChange: (before: number, after: number) => string,
): string[] {
  const idleSteps = steps.filter(({ edits, outcome }) => outcome.kind === 'done' && edits === 0).length;
  const namesBySkipReason = new Map<string, string[]>();
  for (const { name, outcome } of steps)
    if (outcome.kind === 'skipped')
      namesBySkipReason.set(outcome.reason, [
        ...(namesBySkipReason.get(outcome.reason) ?? []),
        removeRepeatedName(name),
      ]);
  const formatStepCount = (count: number): string => `${count} ${count === 1 ? 'step' : 'steps'}`;
  return [
    ...steps
      .filter(({ edits, outcome }) => outcome.kind === 'failed' || edits > 0)
      .map((step) => formatStepLine(step, formatChange)),
    ...(idleSteps > 0 ? [` - ${formatStepCount(idleSteps)} found nothing`] : []),
    ...[...namesBySkipReason].map(
      ([reason, names]) => ` - ${formatStepCount(names.length)} skipped${formatNamesIfFew(names)}: ${reason}`,
    ),
  ];
}

const MAX_LISTED_NAMES = 3;
const formatNamesIfFew = (names: readonly string[]): string =>
  names.length > MAX_LISTED_NAMES ? '' : ` (${names.join(', ')})`;

const formatStepLine = (step: StepReport, formatChange: (before: number, after: number) => string): string =>
  step.outcome.kind === 'failed'
    ? ` - ${step.name}: failed and was left out: ${step.outcome.reason}`
    : ` - ${removeRepeatedName(step.name)}: ${formatChange(step.tokensBefore, step.tokensAfter)}`;

/**
 * A strategy puts the provider's name before the step's; a provider with one step gives both the
 * same name.
 */
const removeRepeatedName = (name: string): string => name.replace(/^(.+): \1$/, '$1');
