import { listToolExchanges } from '../../messages/exchanges';
import { isSummaryMessage, findTaskMessage } from '../../messages/task';
import type { ApiMessage } from '../../messages/types';
import type { MessageRange } from '../../messages/messageRange';

/**
 * Inseparable messages form a unit. A unit starts at each message that is not between a tool call
 * and its result.
 */
export function findStartsOfInseparableMessages(messages: readonly ApiMessage[]): number[] {
  const indexesInExchanges = new Set<number>();
  for (const { callMessage, resultMessage } of listToolExchanges(messages)) {
    for (let index = callMessage + 1; index <= (resultMessage ?? callMessage); index++) indexesInExchanges.add(index);
  }
  return messages.flatMap((_, index) => (indexesInExchanges.has(index) ? [] : [index]));
}

export type SummaryRangeChoice =
  | { readonly kind: 'not-enough' | 'already-condensed' }
  | {
      readonly kind: 'range';
      readonly range: MessageRange;
      /** The messages of the range that follow its last earlier summary. */
      readonly newRange: MessageRange;
      readonly earlier: number | undefined;
    };

/**
 * @param isHidden messages that an earlier summary replaced
 * @param keepFirst units at the beginning, including the task's; at least 1
 * @param keepLast units at the end
 * @param isPinned messages to keep; the longest run between them is summarized
 */
export function chooseSummaryRange(
  messages: readonly ApiMessage[],
  keepFirst: number,
  keepLast: number,
  isHidden: (index: number) => boolean = () => false,
  isPinned: (index: number) => boolean = () => false,
): SummaryRangeChoice {
  const task = findTaskMessage(messages);
  const starts = findStartsOfInseparableMessages(messages).filter((index) => !isHidden(index) && index > task);
  const rangeStart = starts[keepFirst - 1];
  const rangeEnd = keepLast === 0 ? messages.length : starts.at(-keepLast);
  const keptIndexes = starts.slice(keepLast === 0 ? starts.length : -keepLast);
  if (task < 0 || rangeStart === undefined || rangeEnd === undefined) return { kind: 'not-enough' };
  const { start, end } = findLongestUnprotectedRange({ start: rangeStart, end: rangeEnd }, starts, isPinned);
  if (start >= end) return { kind: 'not-enough' };
  if (keptIndexes.some((index) => isSummaryMessage(messages[index] as ApiMessage)))
    return { kind: 'already-condensed' };
  let earlierSummary: number | undefined;
  let newMessageCount = 0;
  for (let index = start; index < end; index++) {
    if (isHidden(index)) continue;
    if (isSummaryMessage(messages[index] as ApiMessage)) {
      earlierSummary = index;
      newMessageCount = 0;
    } else {
      newMessageCount++;
    }
  }
  if (newMessageCount <= 1) return { kind: earlierSummary === undefined ? 'not-enough' : 'already-condensed' };
  return {
    kind: 'range',
    range: { start, end },
    newRange: { start: (earlierSummary ?? start - 1) + 1, end },
    earlier: earlierSummary,
  };
}

function findLongestUnprotectedRange(
  { start, end }: MessageRange,
  starts: readonly number[],
  isPinned: (index: number) => boolean,
): MessageRange {
  let longestRange = { start: end, end };
  let runStart = start;
  const closeRun = (to: number): void => {
    if (to - runStart > longestRange.end - longestRange.start) longestRange = { start: runStart, end: to };
  };
  const unitStarts = starts.filter((index) => index >= start && index < end);
  for (const [at, unit] of unitStarts.entries()) {
    const nextUnit = unitStarts[at + 1] ?? end;
    if (!hasIndexInRange(unit, nextUnit, isPinned)) continue;
    closeRun(unit);
    runStart = nextUnit;
  }
  closeRun(end);
  return longestRange;
}

function hasIndexInRange(from: number, to: number, testIndex: (index: number) => boolean): boolean {
  for (let index = from; index < to; index++) if (testIndex(index)) return true;
  return false;
}
