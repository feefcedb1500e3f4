import { renderAccountCsv, renderAccountJson } from '../account/accountFile';
import { computeAccountOfStores } from '../account/accountStores';
import { simulateSessionSavings } from '../account/storesWhatIf';
import { judgeSessions } from '../conversations/judgeSessions';
import { readConversationFile } from '../conversations/readFile';
import {
  makeAccountOverview,
  dropUsageBefore,
  selectSessionsUsedSince,
  type AccountOverview,
  type SessionAccount,
} from '../core/account/account';
import { renderAccountPage, type AccountPageOptions } from '../pages/accountPage';
import { sumSessionSavings, type WhatIfSum } from '../core/account/whatIf';
import { CondensationManager, createProviders } from '../core/condense';
import { createUndoEntry } from '../core/condense/ledger/ledger';
import { getFirstSummaryPrompt, planSummary } from '../core/condense/summary/plan';
import { MessageCounter } from '../core/tokens/messageCounter';
import { maskValue } from '../core/secrets/maskMessages';
import type { TokenCounter } from '../core/tokens/types';
import { openLedger } from '../storage/ledgerStore';
import { nodeFiles } from '../storage/nodeFiles';
import { replaceFileAtomically } from '../storage/ownFiles';
import { StoredSummaries } from '../storage/summaries';
import { condenseConversation } from './condenseConversation';
import { getRecordedSystemAndVendor } from './knownFacts';
import { checkGiveBackOfStored, giveBackStoredConversation, recoverReplacements, undoGiveBack } from './giveBackTasks';
import { createRemoteProvider } from '../extensionApi/engineProvider';
import type { ProviderCallHandlers } from '../extensionApi/remoteProvider';
import { createHostModelSelection, type HostModels } from './hostModels';
import { indexConversations } from './indexConversations';
import { findReferencedOriginal, listReferences } from './originals';
import {
  exportStoredConversation,
  listStoredMessages,
  outlineLedgers,
  pinMessages,
  renderStoredReadingPage,
  renderStoredReportPage,
  setCondensationUndone,
  renderConversationDiff,
  renderStoredConversation,
} from './storedConversations';
import type { AccountTask, CondenseTask, Task, TaskProgress, PlannedPrompt, PromptTask, UndoTask } from './tasks';
import type { AccountResult, CondensedResult, NotCondensedResult, UndoResult } from './taskResults';

type ReportProgress = (progress: TaskProgress) => void;

export interface TaskDependencies {
  readonly tokens: () => Promise<TokenCounter>;
  readonly onProgress: ReportProgress;
  readonly signal: AbortSignal;
  /** Models that the task may call; absent if this program calls no models. */
  readonly models?: HostModels | undefined;
  /** Absent if no other extension registered a provider. */
  readonly providers?: ProviderCallHandlers | undefined;
}

export async function performTask(task: Task, dependencies: TaskDependencies): Promise<unknown> {
  const { tokens, onProgress, signal } = dependencies;
  switch (task.kind) {
    case 'condense':
      return performCondenseTask(task, new MessageCounter(await tokens()), dependencies);
    case 'undo':
      return performUndoTask(task);
    case 'index':
      return indexConversations(task, tokens, (index) => {
        onProgress({ step: 'Looking for conversations', index });
      });
    case 'account':
      return performAccountTask(task, tokens, onProgress, signal);
    case 'ledgers':
      return outlineLedgers(task);
    case 'set-undone':
      return setCondensationUndone(task);
    case 'show':
      return renderConversationDiff(task);
    case 'text':
      return renderStoredConversation(task);
    case 'export':
      return exportStoredConversation(task, new MessageCounter(await tokens()));
    case 'read':
      return renderStoredReadingPage(task);
    case 'report':
      return renderStoredReportPage(task, new MessageCounter(await tokens()));
    case 'messages':
      return listStoredMessages(task);
    case 'pin':
      return pinMessages(task);
    case 'original':
      return findReferencedOriginal(task);
    case 'references':
      return listReferences(task);
    case 'give-back':
      return giveBackStoredConversation(task);
    case 'check-give-back':
      return checkGiveBackOfStored(task);
    case 'undo-give-back':
      return undoGiveBack(task);
    case 'judge':
      return judgeSessions(task.locations, task.choices, {
        tokens: await tokens(),
        onProgress: (done, all) => {
          onProgress({ step: '', judge: { done, all } });
        },
      });
    case 'prompt':
      return planPrompt(task, new MessageCounter(await tokens()), signal);
    case 'recover':
      return recoverReplacements(task);
  }
}

async function performCondenseTask(
  task: CondenseTask,
  counter: MessageCounter,
  { onProgress, signal, models, providers: calls }: TaskDependencies,
): Promise<CondensedResult | NotCondensedResult> {
  const { paid, registered = [] } = task;
  const remoteProviders = calls ? registered.map((description) => createRemoteProvider(description, calls)) : [];
  const providers = createProviders({
    others: () => remoteProviders,
    ...(paid &&
      models && {
        ...createHostModelSelection(models, signal),
        presets: () => paid.presets,
        memo: new StoredSummaries(paid.summaries, { onError: models.warn }),
      }),
  });
  const manager = new CondensationManager(counter, [...providers, ...remoteProviders]);
  // Throws if the provider is unknown, before the file is read: its extension may be missing.
  manager.getProvider(task.provider);
  onProgress({ step: 'Reading the conversation' });
  const conversation = readConversationFile(task.path, { history: task.history });
  const maxCost = paid ? { maxCost: paid.maxCost } : {};
  return (await condenseConversation(conversation, task, { manager, counter, onProgress, signal, ...maxCost })).result;
}

async function planPrompt(
  { path, history, config, model }: PromptTask,
  counter: MessageCounter,
  signal: AbortSignal,
): Promise<PlannedPrompt | undefined> {
  const conversation = readConversationFile(path, { history });
  const context = { messages: conversation.messages, edits: [], counter, ...getRecordedSystemAndVendor(conversation) };
  const summaryPlan = await planSummary({ context, config, model, signal });
  if (summaryPlan.kind !== 'plan') return undefined;
  return {
    ...getFirstSummaryPrompt(summaryPlan),
    facts: summaryPlan.facts,
    isCompacted: summaryPlan.compacted !== undefined,
  };
}

async function performUndoTask(task: UndoTask): Promise<UndoResult> {
  const ledger = await openLedger(task.store, { id: task.conversation });
  const undoEntry = createUndoEntry(ledger.ledger);
  if (undoEntry?.type !== 'undone') return { undone: undefined };
  const undoneCondensation = ledger.ledger.condensations.find(({ id }) => id === undoEntry.condensation);
  await ledger.append(undoEntry, new Map());
  return {
    undone: undoneCondensation && { provider: undoneCondensation.provider, edits: undoneCondensation.edits.length },
  };
}

const MAX_REPORTED_PROBLEMS = 20;

async function performAccountTask(
  task: AccountTask,
  tokens: () => Promise<TokenCounter>,
  onProgress: ReportProgress,
  signal: AbortSignal,
): Promise<AccountResult> {
  const { sessions, problems } = await computeAccountOfStores(task, tokens, (done, all) => {
    onProgress({ step: `Accounting sessions: ${done} of ${all}`, account: { done, all } });
  });
  const { file, sinceDay } = task;
  const unreadReasons = problems.map(({ reason }) => reason);
  const overview = makeAccountOverview(sessions, sinceDay, unreadReasons);
  const whatIf = task.with && {
    sum: await computeWhatIfForSessions(sessions, task.with, task, tokens, onProgress, signal),
    name: task.with.name,
  };
  if (file)
    await replaceFileAtomically(
      nodeFiles,
      file.path,
      formatAccountFile(file, dropUsageBefore(sessions, sinceDay), overview, whatIf, unreadReasons),
    );
  return {
    overview,
    ...(whatIf && { whatIf: { ...whatIf.sum, choice: whatIf.name } }),
    leftOut: problems.length,
    problems: problems.slice(0, MAX_REPORTED_PROBLEMS),
  };
}

async function computeWhatIfForSessions(
  sessions: readonly SessionAccount[],
  { provider, config, threshold, cache, version }: NonNullable<AccountTask['with']>,
  { sinceDay }: AccountTask,
  tokens: () => Promise<TokenCounter>,
  onProgress: ReportProgress,
  signal: AbortSignal,
): Promise<WhatIfSum> {
  const recentSessions = selectSessionsUsedSince(sessions, sinceDay);
  const savings = await simulateSessionSavings(
    recentSessions,
    { provider, config, threshold },
    { cache, version, signal },
    tokens,
    (done, all) => {
      onProgress({ step: `Making sessions again: ${done} of ${all}`, whatIf: { done, all } });
    },
  );
  return sumSessionSavings(recentSessions, savings, sinceDay);
}

function formatAccountFile(
  { form, by, version, days }: NonNullable<AccountTask['file']>,
  sessions: readonly SessionAccount[],
  overview: AccountOverview,
  whatIf: AccountPageOptions['whatIf'],
  unreadReasons: readonly string[],
): string {
  switch (form) {
    case 'html':
      return renderAccountPage(overview, { version, days, whatIf });
    // Secrets are masked, because the user may share the file.
    case 'json':
      return renderAccountJson(maskValue(sessions), by, maskValue(unreadReasons));
    case 'csv':
      return renderAccountCsv(maskValue(sessions), by, maskValue(unreadReasons));
  }
}
