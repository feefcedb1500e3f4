import type { Slice } from '../../slice';
import { isRecallExchange, getContentPlace } from '../../messages/exchanges';
import type { MessageCounter } from '../../tokens/messageCounter';
import { isProtectedContent } from '../draft/exchanges';
import type { MechanicalStep } from '../draft/steps';
import type { CutRequest } from '../draft/cuts';
import { countLines } from '../../lineCount';
import { findErrorLines } from './errorLines';
import { findTruncatedSlice } from './truncate';

const LARGE_RESULTS_STEP_NAME = 'Results too large for the window';

/** Share of the limit to keep of a large result: half at its beginning and half at its end. */
const KEPT_RESULT_SHARE = 0.25;
/** In UTF-16 units. Only longer lines are cut inside. */
const MAX_LINE_CHARS = 2_000;

/**
 * Keeps the beginning, end and first error lines of new results above the limit.
 * @param limitTokens in o200k tokens
 */
export const createLargeResultsStep = (limitTokens: number): MechanicalStep => ({
  name: LARGE_RESULTS_STEP_NAME,
  run(draft) {
    for (const exchange of draft.exchanges) {
      // If a recalled text were cut, the agent would only recall it again.
      if (isRecallExchange(exchange)) continue;
      for (const content of exchange.results.toReversed()) {
        if (content.message < draft.sentCount || isProtectedContent(draft, content)) continue;
        const cuts = findCutsOfLargeText(content.text, limitTokens, draft.counter);
        const requests = cuts.map((request) => ({
          ...request,
          start: content.start + request.start,
          end: content.start + request.end,
        }));
        draft.cutText(LARGE_RESULTS_STEP_NAME, getContentPlace(content), requests, {
          contentType: content.type,
          operation: 'truncate',
          reason: 'the result is too large for the window',
          strict: false,
        });
      }
    }
  },
});

function findCutsOfLargeText(text: string, limitTokens: number, counter: MessageCounter): CutRequest[] {
  // A token has at least one byte. The length is checked first, because counting the bytes of a
  // huge text is slow.
  if (text.length <= limitTokens && Buffer.byteLength(text) <= limitTokens) return [];
  const tokens = counter.countText(text);
  if (tokens <= limitTokens) return [];
  const maxChars = Math.floor((text.length * KEPT_RESULT_SHARE * limitTokens) / tokens);
  const truncatedSlice = findTruncatedSlice(text, { maxChars, keep: 'both' });
  if (!truncatedSlice) return [];
  const removedMiddle = shrinkToWholeLines(text, truncatedSlice);
  const requests: CutRequest[] = [];
  for (const { start, end } of findSlicesBetween(
    removedMiddle,
    findErrorLines(text.slice(removedMiddle.start, removedMiddle.end)),
  )) {
    if (end <= start) continue;
    requests.push({ start, end, marker: describeRemovedSize(text.slice(start, end)) });
  }
  return requests;
}

function shrinkToWholeLines(text: string, { start, end }: Slice): Slice {
  const firstNewline = text.slice(start, start + MAX_LINE_CHARS).indexOf('\n');
  const searchStart = Math.max(start + 1, end - MAX_LINE_CHARS + 1);
  const lastNewline = text.slice(searchStart, end).lastIndexOf('\n');
  return {
    start: firstNewline >= 0 ? start + firstNewline + 1 : start,
    end: lastNewline >= 0 ? searchStart + lastNewline : end,
  };
}

function findSlicesBetween({ start, end }: Slice, lines: readonly Slice[]): Slice[] {
  const slices: Slice[] = [];
  let sliceStart = start;
  for (const line of lines) {
    slices.push({ start: sliceStart, end: start + line.start - 1 });
    sliceStart = start + line.end + 1;
  }
  return [...slices, { start: sliceStart, end }];
}

function describeRemovedSize(text: string): string {
  const lines = countLines(text);
  const size = lines > 1 ? `${lines} lines` : `${text.length} characters`;
  return `${size} of a result too large for the window; recall this ref with fromLine and toLine, or search it with words`;
}
