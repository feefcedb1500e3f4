/** Measures File-Aware at the sizes that other tools' rules reach. */
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import type { ApiMessage } from '../../src/core/messages/types';
import type { BenchConversation } from './corpus';
import { makeCandidate, condense, freshCounter } from './measure';
import { headTail, maskResults, slidingWindow } from './policies';
import { measureRetention, type CondensingPolicy, type RetentionReport } from './retention';

/** Other tools' rules, reimplemented from their descriptions. */
const PEER_RULES: Readonly<Record<string, CondensingPolicy>> = {
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
  readonly peer: RetentionReport;
  /**
   * Result of File-Aware with the first target in tokens that removes at least as much as the rule
   * in total.
   */
  readonly absolute: SizedResult | undefined;
  /**
   * Result with the first target that does the same and is a share of each conversation, in whole
   * percent.
   */
  readonly share: SizedResult | undefined;
  /**
   * Result of File-Aware if each conversation's target is the size that the rule reaches for it.
   */
  readonly matched: RetentionReport;
}

export interface SizedResult {
  readonly target: number;
  readonly retention: RetentionReport;
}

/** Targets that the page shows. */
const SHOWN_TARGETS = [60_000, 40_000, 30_000, 25_000, 20_000, 15_000, 12_500, 10_000];
const SHARES = [0.8, 0.7, 0.6, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25];
/** Targets to try, mildest first. */
const FINE_TARGETS = Array.from({ length: 111 }, (_, at) => 60_000 - 500 * at);
const FINE_SHARES = Array.from({ length: 86 }, (_, at) => (95 - at) / 100);

export interface SizedBench {
  readonly rows: readonly SizedRow[];
  readonly curve: readonly SizedResult[];
}

/** Compares File-Aware without a model with other tools' rules. */
export async function benchSizes(conversations: readonly BenchConversation[]): Promise<SizedBench> {
  const counter = freshCounter();
  const size = counter.countMessages.bind(counter);
  const allMessages = conversations.map(({ messages }) => messages);
  const measure = (policy: CondensingPolicy): Promise<RetentionReport> =>
    measureRetention(allMessages, policy, { size });
  const makeFileAwarePolicy = (
    target: (prefix: readonly ApiMessage[]) => Promise<number> | number,
  ): CondensingPolicy => {
    return async (prefix) => {
      const fileAware = makeCandidate('file-aware', createSmartProvider(), 'file-aware');
      const { edits } = await condense(prefix, fileAware, counter, { targetTokens: await target(prefix) });
      return applyEdits(prefix, edits);
    };
  };
  const reportByTarget = new Map<number, Promise<RetentionReport>>();
  /** @param target a number of tokens, or a share below 1. */
  const measureAtTarget = async (target: number): Promise<SizedResult> => {
    const getTargetTokens = (prefix: readonly ApiMessage[]): number =>
      target < 1 ? Math.round(target * size(prefix)) : target;
    const reportPromise = reportByTarget.get(target) ?? measure(makeFileAwarePolicy(getTargetTokens));
    reportByTarget.set(target, reportPromise);
    return { target, retention: await reportPromise };
  };
  const rows: SizedRow[] = [];
  for (const [rule, policy] of Object.entries(PEER_RULES)) {
    const peerReport = await measure(policy);
    const removesEnough = ({ retention }: SizedResult): boolean => retention.removed.share >= peerReport.removed.share;
    rows.push({
      rule,
      peer: peerReport,
      absolute: await findMildestTarget(FINE_TARGETS, measureAtTarget, removesEnough),
      share: await findMildestTarget(FINE_SHARES, measureAtTarget, removesEnough),
      matched: await measure(makeFileAwarePolicy(async (prefix) => size((await policy(prefix)).messages))),
    });
  }
  const curve: SizedResult[] = [];
  for (const target of [...SHOWN_TARGETS, ...SHARES]) curve.push(await measureAtTarget(target));
  return { rows, curve };
}

/** Finds the first target that removes enough. Bisection works, since later targets remove more. */
async function findMildestTarget(
  targets: readonly number[],
  sized: (target: number) => Promise<SizedResult>,
  reaches: (found: SizedResult) => boolean,
): Promise<SizedResult | undefined> {
  let [low, high] = [0, targets.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reaches(await sized(targets[middle] ?? 0))) high = middle;
    else low = middle + 1;
  }
  const mildestTarget = targets[low];
  return mildestTarget === undefined ? undefined : sized(mildestTarget);
}
