/** Results that are too large for the window that they come into: what stays of them, before they are first sent. */
import type { Slice } from '../../slice';
import { isRecall, getPlace } from '../../messages/exchanges';
import type { MessageCounter } from '../../tokens/messageCounter';
import { protectedFrom } from '../draft/exchanges';
import type { MechanicalStep } from '../draft/steps';
import type { CutRequest } from '../draft/cuts';
import { countLines } from '../../lineCount';
import { errorLines } from './errorLines';
import { truncatedSlice } from './truncate';

const NAME = 'Results too large for the window';

/** Share of the limit that stays, one half of it at the beginning and one at the end. */
const KEPT_SHARE = 0.25;
/** A line that is longer than this many UTF-16 units is cut in two; else cuts are made between lines. */
const MAX_LINE = 2_000;

/**
 * Shortens results that were not sent before and have more tokens than the limit: their beginning, their end and their first
 * lines that tell of an error stay, the rest can be recalled.
 * @param limitTokens in o200k tokens.
 */
export const largeResults = (limitTokens: number): MechanicalStep => ({
  name: NAME,
  run(draft) {
    for (const exchange of draft.exchanges) {
      // Its size was asked for; cut again, it would be recalled for ever.
      if (isRecall(exchange)) continue;
      for (const content of exchange.results.toReversed()) {
        if (content.message < draft.sentBefore || protectedFrom(draft, content)) continue;
        const cuts = largeCuts(content.text, limitTokens, draft.counter);
        const requests = cuts.map((request) => ({
          ...request,
          start: content.start + request.start,
          end: content.start + request.end,
        }));
        draft.cut(NAME, getPlace(content), requests, {
          contentType: content.type,
          operation: 'truncate',
          reason: 'the result is too large for the window',
          strict: false,
        });
      }
    }
  },
});

/** The cuts that bring a text far below a limit of o200k tokens; none where it keeps the limit. */
function largeCuts(text: string, limitTokens: number, counter: MessageCounter): CutRequest[] {
  // No token has less than a byte, and no UTF-16 unit: of a huge text the bytes are not counted for that.
  if (text.length <= limitTokens && Buffer.byteLength(text) <= limitTokens) return [];
  const tokens = counter.text(text);
  if (tokens <= limitTokens) return [];
  const maxChars = Math.floor((text.length * KEPT_SHARE * limitTokens) / tokens);
  const slice = truncatedSlice(text, { maxChars, keep: 'both' });
  if (!slice) return [];
  const middle = betweenLines(text, slice);
  const requests: CutRequest[] = [];
  for (const { start, end } of gaps(middle, errorLines(text.slice(middle.start, middle.end)))) {
    if (end <= start) continue;
    requests.push({ start, end, marker: markerWords(text.slice(start, end)) });
  }
  return requests;
}

/** A slice made smaller so that it begins and ends with lines, where these are not endless. */
function betweenLines(text: string, { start, end }: Slice): Slice {
  const first = text.slice(start, start + MAX_LINE).indexOf('\n');
  const from = Math.max(start + 1, end - MAX_LINE + 1);
  const last = text.slice(from, end).lastIndexOf('\n');
  return { start: first >= 0 ? start + first + 1 : start, end: last >= 0 ? from + last : end };
}

/** The gaps around lines of a slice, each without the newlines at its ends. */
function gaps({ start, end }: Slice, lines: readonly Slice[]): Slice[] {
  const found: Slice[] = [];
  let at = start;
  for (const line of lines) {
    found.push({ start: at, end: start + line.start - 1 });
    at = start + line.end + 1;
  }
  return [...found, { start: at, end }];
}

function markerWords(text: string): string {
  const lines = countLines(text);
  const size = lines > 1 ? `${lines} lines` : `${text.length} characters`;
  return `${size} of a result too large for the window; recall this ref with fromLine and toLine, or search it with words`;
}
