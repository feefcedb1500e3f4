import type { ReferenceId } from '../core/messages/markers';
import { getErrorMessage } from '../core/errors';
import { renderConversation } from '../core/messages/render';
import type { ApiMessage, Block, ImageBlock } from '../core/messages/types';
import { isImage, isRecord } from '../core/messages/blocks';
import { getBase64 } from '../core/messages/images';
import { describeImage } from '../core/condense/operations/oldImages';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { createPlaceDescriber } from './describePlace';
import {
  readReferencedOriginals,
  mapReferencesToContent,
  type ResolvedReference,
  type RecallableConversation,
} from './references';
import {
  createPatternMatcher,
  createWordMatcher,
  SearchPatternError,
  searchLinesWithinTime,
  type LineMatcher,
} from './searchText';
import type { RecalledImage, RecallQuery, RecallResult } from './types';

export type { RecallableConversation } from './references';

const DEFAULT_ANSWER_TOKENS = 2_000;
/** Below the 8,192 bytes from which VS Code writes a tool's answer to a file (seen in 1.139). */
const DEFAULT_ANSWER_BYTES = 7_500;
const MAX_ANSWER_TOKENS = 20_000;
export const MAX_REFERENCES = 100;
export const MAX_SEARCH_CHARS = 1_000;
const MAX_LISTED_REFERENCES = 20;
const REFERENCE_PATTERN = /\b[0-9a-f]{6,64}\b/g;

/** Each line takes at least one token. One more line says how to continue. */
const MAX_SHOWN_LINES = MAX_ANSWER_TOKENS + 1;

interface RecalledLine {
  /** Zero-based number of the line in the original. */
  readonly index: number;
  readonly text: string;
}

interface RecalledLines {
  readonly lineCount: number;
  readonly matchCount: number;
  readonly shownLines: readonly RecalledLine[];
}

interface ReferenceLines extends RecalledLines {
  readonly reference: ReferenceId;
  readonly placeText: string;
  readonly image?: ImageBlock;
}

/**
 * The first conversation that knows one of the references answers.
 * @returns text for the agent, even if nothing was found
 */
export async function recallOriginals(
  conversations: readonly RecallableConversation[],
  query: RecallQuery,
  counter: MessageCounter,
): Promise<RecallResult> {
  try {
    const searchResult = await searchOriginals(conversations, query);
    return 'nothing' in searchResult
      ? { kind: 'nothing', text: searchResult.nothing }
      : renderRecallAnswer(searchResult.found, query, counter);
  } catch (error) {
    const message = getErrorMessage(error);
    return {
      kind: 'nothing',
      text: error instanceof SearchPatternError ? message : `It could not be recalled: ${message}`,
    };
  }
}

type SearchResult = { readonly found: readonly ReferenceLines[] } | { readonly nothing: string };

async function searchOriginals(
  conversations: readonly RecallableConversation[],
  query: RecallQuery,
): Promise<SearchResult> {
  const references = query.references?.flatMap((text) => text.match(REFERENCE_PATTERN) ?? []) as
    | ReferenceId[]
    | undefined;
  if (query.references && query.references.length > 0) {
    if (!references || references.length === 0) {
      return { nothing: 'A reference is the hexadecimal number behind "ref" in a marker. None was given.' };
    }
    const requestedReferences = [...new Set(references)];
    if (requestedReferences.length > MAX_REFERENCES) {
      return { nothing: `${MAX_REFERENCES} references may be asked for at once. Ask for fewer.` };
    }
    return findLinesByReference(conversations, requestedReferences, query);
  }
  if (isQueryTooLong(query)) return { nothing: `At most ${MAX_SEARCH_CHARS} characters can be searched for.` };
  const matchLine = createLineMatcher(query);
  if (matchLine) return findLinesBySearch(conversations, matchLine);
  return { nothing: 'Say what to recall: references, words, or a pattern.' };
}

const isQueryTooLong = ({ pattern = '', words = '' }: RecallQuery): boolean =>
  pattern.length > MAX_SEARCH_CHARS || words.length > MAX_SEARCH_CHARS;

const formatFirstItems = (items: readonly string[], separator = ', '): string =>
  items.slice(0, MAX_LISTED_REFERENCES).join(separator) +
  (items.length > MAX_LISTED_REFERENCES ? `${separator}and ${items.length - MAX_LISTED_REFERENCES} more` : '');

/** Agents fill in optional fields with empty strings. */
function createLineMatcher({ pattern = '', words = '' }: RecallQuery): LineMatcher | undefined {
  if (pattern !== '') return createPatternMatcher(pattern);
  return words.trim() === '' ? undefined : createWordMatcher(words);
}

async function findLinesByReference(
  conversations: readonly RecallableConversation[],
  references: readonly ReferenceId[],
  query: RecallQuery,
): Promise<SearchResult> {
  if (isQueryTooLong(query)) return { nothing: `At most ${MAX_SEARCH_CHARS} characters can be searched for.` };
  const { fromLine = 1, toLine = Infinity } = query;
  const matchLine = createLineMatcher(query);
  const spentTime = { ms: 0 };
  const foundLines: ReferenceLines[] = [];
  const unknownReferences: string[] = [];
  for (const reference of references) {
    const conversation = conversations.find((one) => mapReferencesToContent(one).has(reference));
    const [originalContent] = conversation ? await readReferencedOriginals(conversation, [reference]) : [];
    if (!conversation || !originalContent) {
      unknownReferences.push(reference);
      continue;
    }
    const image = parseImage(originalContent);
    const lines = selectShownLines(originalContent, image ? undefined : matchLine, spentTime, { fromLine, toLine });
    const place = createPlaceDescriber(conversation.messages)(originalContent.content.place);
    const placeText = matchLine && lines.matchCount === 0 ? `${place}, where no line matches` : place;
    foundLines.push({ reference, placeText, ...lines, ...(image && { image }) });
  }
  if (unknownReferences.length === 0) return { found: foundLines };
  const message = `Nothing is known under ref ${formatFirstItems(unknownReferences)}.`;
  return foundLines.length === 0
    ? { nothing: message }
    : { found: [...foundLines, makeUnknownReferences(unknownReferences)] };
}

const makeUnknownReferences = (unknownReferences: readonly string[]): ReferenceLines => ({
  reference: formatFirstItems(unknownReferences) as ReferenceId,
  placeText: 'nothing is known of it',
  lineCount: 0,
  matchCount: 0,
  shownLines: [],
});

async function findLinesBySearch(
  conversations: readonly RecallableConversation[],
  matchLine: LineMatcher,
): Promise<SearchResult> {
  const spentTime = { ms: 0 };
  const foundLines: ReferenceLines[] = [];
  for (const conversation of conversations) {
    const describePlace = createPlaceDescriber(conversation.messages);
    for (const originalContent of await readReferencedOriginals(conversation, [
      ...mapReferencesToContent(conversation).keys(),
    ])) {
      const lines = selectShownLines(originalContent, matchLine, spentTime);
      if (lines.matchCount > 0)
        foundLines.push({
          reference: originalContent.reference,
          placeText: describePlace(originalContent.content.place),
          ...lines,
        });
    }
  }
  return foundLines.length === 0 ? { nothing: 'Nothing that was condensed away matches.' } : { found: foundLines };
}

/**
 * In UTF-16 units. Longer lines are folded into several, so that the agent can request any part.
 */
const MAX_CHARS_SHOWN_WHOLE = 4_000;

/** Returns undefined if the content is no image, or if its bytes are stored elsewhere. */
function parseImage({ content, text }: ResolvedReference): ImageBlock | undefined {
  const block = content.kind === 'block' ? (JSON.parse(text) as Block) : undefined;
  return block && isImage(block) && getBase64(block) !== undefined ? block : undefined;
}

function selectShownLines(
  originalContent: ResolvedReference,
  matchLine: LineMatcher | undefined,
  spentTime: { ms: number },
  { fromLine, toLine } = { fromLine: 1, toLine: Infinity },
): RecalledLines {
  const shownLines: RecalledLine[] = [];
  let matchCount = 0;
  let lineCount = 0;
  for (const lineBatch of splitIntoLineBatches(renderOriginalText(originalContent))) {
    const matchingIndexes = matchLine ? searchLinesWithinTime(lineBatch, matchLine, spentTime) : lineBatch.keys();
    for (const lineInBatch of matchingIndexes) {
      const index = lineCount + lineInBatch;
      if (index + 1 < fromLine || index + 1 > toLine) continue;
      matchCount++;
      if (shownLines.length < MAX_SHOWN_LINES) shownLines.push({ index, text: lineBatch[lineInBatch] ?? '' });
    }
    lineCount += lineBatch.length;
  }
  return { lineCount, matchCount, shownLines };
}

function renderOriginalText(originalContent: ResolvedReference): string {
  // Safe to parse: stored as messages or a block, and its hash was verified.
  const { content, text } = originalContent;
  if (content.kind === 'summary') return renderConversation(JSON.parse(text) as ApiMessage[]);
  const image = parseImage(originalContent);
  return image ? `[${describeImage(image)}]` : text;
}

/** Yields batches, since one array of millions of lines would grow slowly. */
function* splitIntoLineBatches(text: string): Generator<readonly string[]> {
  let lines: string[] = [];
  for (let lineStart = 0; lineStart <= text.length;) {
    const newlineIndex = text.indexOf('\n', lineStart);
    const lineEnd = newlineIndex < 0 ? text.length : newlineIndex;
    for (
      let pieceStart = lineStart;
      pieceStart === lineStart || pieceStart < lineEnd;
      pieceStart += MAX_CHARS_SHOWN_WHOLE
    ) {
      lines.push(text.slice(pieceStart, Math.min(lineEnd, pieceStart + MAX_CHARS_SHOWN_WHOLE)));
      if (lines.length < LINES_PER_STEP) continue;
      yield lines;
      lines = [];
    }
    lineStart = lineEnd + 1;
  }
  yield lines;
}

const LINES_PER_STEP = 10_000;

function renderRecallAnswer(
  foundReferences: readonly ReferenceLines[],
  { maxTokens }: RecallQuery,
  counter: MessageCounter,
): RecallResult {
  let remainingTokens = Math.min(MAX_ANSWER_TOKENS, Math.max(1, maxTokens ?? DEFAULT_ANSWER_TOKENS));
  let remainingBytes = maxTokens === undefined ? DEFAULT_ANSWER_BYTES : Infinity;
  const parts: string[] = [];
  const omissions: string[] = [];
  const images: RecalledImage[] = [];
  for (const { reference, placeText, lineCount, matchCount, shownLines, image } of foundReferences) {
    if (image) {
      const tokens = counter.countBlock(image);
      // Always includes the first image; otherwise an answer of the smallest size would never have
      // one.
      if (tokens > remainingTokens && images.length > 0) {
        omissions.push(`the image of ref ${reference}`);
        continue;
      }
      remainingTokens -= tokens;
      images.push(toRecalledImage(image));
    }
    const fittingLines: RecalledLine[] = [];
    for (const shownLine of shownLines) {
      const line = `${shownLine.text}\n`;
      const tokens = counter.countText(line);
      const bytes = Buffer.byteLength(line);
      if (tokens > remainingTokens || bytes > remainingBytes) break;
      remainingTokens -= tokens;
      remainingBytes -= bytes;
      fittingLines.push(shownLine);
    }
    const nextLine = shownLines[fittingLines.length];
    if (nextLine !== undefined)
      omissions.push(describeOmittedLines(reference, nextLine.index, matchCount - fittingLines.length, lineCount));
    if (fittingLines.length > 0 || matchCount === 0)
      parts.push(renderReferenceSection(reference, placeText, lineCount, fittingLines));
  }
  const omissionNotes =
    omissions.length === 0 ? [] : [`[The size limit left out: ${formatFirstItems(omissions, '; ')}.]`];
  return {
    kind: 'found',
    text: [...parts, ...omissionNotes].join('\n\n'),
    references: foundReferences.filter(({ lineCount: all }) => all > 0).map(({ reference }) => reference),
    images,
    isComplete: omissions.length === 0,
  };
}

function toRecalledImage(image: ImageBlock): RecalledImage {
  const mediaType = isRecord(image.source) ? image.source['media_type'] : undefined;
  return { mediaType: typeof mediaType === 'string' ? mediaType : 'image/png', data: getBase64(image) ?? '' };
}

const describeOmittedLines = (reference: string, nextLine: number, count: number, lineCount: number): string =>
  `${count} ${count === 1 ? 'line' : 'lines'} of ref ${reference} from line ${nextLine + 1} of ${lineCount}`;

/** Renders a complete text verbatim, and a part of a text with line numbers. */
function renderReferenceSection(
  reference: string,
  placeText: string,
  lineCount: number,
  shownLines: readonly RecalledLine[],
): string {
  const firstIndex = shownLines[0]?.index ?? 0;
  const lastIndex = shownLines.at(-1)?.index ?? 0;
  const isConsecutive = lastIndex - firstIndex + 1 === shownLines.length;
  const rangeText =
    lineCount === 0
      ? ''
      : isConsecutive
        ? `, lines ${firstIndex + 1} to ${lastIndex + 1} of ${lineCount}`
        : `, ${lineCount} lines`;
  const body = shownLines.map(({ index, text }) => (isConsecutive ? text : `${index + 1}: ${text}`));
  return [`[ref ${reference}: ${placeText}${rangeText}]`, ...body].join('\n');
}
