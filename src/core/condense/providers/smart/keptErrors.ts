/** What stays of the output of commands and failed calls where its blocks go: the lines by which they told of an error. */
import { isOutput, type Placed } from '../../relevance/features';
import type { TextBlock } from '../../relevance/textBlocks';
import type { MessageCounter } from '../../../tokens/messageCounter';
import { errorLines } from '../../operations/errorLines';

/** The error lines of a block. */
export interface KeptErrors {
  readonly text: string;
  /** What they take in front of a marker. */
  readonly tokens: number;
}

/** By block the lines that stay if it goes. */
export type ErrorsOfBlocks = ReadonlyMap<TextBlock, KeptErrors>;

/** Of one block. */
const MAX_LINES = 6;
/** All of them together, as a share of what may stay: blocks that are needed go for what is more (docs/decisions/0028-fitted-relevance.md). */
const MAX_SHARE = 0.02;

/**
 * Of blocks that go the newest error lines; one that was said several times stays where it was said last. May be interrupted behind each
 * block.
 * @param candidates in the order of the conversation.
 * @param goes whether a block is about to go: what the others tell stands there in any case.
 * @param targetTokens tokens of the conversation that may stay.
 */
export function keptErrors(
  candidates: readonly Placed[],
  goes: (block: TextBlock) => boolean,
  counter: MessageCounter,
  targetTokens: number,
): ErrorsOfBlocks {
  const kept = new Map<TextBlock, KeptErrors>();
  const known = new Set<string>();
  const going: TextBlock[] = [];
  for (const { block, standing } of candidates) {
    if (!isOutput(standing, block)) continue;
    if (goes(block)) going.push(block);
    else newLines(block.text, known);
  }
  let room = MAX_SHARE * targetTokens;
  for (const block of going.toReversed()) {
    const lines = newLines(block.text, known);
    if (lines.length === 0) continue;
    const text = lines.join('\n');
    const tokens = counter.text(`${text}\n`);
    if (tokens > room) break;
    room -= tokens;
    kept.set(block, { text, tokens });
  }
  return kept;
}

/** The first error lines of a text that are not known; now they are. */
function newLines(text: string, known: Set<string>): string[] {
  const lines: string[] = [];
  for (const { start, end } of errorLines(text)) {
    const line = text.slice(start, end);
    if (known.has(line.trim())) continue;
    known.add(line.trim());
    if (lines.push(line) === MAX_LINES) break;
  }
  return lines;
}
