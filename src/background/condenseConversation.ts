import { computeSavingPerRequest } from '../account/savedPerRequest';
import type { Conversation } from '../conversations/types';
import { NoSummarizerError } from '../core/condense/summarizer';
import { ProviderFailure, type FailureAdvice } from '../core/condense/types';
import {
  condenseWithFallback,
  type CondensationManager,
  type CondensationOutcome,
  type CondensationRequest,
} from '../core/condense';
import type { CondensationId } from '../core/condense/ledger/ledger';
import { createRunMetrics, type RunMetrics, type RunContext } from '../core/condense/metrics/metrics';
import { formatOutcomeReport } from '../core/condense/report/report';
import { getPinnedIndexes } from '../core/condense/ledger/pins';
import { applyEdits } from '../core/condense/edits/applyEdits';
import { renderDiffOfViews } from '../core/condense/report/foldedTexts';
import { collectReferencedTexts } from '../core/condense/edits/references';
import { measureCoherence } from '../core/condense/coherence/coherence';
import { excludeEditsOfMessages } from '../core/condense/report/editChanges';
import { getNoteText, listDamage } from '../conversations/notes';
import { getErrorMessage } from '../core/errors';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { openLedger } from '../storage/ledgerStore';
import { describePruneResult, pruneLedgers } from '../storage/prune';
import { recordCondensation } from '../storage/recordCondensation';
import { getRecordedSystemAndVendor } from './knownFacts';
import type { CondenseTask, TaskProgress } from './tasks';
import type { CondensedResult, ConversationSummary, NotCondensedResult } from './taskResults';

export interface CondenseConversationDependencies {
  readonly manager: CondensationManager;
  readonly counter: MessageCounter;
  readonly onProgress: (progress: TaskProgress) => void;
  readonly signal?: AbortSignal;
  /** Maximum US dollars that the condensation may cost. */
  readonly maxCost?: number;
}

export interface CondenseConversationResult {
  readonly result: CondensedResult | NotCondensedResult;
  readonly outcome: CondensationOutcome;
}

/**
 * Stores originals and the ledger entry before returning.
 * @throws the signal's reason if aborted; StorageError
 */
export async function condenseConversation(
  conversation: Conversation,
  task: Omit<CondenseTask, 'kind'>,
  { manager, counter, onProgress, signal, maxCost }: CondenseConversationDependencies,
): Promise<CondenseConversationResult> {
  onProgress({ step: 'Counting its tokens' });
  const historyTokens = counter.countMessages(conversation.messages);
  const targetTokens = Math.ceil((historyTokens * task.targetPercent) / 100);
  const pinnedIndexes = await readPinnedIndexes(conversation, task.store);
  const request: CondensationRequest = {
    conversation: conversation.id,
    messages: conversation.messages,
    provider: task.provider,
    config: task.config,
    configName: task.configName,
    trigger: 'manual',
    targetTokens,
    ...getRecordedSystemAndVendor(conversation),
    ...(pinnedIndexes.size > 0 && { pinned: pinnedIndexes }),
    ...(signal && { signal }),
    ...(maxCost !== undefined && { maxCost }),
    ...(task.coherenceFloor && { coherenceFloor: task.coherenceFloor }),
    // The preset's name precedes the step, because its passes may have the names of providers.
    onProgress: ({ step }) => {
      if (step !== '') onProgress({ step: task.configName === undefined ? step : `${task.configName}: ${step}` });
    },
  };
  // If the provider fails, no paid one is tried next: a user who condenses manually can decide
  // that.
  const fallbackOutcome = await condenseWithFallback(manager, request, { mayUseNative: false });
  const outcome = dropExcludedEdits(conversation, fallbackOutcome, new Set(task.excluded), counter);
  const saving = outcome.kind === 'condensed' ? await computeCondensationSaving(conversation, task, outcome) : {};
  const changesReport = formatOutcomeReport(outcome, (id) => manager.getProviderDisplayName(id), {
    targetTokens,
    ...saving,
  });
  const report = [changesReport, ...conversation.notes.map((note) => ` - Note: ${getNoteText(note)}`)].join('\n');
  const summary = summarizeConversation(conversation, task.path);
  const makeMetrics = (context: RunContext): RunMetrics =>
    createRunMetrics(outcome, task.provider, new Date(), { trigger: 'by-hand', ...saving, ...context });
  if (outcome.kind !== 'condensed') {
    signal?.throwIfAborted();
    const reason = outcome.kind === 'unchanged' ? outcome.reason : outcome.kind;
    const metrics = makeMetrics({});
    const advice = outcome.kind === 'failed' ? findFailureAdvice(outcome.error) : undefined;
    const result = { kind: 'not-condensed', reason, conversation: summary, report, metrics } as const;
    return { outcome, result: advice ? { ...result, advice } : result };
  }
  const runContext: { condensation?: CondensationId } = {};
  if (!task.isPreview) {
    onProgress({ step: 'Keeping the originals' });
    const { ledger } = await recordCondensation(task.store, conversation, task.path, outcome, new Date());
    const id = ledger.condensations.at(-1)?.id;
    if (id !== undefined) runContext.condensation = id;
  }
  const { provider, configNames, alsoBy, steps, tokensBefore, tokensAfter, cost, timeMs } = outcome;
  const damageNotes = listDamage(conversation.notes);
  const notes = [
    ...outcome.notes,
    ...damageNotes,
    ...(task.isPreview ? [] : await pruneLedgerStore(task.store, conversation.id)),
  ];
  const result: CondensedResult = {
    kind: 'condensed',
    conversation: summary,
    provider,
    ...(configNames && { configNames }),
    ...(alsoBy && { alsoBy }),
    steps,
    tokensBefore,
    tokensAfter,
    targetTokens,
    edits: outcome.edits.length,
    cost,
    ...saving,
    timeMs,
    notes,
    report,
    metrics: makeMetrics(runContext),
    ...renderDiffOfViews(applyEdits(conversation.messages, outcome.edits), undefined, task.isPreview),
    ...(task.isPreview && { originals: collectReferencedTexts(conversation.messages, outcome.edits) }),
  };
  return { outcome, result };
}

function findFailureAdvice(error: Error): FailureAdvice | undefined {
  if (error instanceof NoSummarizerError) return { canRetry: false, offerOtherProfile: true };
  return error instanceof ProviderFailure ? error.advice : undefined;
}

/**
 * US dollars saved per later request; undefined if unknown. Errors are ignored, so that they don't
 * fail the condensation.
 */
async function computeCondensationSaving(
  conversation: Conversation,
  task: Pick<CondenseTask, 'path' | 'agent'>,
  change: { readonly tokensBefore: number; readonly tokensAfter: number },
): Promise<{ readonly savedPerRequest?: number }> {
  try {
    const savedPerRequest = await computeSavingPerRequest(conversation, task, change);
    return savedPerRequest === undefined ? {} : { savedPerRequest };
  } catch {
    return {};
  }
}

/**
 * Drops the edits of excluded messages. Refuses the condensation if remaining edits depend on them.
 */
function dropExcludedEdits(
  { messages }: Conversation,
  outcome: CondensationOutcome,
  excludedMessages: ReadonlySet<number>,
  counter: MessageCounter,
): CondensationOutcome {
  if (outcome.kind !== 'condensed' || excludedMessages.size === 0) return outcome;
  const { edits, tokensAfter, violations } = excludeEditsOfMessages(
    messages,
    [],
    outcome.edits,
    excludedMessages,
    counter,
  );
  if (violations.length > 0) return { ...outcome, kind: 'refused', violations };
  const coherence = measureCoherence(messages, edits);
  return { ...outcome, edits, tokensAfter, view: applyEdits(messages, edits).messages, coherence };
}

/**
 * Sets old ledgers aside.
 * @returns what was done, or why it failed; the condensation is valid either way
 */
async function pruneLedgerStore(store: string, inUse: string): Promise<readonly string[]> {
  try {
    const description = describePruneResult(await pruneLedgers(store, { now: new Date(), inUse: [inUse] }));
    return description === undefined ? [] : [description];
  } catch (error) {
    return [getErrorMessage(error)];
  }
}

async function readPinnedIndexes({ id, messages }: Conversation, store: string): Promise<ReadonlySet<number>> {
  return getPinnedIndexes((await openLedger(store, { id })).ledger.pinned, messages);
}

export const summarizeConversation = ({ id, title, format }: Conversation, path: string): ConversationSummary => ({
  id,
  title,
  format,
  path,
});
