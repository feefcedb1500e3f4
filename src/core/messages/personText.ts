import { AGENT_LIST } from '../agents';
import type { PromptPreamble, PromptSections } from '../agents/types';
import { memoizeByObject } from '../memoizeByObject';
import { listContents, type Content } from './content';
import { removeEnvironmentDetails } from './environment';
import type { ApiMessage } from './types';

const joinPreambleForms = (pickForms: (preamble: PromptPreamble) => readonly string[] | undefined): string =>
  [...new Set(AGENT_LIST.flatMap(({ preamble }) => pickForms(preamble) ?? []))].join('|');

const MACHINE_ELEMENT_OPENING = new RegExp(
  `<(${joinPreambleForms(({ elements }) => elements)})(?=[\\s>])[^<>]*>`,
  'gi',
);

const MACHINE_TEXT_OPENINGS: readonly RegExp[] = [
  ...new Set(AGENT_LIST.flatMap(({ preamble }) => preamble.openings ?? [])),
];

const PROMPT_SECTIONS = AGENT_LIST.flatMap(({ preamble }) => preamble.sections ?? []);

const PROMPT_WRAPPER_TAG_PATTERN = `(?:${joinPreambleForms(({ wrappers }) => wrappers)})`;
const PROMPT_WRAPPER_OPENING_TAG = new RegExp(`^<${PROMPT_WRAPPER_TAG_PATTERN}(?: [^>]*)?>`);
const PROMPT_WRAPPER_CLOSING_TAG = new RegExp(`</${PROMPT_WRAPPER_TAG_PATTERN}>$`);

const MACHINE_MESSAGE_FLAGS = ['addedByAgent', 'isMeta', 'isCompactSummary', 'isSummary', 'isTruncationMarker'];

export const isMachineMessage = (message: ApiMessage): boolean =>
  MACHINE_MESSAGE_FLAGS.some((flag) => message[flag] === true);

export function extractPersonText(text: string): string {
  const textByPerson = removeMachineText(removeEnvironmentDetails(text)).trim();
  const textWithoutOpenings = MACHINE_TEXT_OPENINGS.reduce(
    (left, opening) => left.replace(opening, ''),
    textByPerson,
  ).trim();
  const textWithoutSections = PROMPT_SECTIONS.reduce(removeSections, textWithoutOpenings).trim();
  return textWithoutSections.replace(PROMPT_WRAPPER_OPENING_TAG, '').replace(PROMPT_WRAPPER_CLOSING_TAG, '').trim();
}

/**
 * An element without an end tag extends to the end, since the text was cut. A start tag begins a
 * line or follows another element; elsewhere, a person may mention it.
 */
function removeMachineText(text: string): string {
  const unclosedNames = new Set<string>();
  const keptTexts: string[] = [];
  let end = 0;
  for (const { 0: tag, 1: name = '', index } of text.matchAll(MACHINE_ELEMENT_OPENING)) {
    if (index < end || !isBlankLineBefore(text, end, index)) continue;
    keptTexts.push(text.slice(end, index), ' ');
    end = findElementEnd(text, name.toLowerCase(), index + tag.length, unclosedNames) ?? text.length;
  }
  return keptTexts.join('') + text.slice(end);
}

/**
 * Remembers names that have no further end tag, so that none is searched for twice. This keeps the
 * time linear.
 */
function findElementEnd(text: string, name: string, start: number, unclosedNames: Set<string>): number | undefined {
  if (unclosedNames.has(name)) return undefined;
  const endTag = new RegExp(`</${name}>`, 'gi');
  endTag.lastIndex = start;
  if (endTag.test(text)) return endTag.lastIndex;
  unclosedNames.add(name);
  return undefined;
}

function isBlankLineBefore(text: string, from: number, to: number): boolean {
  const textBefore = text.slice(from, to);
  const trimmedText = textBefore.trimEnd();
  return trimmedText === '' || textBefore.includes('\n', trimmedText.length);
}

/** If the heading of the user's words is missing, the text was cut before it. */
function removeSections(text: string, { lines, selection, withUserWords, words }: PromptSections): string {
  let linePattern: RegExp | undefined;
  let lineCount = 0;
  let searchStart = 0;
  for (const { 0: rest, index } of text.matchAll(/\S[^\n]*/g)) {
    if (index < searchStart) continue;
    const line = rest.trimEnd();
    const isSectionComplete = linePattern === undefined || lineCount > 0;
    const heading = words.find((each) => line.startsWith(each));
    if (heading !== undefined) return isSectionComplete ? text.slice(index + heading.length) : text;
    if (Object.hasOwn(lines, line) && isSectionComplete) {
      linePattern = lines[line];
      lineCount = 0;
    } else if (linePattern && line === selection.before) {
      lineCount += 1;
      searchStart = findEndOfSelection(text, index, { selection, words });
      if (searchStart === -1) return text;
    } else if (linePattern?.test(line)) lineCount += 1;
    else return linePattern && isSectionComplete && withUserWords.test(line) ? text.slice(index) : text;
  }
  return lineCount > 0 ? '' : text;
}

/**
 * The selected text can contain the headings, too, so the last headings count. Returns -1 if the
 * text was cut before them.
 */
function findEndOfSelection(
  text: string,
  from: number,
  { selection, words }: Pick<PromptSections, 'selection' | 'words'>,
): number {
  const headingOffset = Math.max(...words.map((heading) => text.lastIndexOf(`\n${heading}`)));
  const selectionEnd = text.lastIndexOf(`\n${selection.after}\n`, headingOffset);
  return selectionEnd > from ? selectionEnd : headingOffset > from ? headingOffset : -1;
}

const CONTEXT_OPENING_PATTERNS: readonly RegExp[] = AGENT_LIST.flatMap(({ preamble }) => preamble.contexts ?? []);

/**
 * Removes what VS Code puts around the user's words; undefined if there is nothing to remove.
 * Images divide the text into several texts.
 */
export function removeContextAddedByAgent(texts: readonly string[]): readonly string[] | undefined {
  const name = /<\/([\w-]+)>\s*$/.exec(texts.at(-1) ?? '')?.[1];
  if (name === undefined) return undefined;
  const text = texts.join('');
  const context = CONTEXT_OPENING_PATTERNS.map((pattern) => pattern.exec(text)).find((found) => found?.[1] === name);
  if (!context) return undefined;
  const start = context[0].length;
  const end = text.lastIndexOf(`</${name}>`);
  let pieceStart = 0;
  return texts.map((part) => {
    const personPart = part.slice(Math.max(0, start - pieceStart), Math.max(0, end - pieceStart));
    pieceStart += part.length;
    return personPart;
  });
}

const ATTACHED_FILE_FRAMES = new Map(
  AGENT_LIST.flatMap(({ preamble: { fileFrame } }) => (fileFrame ? [[fileFrame.first, fileFrame.last]] : [])),
);
/**
 * Old versions join the parts of a prompt. In these, this text follows the first line of the frame.
 */
const FIRST_ATTACHED_FILE_OPENING = '\nContent from ';

/**
 * A file can contain the frame's last line, so its last occurrence before the next frame counts. A
 * canceled prompt and the next prompt may be in one message.
 */
function removeAttachedFileTexts(texts: readonly string[]): readonly string[] {
  for (const [first, last] of ATTACHED_FILE_FRAMES) {
    const framedIndexes = findFramedTexts(texts, first, last);
    if (framedIndexes.size > 0) return texts.map((text, index) => (framedIndexes.has(index) ? '' : text));
  }
  return texts.map(removeAttachedFilesFromText);
}

function findFramedTexts(texts: readonly string[], first: string, last: string): ReadonlySet<number> {
  const framedIndexes = new Set<number>();
  let start = Infinity;
  let end = -1;
  const closeFrame = (): void => {
    for (let index = start; index <= end; index++) framedIndexes.add(index);
    end = -1;
  };
  texts.forEach((text, index) => {
    if (text === last) end = index;
    if (text !== first) return;
    closeFrame();
    start = index;
  });
  closeFrame();
  return framedIndexes;
}

function removeAttachedFilesFromText(text: string): string {
  for (const [first, last] of ATTACHED_FILE_FRAMES) {
    const start = text.indexOf(first + FIRST_ATTACHED_FILE_OPENING);
    const end = text.lastIndexOf(last);
    if (start !== -1 && end > start) return text.slice(0, start) + text.slice(end + last.length);
  }
  return text;
}

/**
 * The user's own words in each text of a message. Takes all texts at once, because an attachment
 * may span several.
 */
export const extractPersonTexts = (texts: readonly string[]): readonly string[] =>
  removeAttachedFileTexts(removeContextAddedByAgent(texts) ?? texts).map(extractPersonText);

/** `userText` is what the user wrote of the text; empty if an agent wrote all of it. */
export interface TextWrittenByPerson {
  readonly content: Content;
  readonly userText: string;
}

export const listTextsWrittenByPerson = memoizeByObject((message: ApiMessage): readonly TextWrittenByPerson[] => {
  const contents = listContents(message).filter(({ type }) => type === 'messageText');
  const textsByPerson = extractPersonTexts(contents.map(({ text }) => text));
  return contents.map((content, index) => ({ content, userText: textsByPerson[index] ?? '' }));
});

const MACHINE_REPORT_OPENING_TAG = new RegExp(`^\\s*<(?:${joinPreambleForms(({ reports }) => reports)})[\\s>]`, 'i');

export const isMachineReport = (text: string): boolean =>
  MACHINE_REPORT_OPENING_TAG.test(text) && extractPersonText(text) === '';
