import { readConversationFile } from '../conversations/readFile';
import type { Conversation } from '../conversations/types';
import { CondensationManager, losslessProvider, truncationProvider, type CondensationOutcome } from '../core/condense';
import { undo as undoEntry } from '../core/condense/ledger';
import { formatReport } from '../core/condense/report';
import { renderConversation } from '../core/messages/render';
import { MessageCounter } from '../core/tokens/messageCounter';
import type { TokenCounter } from '../core/tokens/types';
import { openLedger } from '../storage/ledgerStore';
import { recordCondensation } from '../storage/recordCondensation';
import type {
  CondensedResult,
  CondenseTask,
  ConversationSummary,
  CountedConversation,
  CountTask,
  NotCondensedResult,
  Task,
  TaskProgress,
  UndoResult,
  UndoTask,
} from './tasks';

type Tell = (progress: TaskProgress) => void;

/** Does a task, in the worker. Reading is synchronous here: the thread has nothing else to do. */
export async function perform(task: Task, tokens: () => Promise<TokenCounter>, tell: Tell): Promise<unknown> {
  switch (task.kind) {
    case 'condense':
      return condense(task, new MessageCounter(await tokens()), tell);
    case 'undo':
      return undo(task);
    case 'count':
      return count(task, new MessageCounter(await tokens()), tell);
  }
}

async function condense(
  task: CondenseTask,
  counter: MessageCounter,
  tell: Tell,
): Promise<CondensedResult | NotCondensedResult> {
  tell({ step: 'Reading the conversation' });
  const conversation = readConversationFile(task.path, { history: task.history });
  tell({ step: 'Counting its tokens' });
  const before = counter.messages(conversation.messages);
  const targetTokens = Math.ceil((before * task.targetPercent) / 100);
  const manager = new CondensationManager(counter, [losslessProvider, truncationProvider]);
  const outcome = await manager.condense({
    conversation: conversation.id,
    messages: conversation.messages,
    provider: task.provider,
    config: task.config,
    trigger: 'manual',
    targetTokens,
    onProgress: ({ step }) => {
      if (step !== '') tell({ step });
    },
  });
  const report = reportOf(manager, outcome);
  const summary = summaryOf(conversation, task.path);
  if (outcome.kind !== 'condensed') return notCondensed(outcome, summary, report);
  tell({ step: 'Keeping the originals' });
  await recordCondensation(task.store, conversation, task.path, outcome, new Date());
  const { provider, steps, tokensBefore, tokensAfter, cost, timeMs, notes } = outcome;
  return {
    kind: 'condensed',
    conversation: summary,
    provider,
    steps,
    tokensBefore,
    tokensAfter,
    targetTokens,
    edits: outcome.edits.length,
    cost,
    timeMs,
    notes,
    report,
    before: renderConversation(conversation.messages),
    after: renderConversation(outcome.view),
    json: `${JSON.stringify({ ...conversation.request, messages: outcome.view })}\n`,
  };
}

function reportOf(manager: CondensationManager, outcome: CondensationOutcome): string {
  const provider = manager.listProviders().find(({ id }) => id === outcome.provider);
  if (!provider) throw new Error(`no provider ${outcome.provider}`);
  return formatReport(outcome, provider);
}

const summaryOf = ({ id, title, format }: Conversation, path: string): ConversationSummary => ({
  id,
  title,
  format,
  path,
});

function notCondensed(
  outcome: Exclude<CondensationOutcome, { kind: 'condensed' }>,
  conversation: ConversationSummary,
  report: string,
): NotCondensedResult {
  // The worker is never told of a cancel: the host ends its thread.
  if (outcome.kind === 'cancelled') throw new Error('cancelled');
  const reason = outcome.kind === 'unchanged' ? outcome.reason : outcome.kind;
  return { kind: 'not-condensed', reason, conversation, report };
}

async function undo(task: UndoTask): Promise<UndoResult> {
  const ledger = await openLedger(task.store, { id: task.conversation });
  const entry = undoEntry(ledger.ledger);
  if (entry?.type !== 'undone') return { undone: undefined };
  const last = ledger.ledger.condensations.find(({ id }) => id === entry.condensation);
  await ledger.append(entry, new Map());
  return { undone: last && { provider: last.provider, edits: last.edits.length } };
}

async function count(task: CountTask, counter: MessageCounter, tell: Tell): Promise<null> {
  for (const path of task.paths) {
    tell({ step: 'Counting tokens', counted: { path, content: countFile(path, task, counter) } });
    // One turn of the loop, so that the message goes out before the next file.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return null;
}

/** A file that can't be read has no count; what is wrong with it is told when it is picked. */
function countFile(path: string, { history }: CountTask, counter: MessageCounter): CountedConversation['content'] {
  try {
    const { title, messages } = readConversationFile(path, { history, tornTail: 'drop' });
    return { title, tokens: counter.messages(messages) };
  } catch {
    return undefined;
  }
}
