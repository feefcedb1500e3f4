import { loadFillLevelReader } from '../account/fillLevel';
import { computeSavingPerRequest } from '../account/savedPerRequest';
import { restoreOriginalCallJson } from '../conversations/rawText';
import { exportConversation, type ExportedConversation } from '../conversations/export';
import { readConversationFile } from '../conversations/readFile';
import { getNoteText, listDamage, listOmissions } from '../conversations/notes';
import type { Conversation } from '../conversations/types';
import { CondensationManager, createProviders } from '../core/condense';
import { applyEdits } from '../core/condense/edits/applyEdits';
import {
  getActiveCondensations,
  getActiveEdits,
  getEditsAfterCondensation,
  type Ledger,
} from '../core/condense/ledger/ledger';
import { renderDiffOfViews } from '../core/condense/report/foldedTexts';
import { renderReadingPage } from '../pages/readingPage';
import { findReportedCondensation, renderReportPage, type ReportedCondensation } from '../pages/reportPage';
import { AGENT_LIST, getLiveCommand, type AgentName } from '../core/agents';
import { createPinEntries, getPinnedIndexes } from '../core/condense/ledger/pins';
import { listMessagesBriefly, MAX_COMPARED_CHARS, renderConversation } from '../core/messages/render';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { listGivenBack } from '../giveBack/replacements';
import { listLedgers, openLedger, readLedger, type LedgerFile } from '../storage/ledgerStore';
import { nodeFiles } from '../storage/nodeFiles';
import { summarizeConversation } from './condenseConversation';
import type {
  ExportTask,
  LedgersTask,
  PinTask,
  ReadTask,
  ReportTask,
  SetUndoneTask,
  ShowTask,
  StoredConversation,
  RenderTextTask,
} from './tasks';
import type {
  CondensationOutline,
  ConversationText,
  LedgerOutline,
  LedgersResult,
  ListedMessage,
  ConversationPageResult,
  ShownConversation,
} from './taskResults';

export async function openStoredConversation({
  path,
  history,
  store,
}: StoredConversation): Promise<{ readonly conversation: Conversation; readonly ledger: LedgerFile }> {
  const conversation = readConversationFile(path, { history });
  const { id, title, format } = conversation;
  return { conversation, ledger: await openLedger(store, { id, title, format, path }) };
}

export async function outlineLedgers({ store, replacements, since }: LedgersTask): Promise<LedgersResult> {
  const ledgers: LedgerOutline[] = [];
  let newestUseTime = since;
  const listedLedgers = await listLedgers(store);
  for (const { about, folder, lastUsed } of listedLedgers) {
    if (lastUsed <= since) continue;
    newestUseTime = Math.max(newestUseTime, lastUsed);
    const condensations = outlineLedger(await readLedger(folder));
    const { id: conversation, title, path } = about;
    ledgers.push({
      conversation,
      ...(title !== undefined && { title }),
      ...(path !== undefined && { path }),
      condensations,
    });
  }
  const knownIds = listedLedgers.map(({ about }) => about.id);
  return { known: knownIds, ledgers, lastUsed: newestUseTime, givenBack: await listGivenBack(nodeFiles, replacements) };
}

function outlineLedger(ledger: Ledger): CondensationOutline[] {
  const { condensations, undone, uses } = ledger;
  const lastFromOriginalIndex = condensations.findLastIndex((each) => each.base === 'original');
  return condensations.map(
    ({ id, at, provider, configName, tokensBefore, tokensAfter, steps, cost, rereads = 0 }, index) => {
      const useAfterwards = uses.get(id);
      return {
        id,
        at,
        provider,
        ...(configName !== undefined && { configName }),
        tokensBefore,
        tokensAfter,
        isUndone: undone.has(id),
        isReplaced: index < lastFromOriginalIndex,
        steps,
        ...(cost !== undefined && { cost }),
        ...(useAfterwards && { use: useAfterwards }),
        ...(rereads > 0 && { rereads }),
      };
    },
  );
}

/** Undoes or redoes a condensation in the ledger, without changing the agent's files. */
export async function setCondensationUndone({
  conversation,
  condensation,
  isUndone,
  store,
}: SetUndoneTask): Promise<null> {
  const ledger = await openLedger(store, { id: conversation });
  // The user may have deleted the history in the meantime.
  if (!ledger.ledger.condensations.some(({ id }) => id === condensation)) {
    throw new Error('This condensation is no longer in the history. Nothing was changed.');
  }
  await ledger.append({ type: isUndone ? 'undone' : 'redone', condensation }, new Map());
  return null;
}

export async function renderConversationDiff(task: ShowTask): Promise<ShownConversation> {
  const { conversation, ledger: file } = await openStoredConversation(task);
  const { ledger } = file;
  const { messages } = conversation;
  const condensationId = task.condensation;
  const edits =
    condensationId === undefined ? getActiveEdits(ledger) : getEditsAfterCondensation(ledger, condensationId);
  const shownCondensations =
    condensationId === undefined
      ? getActiveCondensations(ledger)
      : ledger.condensations.filter(({ id }) => id === condensationId);
  return {
    conversation: summarizeConversation(conversation, task.path),
    ...renderDiffOfViews(applyEdits(messages, edits)),
    condensations: shownCondensations.map(({ provider, configName }) => ({ provider, configName })),
  };
}

/** @throws ConversationReadError */
export function renderStoredConversation({ path, history }: RenderTextTask): ConversationText {
  const { title, messages, notes } = readConversationFile(path, { history });
  const text = renderConversation(messages, undefined, messages, MAX_COMPARED_CHARS);
  return { title, text, notes: [...listOmissions(notes), ...listDamage(notes)] };
}

/** @throws ConversationReadError */
export async function exportStoredConversation(
  task: ExportTask,
  counter: MessageCounter,
): Promise<ExportedConversation> {
  const { conversation, ledger } = await openStoredConversation(task);
  const messages = task.isCondensed
    ? applyEdits(conversation.messages, getActiveEdits(ledger.ledger)).messages
    : conversation.messages;
  const exportedConversation = exportConversation({ ...conversation, messages }, task.target, counter);
  return { ...exportedConversation, text: restoreOriginalCallJson(exportedConversation, task.path) };
}

/** @throws ConversationReadError */
export async function renderStoredReadingPage({ nonce, ...task }: ReadTask): Promise<ConversationPageResult> {
  const { conversation, ledger } = await openStoredConversation(task);
  const { title, messages } = conversation;
  const isCondensed = getActiveCondensations(ledger.ledger).length > 0;
  const subject = { title, original: messages, edits: getActiveEdits(ledger.ledger) };
  return {
    conversation: summarizeConversation(conversation, task.path),
    page: isCondensed ? renderReadingPage(subject, { nonce }) : undefined,
  };
}

/** @throws ConversationReadError */
export async function renderStoredReportPage(
  task: ReportTask,
  counter: MessageCounter,
): Promise<ConversationPageResult> {
  const { conversation, ledger } = await openStoredConversation(task);
  const { title, format, messages } = conversation;
  const manager = new CondensationManager(counter, createProviders());
  const condensation = findReportedCondensation(ledger.ledger, (id) => manager.getProviderDisplayName(id));
  const summary = summarizeConversation(conversation, task.path);
  if (!condensation) return { conversation: summary, page: undefined };
  const { withoutContent, version, webview, assumedWindow, notes = [] } = task;
  const countedFill = (await loadFillLevelReader())(conversation, counter);
  const fill = countedFill.isRecorded ? countedFill : (task.fill ?? countedFill);
  const { messages: view } = applyEdits(messages, condensation.edits);
  const change = { tokensBefore: counter.countMessages(messages), tokensAfter: counter.countMessages(view) };
  const savedPerRequest = await computeSavingPerRequest(conversation, task, change).catch(() => undefined);
  const { isGivenBack = false } = task;
  const reportSubject = {
    title,
    format,
    fill,
    original: messages,
    savedPerRequest,
    isGivenBack,
    agentWithoutGiveBack: findAgentWithoutGiveBack(task.agent),
    ...condensation,
    notes: [...new Set([...notes, ...conversation.notes.map(getNoteText)])],
  };
  return {
    conversation: summary,
    page: renderReportPage(reportSubject, {
      counter,
      withoutContent,
      version,
      assumedWindow,
      ...(webview && { webview }),
    }),
  };
}

function findAgentWithoutGiveBack(name: AgentName | undefined): ReportedCondensation['agentWithoutGiveBack'] {
  const agent = AGENT_LIST.find((each) => each.name === name);
  return agent && !agent.giveBack
    ? { name: agent.name, canRunCondensed: getLiveCommand(agent.name) !== undefined }
    : undefined;
}

export async function listStoredMessages(task: StoredConversation): Promise<readonly ListedMessage[]> {
  const { conversation, ledger } = await openStoredConversation(task);
  const pinnedIndexes = getPinnedIndexes(ledger.ledger.pinned, conversation.messages);
  return listMessagesBriefly(conversation.messages).map((message, index) => ({
    ...message,
    isPinned: pinnedIndexes.has(index),
  }));
}

export async function pinMessages(task: PinTask): Promise<null> {
  const { conversation, ledger } = await openStoredConversation(task);
  for (const entry of createPinEntries(ledger.ledger.pinned, conversation.messages, new Set(task.pinned))) {
    await ledger.append(entry, new Map());
  }
  return null;
}
