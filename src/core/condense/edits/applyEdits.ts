import { hashText, type Hash } from '../../hash';
import { getBlocks } from '../../messages/blocks';
import { SUMMARY_ORIGIN } from '../../messages/firewall';
import { replaceValueAt } from '../../messages/path';
import type { ApiMessage, Block, ContentPlace } from '../../messages/types';
import { getConversationMemory } from '../conversationMemory';
import {
  makeEditPlaceKey,
  matchesOriginal,
  selectLastEditPerPlace,
  getOriginalText,
  renderCuts,
  type BlockEdit,
  type CutEdit,
  type Edit,
  type SummaryEdit,
} from './edits';
import type { View } from './view';

/**
 * Messages with no edits, or the same cuts as last time, keep their identity.
 * @returns `stale`: the edits that no longer fit the original text
 */
export function applyEdits(
  original: readonly ApiMessage[],
  edits: readonly Edit[],
): View & { readonly stale: readonly Edit[] } {
  const messages = [...original];
  const summaries: SummaryEdit[] = [];
  const blocks: BlockEdit[] = [];
  const editsByMessage = new Map<number, CutEdit[]>();
  const staleEdits: Edit[] = [];
  for (const edit of selectLastEditPerPlace(edits)) {
    if (edit.kind !== 'cut') {
      if (!matchesOriginal(original, edit)) staleEdits.push(edit);
      else if (edit.kind === 'summary') summaries.push(edit);
      else blocks.push(edit);
      continue;
    }
    const editsOfMessage = editsByMessage.get(edit.place.message);
    if (editsOfMessage) editsOfMessage.push(edit);
    else editsByMessage.set(edit.place.message, [edit]);
  }
  for (const [index, ownEdits] of editsByMessage) {
    const message = original[index];
    if (message) messages[index] = applyCutEdits(original, message, ownEdits, staleEdits);
    else staleEdits.push(...ownEdits);
  }
  for (const edit of sortBlockEditsFromLast(blocks)) {
    const message = messages[edit.place.message];
    if (message) messages[edit.place.message] = removeEditedBlock(message, edit);
  }
  const staleKeys = new Set(staleEdits.map(makeEditPlaceKey));
  const appliedEdits = staleEdits.length === 0 ? edits : edits.filter((edit) => !staleKeys.has(makeEditPlaceKey(edit)));
  return { original, ...applySummaryEdits(messages, summaries), edits: appliedEdits, stale: staleEdits };
}

interface CachedCutMessage {
  readonly cuts: readonly CutEdit[];
  readonly message: ApiMessage;
}

const createCutMessageCache = (): WeakMap<ApiMessage, CachedCutMessage> => new WeakMap();

function applyCutEdits(
  original: readonly ApiMessage[],
  message: ApiMessage,
  cuts: readonly CutEdit[],
  staleEdits: Edit[],
): ApiMessage {
  const cutMessages = getConversationMemory(original).getOrCreate(createCutMessageCache);
  const cachedMessage = cutMessages.get(message);
  if (cachedMessage?.cuts.length === cuts.length && cachedMessage.cuts.every((cut, at) => cut === cuts[at]))
    return cachedMessage.message;
  const validCuts = cuts.flatMap((edit) => {
    const text = getOriginalText(original, edit);
    if (text === undefined) staleEdits.push(edit);
    return text === undefined ? [] : [{ edit, text }];
  });
  const cutMessage = validCuts.reduce(
    (now, { edit, text }) => replaceValueAt(now, edit.place.path, renderCuts(text, edit.cuts)),
    message,
  );
  if (validCuts.length === cuts.length) cutMessages.set(message, { cuts, message: cutMessage });
  return cutMessage;
}

/** Sorts from last to first, because removing a block moves the blocks after it. */
const sortBlockEditsFromLast = (blocks: readonly BlockEdit[]): BlockEdit[] =>
  blocks.toSorted((a, b) => b.place.message - a.place.message || getBlockIndex(b) - getBlockIndex(a));

const getBlockIndex = ({ place }: BlockEdit): number => Number(place.path[1]);

function removeEditedBlock(message: ApiMessage, edit: BlockEdit): ApiMessage {
  const { placeholder, place } = edit;
  if (placeholder) return replaceValueAt(message, place.path, { type: 'text', text: placeholder.text });
  return replaceValueAt(message, ['content'], getBlocks(message).toSpliced(getBlockIndex(edit), 1));
}

function restoreEditedBlock(message: ApiMessage, edit: BlockEdit, block: Block): ApiMessage {
  if (edit.placeholder) return replaceValueAt(message, edit.place.path, block);
  return replaceValueAt(message, ['content'], getBlocks(message).toSpliced(getBlockIndex(edit), 0, block));
}

function applySummaryEdits(
  messages: readonly ApiMessage[],
  summaries: readonly SummaryEdit[],
): { messages: ApiMessage[]; origins: number[] } {
  const viewMessages: ApiMessage[] = [];
  const origins: number[] = [];
  const summaryByStart = new Map(summaries.map((summary) => [summary.start, summary]));
  for (let index = 0; index < messages.length; index++) {
    const summary = summaryByStart.get(index);
    const message = summary ? summary.message : messages[index];
    if (message) viewMessages.push(message);
    origins.push(summary ? SUMMARY_ORIGIN : index);
    if (summary) index = summary.end - 1;
  }
  return { messages: viewMessages, origins };
}

/** @throws Error if an original is missing or is not the one that its edit names */
export function restoreMessagesBeforeEdits(
  view: readonly ApiMessage[],
  edits: readonly Edit[],
  findOriginal: (hash: Hash) => string | undefined,
): ApiMessage[] {
  const lastEdits = selectLastEditPerPlace(edits);
  const readStoredText = ({ before: hashBefore }: Edit, placeText: string): string => {
    const text = findOriginal(hashBefore);
    if (text === undefined || hashText(text) !== hashBefore) {
      throw new Error(`the original of ${placeText} is missing or damaged (sha256 ${hashBefore})`);
    }
    return text;
  };
  const messages = [...view];
  const summaries = lastEdits.filter((edit) => edit.kind === 'summary').sort((a, b) => a.start - b.start);
  // Earlier summaries come first, because later indexes count the messages that they replaced.
  for (const summary of summaries) {
    const text = readStoredText(summary, `messages ${summary.start} to ${summary.end - 1}`);
    messages.splice(summary.start, 1, ...(JSON.parse(text) as ApiMessage[]));
  }
  // Content inside a restored range is already original.
  const isRestored = ({ message }: ContentPlace): boolean =>
    summaries.some(({ start, end }) => message >= start && message < end);
  const unrestoredBlockEdits = lastEdits
    .filter((edit) => edit.kind === 'block')
    .filter(({ place }) => !isRestored(place));
  const blocks = sortBlockEditsFromLast(unrestoredBlockEdits).toReversed();
  for (const edit of [...blocks, ...lastEdits.filter((other) => other.kind === 'cut')]) {
    const text = readStoredText(edit, `message ${edit.place.message}`);
    const message = messages[edit.place.message];
    if (!message) throw new Error(`message ${edit.place.message} is missing or damaged: the view is too short`);
    messages[edit.place.message] =
      edit.kind === 'block'
        ? restoreEditedBlock(message, edit, JSON.parse(text) as Block)
        : replaceValueAt(message, edit.place.path, text);
  }
  return messages;
}
