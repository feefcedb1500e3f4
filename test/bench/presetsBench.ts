/** What each preset takes out, keeps, needs and costs; and File-Aware at the sizes that other tools' rules reach. */
import { applyEdits } from '../../src/core/condense/edits';
import { BUILT_IN_PRESETS, FILE_AWARE, type Preset } from '../../src/core/condense/presets';
import { smartProvider } from '../../src/core/condense/providers/smart';
import { selectSummarizer } from '../../src/core/condense/summary/selectSummarizer';
import { testSummarizer, type TestSummarizer } from '../../src/core/condense/summary/testing';
import { outputSamples, type Measure } from '../../src/core/condense/measures';
import type { CondensationOptions, ModelCall, ProviderResult } from '../../src/core/condense/types';
import { contentsOf } from '../../src/core/messages/content';
import { isMachineMessage, personText } from '../../src/core/messages/personText';
import { isSummaryMessage } from '../../src/core/messages/task';
import type { ApiMessage } from '../../src/core/messages/types';
import type { BenchConversation } from './corpus';
import { freshCounter } from './measure';
import { headTail, maskResults, slidingWindow } from './policies';
import { measureRecall, type Policy, type RecallReport } from './recall';
import { scriptedReply } from './scriptedReplies';

export interface PresetRow extends RecallReport {
  readonly preset: string;
  /** Share of the messages of people of which every word stands in the view, by itself or behind a summary. */
  readonly userMessages: number;
  /** Milliseconds of processor time in the middle, the tokens being counted: other work on the machine doesn't count. */
  readonly cpuMs: number;
  readonly calls: number;
  /** US dollars of all runs. */
  readonly estimatedCost: number;
  readonly cost: number;
  /** Runs that called a model. */
  readonly paidRuns: number;
  /** Share of the paid runs whose estimate lay within 20 % of the cost; NaN where none was paid. */
  readonly closeEstimates: number;
}

export async function benchPresets(conversations: readonly BenchConversation[]): Promise<PresetRow[]> {
  const rows: PresetRow[] = [];
  for (const preset of BUILT_IN_PRESETS) rows.push(await benchPreset(preset, conversations));
  return rows;
}

async function benchPreset(preset: Preset, conversations: readonly BenchConversation[]): Promise<PresetRow> {
  const counter = freshCounter();
  const told = { kept: 0, all: 0 };
  const times: number[] = [];
  const paid: { estimated: number; cost: number }[] = [];
  let calls = 0;
  const seen: ModelCall[] = [];
  const policy: Policy = async (prefix) => {
    counter.messages(prefix);
    const summarizer = testSummarizer((request) => Promise.resolve(scriptedReply(request)));
    const started = process.cpuUsage();
    const { edits, ...result } = await run(preset, prefix, {}, counter, { summarizer, seen });
    seen.push(...(result.calls ?? []));
    const { user, system } = process.cpuUsage(started);
    times.push((user + system) / 1_000);
    calls += summarizer.requests.length;
    if (summarizer.requests.length > 0) paid.push({ estimated: result.estimatedCost ?? 0, cost: result.cost ?? 0 });
    const { messages: view, origins } = applyEdits(prefix, edits);
    const words = wordsOfPeople(view);
    const summaries = view.filter(isSummaryMessage).flatMap((message) => contentsOf(message).map(({ text }) => text));
    for (const text of wordsOfPeople(prefix)) {
      told.all++;
      if (words.has(text) || summaries.some((summary) => summary.includes(text))) told.kept++;
    }
    return { view, edits, origins };
  };
  const recall = await measureRecall(
    conversations.map(({ messages }) => messages),
    policy,
    { size: counter.messages.bind(counter) },
  );
  const close = paid.filter(({ estimated, cost }) => Math.abs(estimated - cost) <= 0.2 * cost);
  return {
    ...recall,
    preset: preset.name,
    userMessages: told.kept / told.all,
    cpuMs: times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN,
    calls,
    estimatedCost: paid.reduce((sum, { estimated }) => sum + estimated, 0),
    cost: paid.reduce((sum, { cost }) => sum + cost, 0),
    paidRuns: paid.length,
    closeEstimates: close.length / paid.length,
  };
}

function run(
  { config }: Preset,
  messages: readonly ApiMessage[],
  options: CondensationOptions,
  counter: ReturnType<typeof freshCounter>,
  model?: { readonly summarizer: TestSummarizer; readonly seen: readonly ModelCall[] },
): Promise<ProviderResult> {
  const provider = smartProvider(
    model
      ? {
          select: () => selectSummarizer({ condensing: model.summarizer }),
          // What earlier runs took calibrates the estimate, as it does for a user.
          samples: (of) => outputSamples([measureOfCalls(model.seen)], of.model),
        }
      : {},
  );
  const checked = provider.validateConfig(config);
  if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
  return provider.condense({ messages, edits: [], counter }, checked.config, options);
}

const measureOfCalls = (calls: readonly ModelCall[]): Measure => ({
  at: '',
  provider: 'smart',
  outcome: 'condensed',
  fallback: false,
  tokensBefore: 0,
  tokensAfter: 0,
  timeMs: 0,
  calls,
});

/** What people wrote, message by message. */
const wordsOfPeople = (messages: readonly ApiMessage[]): Set<string> =>
  new Set(
    messages
      .filter((message) => message.role === 'user' && !isMachineMessage(message))
      .flatMap(contentsOf)
      .flatMap(({ type, text }) => (type === 'messageText' ? [personText(text)] : []))
      .filter((text) => text !== ''),
  );

/** Rules of other tools, written anew from their descriptions. */
export const PEER_RULES: Readonly<Record<string, Policy>> = {
  'mask all results but the newest 40': maskResults(40),
  'mask all results but the newest 20': maskResults(20),
  'mask all results but the newest 10': maskResults(10),
  'clear all results but the newest 3': maskResults(3),
  'results keep head and tail, 8,000 characters': headTail(8_000),
  'the newest half of the messages': slidingWindow(0.5),
  'the newest 30 % of the messages': slidingWindow(0.3),
};

export interface SizedRow {
  readonly rule: string;
  readonly peer: RecallReport;
  /** File-Aware at the first target that takes out at least as much over all conversations. */
  readonly absolute: Sized | undefined;
  /** The same with a target that is a share of each conversation, in whole percents. */
  readonly share: Sized | undefined;
  /** File-Aware with each conversation's target at what the rule leaves of it. */
  readonly matched: RecallReport;
}

export interface Sized {
  /** Tokens, or a share. */
  readonly target: number;
  readonly recall: RecallReport;
}

/** What the page shows. */
const TARGETS = [60_000, 40_000, 30_000, 25_000, 20_000, 15_000, 12_500, 10_000];
const SHARES = [0.8, 0.7, 0.6, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25];
/** What is tried to reach a rule: from the mildest down. */
const FINE_TARGETS = Array.from({ length: 111 }, (_, at) => 60_000 - 500 * at);
const FINE_SHARES = Array.from({ length: 86 }, (_, at) => (95 - at) / 100);

export interface SizedBench {
  readonly rows: readonly SizedRow[];
  readonly curve: readonly Sized[];
}

/** File-Aware, without any model, against the rules of other tools. */
export async function benchSizes(conversations: readonly BenchConversation[]): Promise<SizedBench> {
  const counter = freshCounter();
  const size = counter.messages.bind(counter);
  const all = conversations.map(({ messages }) => messages);
  const measure = (policy: Policy): Promise<RecallReport> => measureRecall(all, policy, { size });
  const fileAware = (target: (prefix: readonly ApiMessage[]) => Promise<number> | number): Policy => {
    return async (prefix) => {
      const { edits } = await run(FILE_AWARE, prefix, { targetTokens: await target(prefix) }, counter);
      const { messages: view, origins } = applyEdits(prefix, edits);
      return { view, edits, origins };
    };
  };
  const known = new Map<number, Promise<RecallReport>>();
  /** @param target tokens, or a share. */
  const sized = async (target: number): Promise<Sized> => {
    const goal = (prefix: readonly ApiMessage[]): number => (target < 1 ? Math.round(target * size(prefix)) : target);
    const measuring = known.get(target) ?? measure(fileAware(goal));
    known.set(target, measuring);
    return { target, recall: await measuring };
  };
  const rows: SizedRow[] = [];
  for (const [rule, policy] of Object.entries(PEER_RULES)) {
    const peer = await measure(policy);
    const reaches = ({ recall }: Sized): boolean => recall.removed.share >= peer.removed.share;
    rows.push({
      rule,
      peer,
      absolute: await mildest(FINE_TARGETS, sized, reaches),
      share: await mildest(FINE_SHARES, sized, reaches),
      matched: await measure(fileAware(async (prefix) => size((await policy(prefix)).view))),
    });
  }
  const curve: Sized[] = [];
  for (const target of [...TARGETS, ...SHARES]) curve.push(await sized(target));
  return { rows, curve };
}

/** The first of targets, the mildest first, that takes out enough: each takes out at least what the one before does. */
async function mildest(
  targets: readonly number[],
  sized: (target: number) => Promise<Sized>,
  reaches: (found: Sized) => boolean,
): Promise<Sized | undefined> {
  let [low, high] = [0, targets.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reaches(await sized(targets[middle] ?? 0))) high = middle;
    else low = middle + 1;
  }
  const found = targets[low];
  return found === undefined ? undefined : sized(found);
}
