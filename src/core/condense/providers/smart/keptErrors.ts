import { isCommandOutput, type PlacedBlock } from '../../relevance/features';
import type { TextBlock } from '../../relevance/textBlocks';
import type { MessageCounter } from '../../../tokens/messageCounter';
import { findErrorLines } from '../../operations/errorLines';

export interface ErrorExcerpt {
  readonly text: string;
  readonly tokens: number;
}

/** The error lines that stay if a block is removed. */
export type ErrorsByBlock = ReadonlyMap<TextBlock, ErrorExcerpt>;

const MAX_ERROR_LINES = 6;
/**
 * Share of the target that kept error lines may take; more would displace needed blocks
 * (docs/decisions/0028-fitted-relevance.md).
 */
const MAX_KEPT_ERROR_SHARE = 0.02;

/**
 * Keeps error lines of removed blocks, newest blocks first; repeated lines only at their last
 * place.
 * @param candidates in the order of the conversation
 */
export function chooseKeptErrors(
  candidates: readonly PlacedBlock[],
  isRemoved: (block: TextBlock) => boolean,
  counter: MessageCounter,
  targetTokens: number,
): ErrorsByBlock {
  const excerptByBlock = new Map<TextBlock, ErrorExcerpt>();
  const seenLines = new Set<string>();
  const removedBlocks: TextBlock[] = [];
  for (const { block, facts } of candidates) {
    if (!isCommandOutput(facts, block)) continue;
    if (isRemoved(block)) removedBlocks.push(block);
    else takeUnseenErrorLines(block.text, seenLines);
  }
  let tokensLeft = MAX_KEPT_ERROR_SHARE * targetTokens;
  for (const block of removedBlocks.toReversed()) {
    const lines = takeUnseenErrorLines(block.text, seenLines);
    if (lines.length === 0) continue;
    const text = lines.join('\n');
    const tokens = counter.countText(`${text}\n`);
    if (tokens > tokensLeft) break;
    tokensLeft -= tokens;
    excerptByBlock.set(block, { text, tokens });
  }
  return excerptByBlock;
}

/** Adds the returned lines to `seenLines`. */
function takeUnseenErrorLines(text: string, seenLines: Set<string>): string[] {
  const lines: string[] = [];
  for (const { start, end } of findErrorLines(text)) {
    const line = text.slice(start, end);
    if (seenLines.has(line.trim())) continue;
    seenLines.add(line.trim());
    if (lines.push(line) === MAX_ERROR_LINES) break;
  }
  return lines;
}
