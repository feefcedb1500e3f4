/** The actions of a person on a stored conversation and its ledger, except condensing. */
import { loadFillOf } from '../account/fillOf';
import { fillSentence } from '../core/account/fillLevel';
import { withRawCalls } from '../conversations/rawText';
import { exportConversation, type ExportedConversation } from '../conversations/export';
import { readConversationFile } from '../conversations/readFile';
import type { Conversation } from '../conversations/types';
import { CondensationManager, createProviders } from '../core/condense';
import { applyEdits } from '../core/condense/edits/applyEdits';
import { activeCondensations, activeEdits, editsShownBy, type Ledger } from '../core/condense/ledger/ledger';
import { readingPage } from '../core/condense/report/readingPage';
import { condensationIn, reportPage } from '../core/condense/report/reportPage';
import { pinEntries, pinnedIndexes } from '../core/condense/ledger/pins';
import { LONGEST_COMPARED, renderBodies, renderConversation } from '../core/messages/render';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { givenBack } from '../giveBack/replacements';
import { listLedgers, openLedger, readLedger, type LedgerFile } from '../storage/ledgerStore';
import { nodeFiles } from '../storage/nodeFiles';
import { summaryOf } from './condenseConversation';
import type {
  ExportTask,
  LedgersTask,
  PinTask,
  ReadTask,
  ReportTask,
  SetUndoneTask,
  ShowTask,
  StoredConversation,
} from './tasks';
import type {
  CondensationOutline,
  LedgerOutline,
  LedgersResult,
  ListedMessage,
  PageToRead,
  ReportedPage,
  ShownConversation,
} from './taskResults';

/** How much of a message a list shows, in UTF-16 units. */
const WORDS = 120;

/** A file's conversation, with its ledger. */
export async function openStored({
  path,
  history,
  store,
}: StoredConversation): Promise<{ readonly conversation: Conversation; readonly ledger: LedgerFile }> {
  const conversation = readConversationFile(path, { history });
  const { id, title, format } = conversation;
  return { conversation, ledger: await openLedger(store, { id, title, format, path }) };
}

/** The ledgers that were used since a time, in few words, those that there are, and what was given back. */
export async function outlineLedgers({ store, replacements, since }: LedgersTask): Promise<LedgersResult> {
  const ledgers: LedgerOutline[] = [];
  let newest = since;
  const listed = await listLedgers(store);
  for (const { about, folder, lastUsed } of listed) {
    if (lastUsed <= since) continue;
    newest = Math.max(newest, lastUsed);
    const condensations = outlineOf(await readLedger(folder));
    const { id: conversation, title, path } = about;
    ledgers.push({
      conversation,
      ...(title !== undefined && { title }),
      ...(path !== undefined && { path }),
      condensations,
    });
  }
  const known = listed.map(({ about }) => about.id);
  return { known, ledgers, lastUsed: newest, givenBack: await givenBack(nodeFiles, replacements) };
}

function outlineOf(ledger: Ledger): CondensationOutline[] {
  const { condensations, undone, uses } = ledger;
  const base = condensations.findLastIndex((each) => each.base === 'original');
  return condensations.map(
    ({ id, at, provider, configName, tokensBefore, tokensAfter, steps, cost, rereads = 0 }, index) => {
      const use = uses.get(id);
      return {
        id,
        at,
        provider,
        ...(configName !== undefined && { configName }),
        tokensBefore,
        tokensAfter,
        isUndone: undone.has(id),
        isReplaced: index < base,
        steps,
        ...(cost !== undefined && { cost }),
        ...(use && { use }),
        ...(rereads > 0 && { rereads }),
      };
    },
  );
}

/** Undoes or redoes a condensation in the ledger; the agent's own files stay as they are. */
export async function setUndone({ conversation, condensation, isUndone, store }: SetUndoneTask): Promise<null> {
  const ledger = await openLedger(store, { id: conversation });
  // The history may have been cleared since it was listed.
  if (!ledger.ledger.condensations.some(({ id }) => id === condensation)) {
    throw new Error('This condensation is no longer in the history. Nothing was changed.');
  }
  await ledger.append({ type: isUndone ? 'undone' : 'redone', condensation }, new Map());
  return null;
}

/** A conversation as text, before and after its condensations, or after a chosen one. */
export async function showConversation(task: ShowTask): Promise<ShownConversation> {
  const { conversation, ledger: file } = await openStored(task);
  const { ledger } = file;
  const { messages } = conversation;
  const before = renderConversation(messages, undefined, messages, LONGEST_COMPARED);
  const chosen = task.condensation;
  const edits = chosen === undefined ? activeEdits(ledger) : editsShownBy(ledger, chosen);
  const { messages: view, origins } = applyEdits(messages, edits);
  const shown =
    chosen === undefined ? activeCondensations(ledger) : ledger.condensations.filter(({ id }) => id === chosen);
  const isCondensed = chosen !== undefined || shown.length > 0;
  return {
    conversation: summaryOf(conversation, task.path),
    before,
    after: isCondensed ? renderConversation(view, origins, messages, LONGEST_COMPARED) : before,
    condensations: shown.map(({ provider, configName }) => ({ provider, configName })),
  };
}

/** A conversation in another form, as it is or condensed. @throws ConversationReadError */
export async function exportStored(task: ExportTask, counter: MessageCounter): Promise<ExportedConversation> {
  const { conversation, ledger } = await openStored(task);
  const messages = task.isCondensed
    ? applyEdits(conversation.messages, activeEdits(ledger.ledger)).messages
    : conversation.messages;
  const exported = exportConversation({ ...conversation, messages }, task.target, counter);
  return { ...exported, text: withRawCalls(exported, task.path) };
}

/** A conversation with its condensations, to be read. @throws ConversationReadError */
export async function readStored({ nonce, ...task }: ReadTask): Promise<PageToRead> {
  const { conversation, ledger } = await openStored(task);
  const { title, messages } = conversation;
  const subject = { title, original: messages, edits: activeEdits(ledger.ledger) };
  return { title, page: readingPage(subject, { nonce }) };
}

/** A page about what the ledger says of a conversation. @throws ConversationReadError */
export async function reportStored(task: ReportTask, counter: MessageCounter): Promise<ReportedPage> {
  const { conversation, ledger } = await openStored(task);
  const { title, format, messages } = conversation;
  const manager = new CondensationManager(counter, createProviders());
  const condensation = condensationIn(ledger.ledger, (id) => manager.providerName(id));
  if (!condensation) return { page: undefined };
  const { withoutContent, version } = task;
  const fill = fillSentence((await loadFillOf())(conversation, counter));
  const subject = { title, format, fill, original: messages, ...condensation };
  return { page: reportPage(subject, { counter, withoutContent, version }) };
}

/** A conversation's messages by their first words, and which of them are pinned. */
export async function listMessages(task: StoredConversation): Promise<readonly ListedMessage[]> {
  const { conversation, ledger } = await openStored(task);
  const pinned = pinnedIndexes(ledger.ledger.pinned, conversation.messages);
  const bodies = renderBodies(conversation.messages);
  return conversation.messages.map(({ role }, index) => ({
    role,
    words: (bodies[index] ?? '')
      .slice(0, 10 * WORDS)
      .replace(/\s+/g, ' ')
      .slice(0, WORDS),
    isPinned: pinned.has(index),
  }));
}

/** Pins exactly these messages: what was pinned and is not among them no longer is. */
export async function pinMessages(task: PinTask): Promise<null> {
  const { conversation, ledger } = await openStored(task);
  for (const entry of pinEntries(ledger.ledger.pinned, conversation.messages, new Set(task.pinned))) {
    await ledger.append(entry, new Map());
  }
  return null;
}
