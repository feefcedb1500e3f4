/** Keeps the error lines of removed command output and failed calls. */
import { isOutput, type PlacedBlock } from '../../relevance/features';
import type { TextBlock } from '../../relevance/textBlocks';
import type { MessageCounter } from '../../../tokens/messageCounter';
import { findErrorLines } from '../../operations/errorLines';

export interface ErrorExcerpt {
  readonly text: string;
  /** Additional tokens before a marker. */
  readonly tokens: number;
}

/** By block, the lines that stay if it is removed. */
export type ErrorsByBlock = ReadonlyMap<TextBlock, ErrorExcerpt>;

/** Per block. */
const MAX_ERROR_LINES = 6;
/**
 * In total, as a share of the target; more would displace blocks that are needed
 * (docs/decisions/0028-fitted-relevance.md).
 */
const MAX_ERROR_SHARE = 0.02;

/**
 * Keeps the newest error lines of removed blocks; repeated ones stay only at their last place.
 * @param candidates in the order of the conversation
 * @param goes whether a block is about to be removed; the errors of other blocks stay anyway
 * @param computeTargetTokens tokens of the conversation that may stay
 */
export function chooseErrors(
  candidates: readonly PlacedBlock[],
  goes: (block: TextBlock) => boolean,
  counter: MessageCounter,
  targetTokens: number,
): ErrorsByBlock {
  const kept = new Map<TextBlock, ErrorExcerpt>();
  const known = new Set<string>();
  const going: TextBlock[] = [];
  for (const { block, standing } of candidates) {
    if (!isOutput(standing, block)) continue;
    if (goes(block)) going.push(block);
    else takeNewLines(block.text, known);
  }
  let room = MAX_ERROR_SHARE * targetTokens;
  for (const block of going.toReversed()) {
    const lines = takeNewLines(block.text, known);
    if (lines.length === 0) continue;
    const text = lines.join('\n');
    const tokens = counter.countText(`${text}\n`);
    if (tokens > room) break;
    room -= tokens;
    kept.set(block, { text, tokens });
  }
  return kept;
}

/** Returns the first error lines that are not in `known`, and adds them to it. */
function takeNewLines(text: string, known: Set<string>): string[] {
  const lines: string[] = [];
  for (const { start, end } of findErrorLines(text)) {
    const line = text.slice(start, end);
    if (known.has(line.trim())) continue;
    known.add(line.trim());
    if (lines.push(line) === MAX_ERROR_LINES) break;
  }
  return lines;
}
