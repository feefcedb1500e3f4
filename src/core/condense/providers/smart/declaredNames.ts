/** Markers state the names that removed lines declare, so that an agent knows what to recall. */
import type { PlacedContent } from '../../../messages/exchanges';
import { findMarkers } from '../../../messages/markers';
import { getDeclaredName } from '../../outline/declarations';
import { isMarkdown, type OutlinedFileLine } from '../../outline/fileLines';
import type { PlacedBlock } from '../../relevance/features';
import type { TextBlock } from '../../relevance/textBlocks';
import type { MessageCounter } from '../../../tokens/messageCounter';

export interface DeclaredName {
  readonly offset: number;
  /** The name, with its line number if known. */
  readonly text: string;
  /** Number of tokens by which the name lengthens a marker. */
  readonly tokens: number;
}

export type DeclaredNameByBlock = ReadonlyMap<TextBlock, DeclaredName>;

interface CandidateBlock extends PlacedBlock {
  readonly content: PlacedContent;
}

/** A name has about six tokens, so it must represent at least this many removed tokens. */
const MIN_TOKENS_PER_NAME = 100;
const MAX_NAMES_PER_TEXT = 8;
const MAX_NAMES_CHARS = 140;

/** Spreads names evenly, as many as the removed tokens justify. */
export function chooseDeclaredNames(
  candidates: readonly CandidateBlock[],
  counter: MessageCounter,
): DeclaredNameByBlock {
  const nameByBlock = new Map<TextBlock, DeclaredName>();
  let tokensSinceName = 0;
  for (const [index, candidate] of candidates.entries()) {
    const { block, content, facts } = candidate;
    if (candidates[index - 1]?.content !== content) tokensSinceName = 0;
    tokensSinceName += block.tokens;
    const isFileBlock = facts.kind === 'read' || block.part !== undefined;
    if (!isFileBlock || tokensSinceName < Math.max(MIN_TOKENS_PER_NAME, facts.tokens / MAX_NAMES_PER_TEXT)) continue;
    const name = findNameInBlock(candidate);
    if (!name) continue;
    nameByBlock.set(block, { ...name, tokens: counter.countText(`, ${name.text}`) });
    tokensSinceName = 0;
  }
  return nameByBlock;
}

function findNameInBlock(candidate: CandidateBlock): Omit<DeclaredName, 'tokens'> | undefined {
  const { block, facts } = candidate;
  const isMarkdownFile = isMarkdown(block.part?.path ?? facts.path);
  for (const line of block.declared) {
    const name = getDeclaredName(line.text, isMarkdownFile);
    if (name === undefined) continue;
    const number = getLineNumber(line, candidate);
    const nameOffset = line.end - line.text.length + line.text.indexOf(name);
    return { offset: nameOffset, text: number === undefined ? name : `${name} ${number}` };
  }
  return undefined;
}

/** Undefined if the line states no number and follows a marker. */
function getLineNumber(
  { number, start }: OutlinedFileLine,
  { block: { part }, content }: CandidateBlock,
): number | undefined {
  if (number !== undefined || part?.firstLine === undefined) return number;
  const textBeforeLine = content.text.slice(part.start, start);
  return findMarkers(textBeforeLine).length > 0 ? undefined : part.firstLine + textBeforeLine.split('\n').length - 1;
}

export function formatDeclaredNames(names: readonly DeclaredName[]): string {
  const listedNames: string[] = [];
  let totalChars = 0;
  for (const { text } of names) {
    totalChars += text.length + 2;
    if (totalChars > MAX_NAMES_CHARS) break;
    listedNames.push(text);
  }
  if (listedNames.length === 0) return '';
  const omittedCount = names.length - listedNames.length;
  return `: ${listedNames.join(', ')}${omittedCount > 0 ? ` and ${omittedCount} more` : ''}`;
}
