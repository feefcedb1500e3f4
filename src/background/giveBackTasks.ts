import { getActiveCondensations, getActiveEdits } from '../core/condense/ledger/ledger';
import {
  checkGiveBack,
  giveBackConversation,
  type GiveBackDependencies,
  type GiveBackRequest,
} from '../giveBack/giveBack';
import { GiveBackError, NOTHING_WRITTEN_TEXT } from '../giveBack/giveBackError';
import {
  recoverAllReplacements,
  undoLastReplacement,
  withReplacementsLock,
  type UndoneGiveBack,
} from '../giveBack/replacements';
import { listDamage } from '../conversations/notes';
import { nodeFiles } from '../storage/nodeFiles';
import { openStoredConversation } from './storedConversations';
import type { CheckGiveBackTask, GiveBackTask, RecoverTask, UndoGiveBackTask } from './tasks';
import type { CheckGiveBackResult, GivenBackResult, RecoverReplacementsResult } from './taskResults';
import { formatTokens } from '../core/format';

/** @throws GiveBackError, ConversationReadError or StorageError; nothing was written then */
export const giveBackStoredConversation = (task: GiveBackTask): Promise<GivenBackResult> =>
  runAfterRecoveringReplacements(task, async () => {
    const { request, conversation } = await createGiveBackRequest(task);
    const { target, path } = await giveBackConversation(request, createGiveBackDependencies(task));
    return { target, path, conversation };
  });

/** @throws as {@link giveBackStoredConversation} */
export const checkGiveBackOfStored = (task: CheckGiveBackTask): Promise<CheckGiveBackResult> =>
  runAfterRecoveringReplacements(task, async () => {
    const { request, damage } = await createGiveBackRequest(task);
    await checkGiveBack(request, createGiveBackDependencies(task));
    return { damage };
  });

type TaskWithReplacementsFolder = Pick<GiveBackTask, 'replacements'>;

/**
 * Completes or reverts interrupted replacements first, since they may have left the conversation's
 * files between two states.
 */
const runAfterRecoveringReplacements = <T>(
  { replacements }: TaskWithReplacementsFolder,
  action: () => Promise<T>,
): Promise<T> =>
  withReplacementsLock(nodeFiles, replacements, async () => {
    await recoverAllReplacements(nodeFiles, replacements, new Date());
    return action();
  });

const createGiveBackDependencies = ({ replacements }: TaskWithReplacementsFolder): GiveBackDependencies => ({
  files: nodeFiles,
  root: replacements,
  now: () => new Date(),
});

async function createGiveBackRequest(
  task: Omit<GiveBackTask, 'kind'>,
): Promise<{ readonly request: GiveBackRequest; readonly conversation: string; readonly damage: readonly string[] }> {
  const { path, agent } = task;
  const { conversation, ledger } = await openStoredConversation(task);
  const activeCondensations = getActiveCondensations(ledger.ledger);
  const [firstCondensation] = activeCondensations;
  const lastCondensation = activeCondensations.at(-1);
  if (!firstCondensation || !lastCondensation) throw createNotCondensedError(path);
  const { tokensBefore } = firstCondensation;
  const { provider, tokensAfter } = lastCondensation;
  const cost = activeCondensations.reduce((sum, each) => sum + (each.cost ?? 0), 0);
  const text = `Context Condenser (${provider}): ${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)} tokens.`;
  const condensationRow = { cost, tokensBefore, tokensAfter, text };
  const request = { path, ...(agent && { agent }), edits: getActiveEdits(ledger.ledger), row: condensationRow };
  return { request, conversation: conversation.id, damage: listDamage(conversation.notes) };
}

const createNotCondensedError = (path: string): GiveBackError =>
  new GiveBackError({
    kind: 'missing',
    path,
    happened: 'The conversation is not condensed.',
    notDone: NOTHING_WRITTEN_TEXT,
    advice: 'Condense it first.',
  });

/** @throws GiveBackError if the agent has continued the conversation since */
export const undoGiveBack = ({ name, replacements }: UndoGiveBackTask): Promise<UndoneGiveBack | undefined> =>
  withReplacementsLock(nodeFiles, replacements, () => undoLastReplacement(nodeFiles, replacements, name));

export const recoverReplacements = ({ replacements }: RecoverTask): Promise<RecoverReplacementsResult> =>
  withReplacementsLock(nodeFiles, replacements, () => recoverAllReplacements(nodeFiles, replacements, new Date()));
