/**
 * Measures for each provider and Smart preset which shares are removed and kept, the time, and the
 * cost.
 */
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { BUILT_IN_PRESETS } from '../../src/core/condense/providers/smart/presets';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { createNativeProvider } from '../../src/core/condense/providers/native';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { truncationProvider } from '../../src/core/condense/providers/truncation';
import { selectSummarizer } from '../../src/core/condense/summarizer';
import { createTestSummarizer } from '../../src/core/condense/summary/testing';
import { getOutputSamples, type RunMetrics } from '../../src/core/condense/metrics/metrics';
import type { ModelCall } from '../../src/core/condense/types';
import { listContents } from '../../src/core/messages/content';
import { isMachineMessage, extractPersonText } from '../../src/core/messages/personText';
import { isSummaryMessage } from '../../src/core/messages/task';
import type { ApiMessage } from '../../src/core/messages/types';
import type { BenchConversation } from './corpus';
import { makeCandidate, condense, freshCounter, median, type Candidate } from './measure';
import { measureRetention, type CondensingPolicy, type RetentionReport } from './retention';
import { scriptedReply } from './scriptedReplies';

export interface ChoiceRow extends RetentionReport {
  readonly choice: string;
  /** Share of users' messages that the view contains completely, including in summaries. */
  readonly userMessages: number;
  /** Mean CPU time in milliseconds, without counting tokens. */
  readonly cpuMs: number;
  readonly calls: number;
  readonly estimatedCost: number;
  readonly cost: number;
  readonly paidRuns: number;
  /** Share of paid runs whose estimate was within 20 % of the cost; NaN if there are none. */
  readonly closeEstimates: number;
}

/** The scripted model, and how a provider gets it. */
type BenchModel = Required<Pick<NonNullable<Parameters<typeof createSmartProvider>[0]>, 'select' | 'samples'>>;

interface ProviderChoice {
  readonly name: string;
  readonly make: (model: BenchModel) => Candidate;
}

const CHOICES: readonly ProviderChoice[] = [
  { name: 'Lossless', make: () => makeCandidate('lossless', losslessProvider, {}) },
  { name: 'Truncation', make: () => makeCandidate('truncation', truncationProvider, {}) },
  {
    name: 'Summary',
    make: (model) =>
      makeCandidate('native', createNativeProvider({ ...model, select: () => model.select(undefined) }), {}),
  },
  ...BUILT_IN_PRESETS.map(({ id, name, config }) => ({
    name: `Smart, ${name}`,
    make: (model: BenchModel) => makeCandidate(id, createSmartProvider(model), config),
  })),
];

/** Measures all providers without a target. */
export async function benchChoices(conversations: readonly BenchConversation[]): Promise<ChoiceRow[]> {
  const rows: ChoiceRow[] = [];
  for (const choice of CHOICES) rows.push(await benchChoice(choice, conversations));
  return rows;
}

async function benchChoice(
  { name, make }: ProviderChoice,
  conversations: readonly BenchConversation[],
): Promise<ChoiceRow> {
  const counter = freshCounter();
  const userTexts = { kept: 0, all: 0 };
  const times: number[] = [];
  const paidRuns: { estimated: number; cost: number }[] = [];
  let calls = 0;
  const seenCalls: ModelCall[] = [];
  const policy: CondensingPolicy = async (prefix) => {
    counter.countMessages(prefix);
    const summarizer = createTestSummarizer((request) => Promise.resolve(scriptedReply(request)));
    const choice = make({
      select: () => selectSummarizer({ condensing: summarizer }),
      // Earlier runs calibrate the estimate, as they do for a user.
      samples: (of) => getOutputSamples([makeMetricsOfCalls(seenCalls)], of.model),
    });
    const started = process.cpuUsage();
    const { edits, ...result } = await condense(prefix, choice, counter);
    seenCalls.push(...(result.calls ?? []));
    const { user, system } = process.cpuUsage(started);
    times.push((user + system) / 1_000);
    calls += summarizer.requests.length;
    if (summarizer.requests.length > 0) paidRuns.push({ estimated: result.estimatedCost ?? 0, cost: result.cost ?? 0 });
    const view = applyEdits(prefix, edits);
    const keptUserTexts = collectUserTexts(view.messages);
    const summaries = view.messages
      .filter(isSummaryMessage)
      .flatMap((message) => listContents(message).map(({ text }) => text));
    for (const text of collectUserTexts(prefix)) {
      userTexts.all++;
      if (keptUserTexts.has(text) || summaries.some((summary) => summary.includes(text))) userTexts.kept++;
    }
    return view;
  };
  const retention = await measureRetention(
    conversations.map(({ messages }) => messages),
    policy,
    { size: counter.countMessages.bind(counter) },
  );
  const closeEstimates = paidRuns.filter(({ estimated, cost }) => Math.abs(estimated - cost) <= 0.2 * cost);
  return {
    ...retention,
    choice: name,
    userMessages: userTexts.kept / userTexts.all,
    cpuMs: median(times),
    calls,
    estimatedCost: paidRuns.reduce((sum, { estimated }) => sum + estimated, 0),
    cost: paidRuns.reduce((sum, { cost }) => sum + cost, 0),
    paidRuns: paidRuns.length,
    closeEstimates: closeEstimates.length / paidRuns.length,
  };
}

const makeMetricsOfCalls = (calls: readonly ModelCall[]): RunMetrics => ({
  at: '',
  provider: 'smart',
  outcome: 'condensed',
  fallback: false,
  tokensBefore: 0,
  tokensAfter: 0,
  timeMs: 0,
  calls,
});

/** Returns the texts that users wrote. */
const collectUserTexts = (messages: readonly ApiMessage[]): Set<string> =>
  new Set(
    messages
      .filter((message) => message.role === 'user' && !isMachineMessage(message))
      .flatMap(listContents)
      .flatMap(({ type, text }) => (type === 'messageText' ? [extractPersonText(text)] : []))
      .filter((text) => text !== ''),
  );
