/** Condenses single contents, oldest first. */
import type { Draft } from '../../draft/draft';
import { makePlaceKey } from '../../edits/edits';
import { createOutlineStep } from '../../outline/outline';
import type { PipelineStep, StepReporter } from '../../draft/steps';
import { NoSummarizerError } from '../../summarizer';
import { OPERATIONS, type ConversationOperation } from '../../edits/operations';
import type { ToolTable } from '../../../messages/tools';
import type { ContentOperation, OperationNamed } from './operationSchema';
import { getOperations, type IndividualPass } from './passSchema';
import { requestSummaries, estimateContentCall, type ContentReply } from './contentCalls';
import { createSummaryJob, createSummaryCuts, type SummaryJob } from './contentJob';
import { createItemLookup, type ContentItem } from './items';
import type { PassDependencies } from './passParts';
import { createProtectedItemTest } from './protection';
import { applyCutRequests, suppressItem, truncateItem, type PlacedCutRequest } from './requests';
import { pruneItems } from './prune';
import { selectContentOfPass } from './selection';

/** Outlines and prunes first, and summarizes last. */
export const createIndividualStep = (
  name: string,
  pass: IndividualPass,
  dependencies: PassDependencies,
): PipelineStep => ({
  name,
  async run(draft, _signal, report) {
    const operations = getOperations(pass).map(({ operation }) => operation);
    const selectOperation = createOperationLookup(draft, pass, dependencies);
    for (const [operation, run] of Object.entries(RUN_BY_CONVERSATION_OPERATION))
      if (operations.some((one) => one === operation)) await run(name, draft, dependencies, selectOperation);
    if (!operations.some((one) => OPERATIONS[one].worksOn === 'content')) return;
    const jobs = await editItemsFromOldest(name, draft, dependencies, selectOperation);
    if (jobs.length > 0) await summarizeItems(name, draft, jobs, dependencies, report);
  },
});

type SelectItemOperation = (item: ContentItem) => ContentOperation;

type RunOperationOnConversation = (
  name: string,
  draft: Draft,
  dependencies: PassDependencies,
  selectOperation: SelectItemOperation,
) => void | Promise<void>;

/** In the order in which they run: an outline says more than what pruning leaves of a file. */
const RUN_BY_CONVERSATION_OPERATION: Readonly<Record<ConversationOperation, RunOperationOnConversation>> = {
  outline: outlineItems,
  thin: (name, draft, parts, selectOperation) =>
    pruneItems(name, draft, parts, (item) => selectOperation(item).operation === 'thin', parts.calls.signal),
};

const KEEP_OPERATION: ContentOperation = { operation: 'keep' };
/** About the size of a marker; condensing a smaller item saves nothing. */
const MIN_ITEM_TOKENS = 16;

function createOperationLookup(
  draft: Draft,
  pass: IndividualPass,
  dependencies: PassDependencies,
): SelectItemOperation {
  const { config, tools, context } = dependencies;
  const { defaults, overrides, messageTokenThresholds } = pass.individualConfig;
  const { zone, isSelected } = selectContentOfPass(draft, pass.selection, tools);
  const isProtected = createProtectedItemTest({ draft, config, pass, tools, pinned: context.pinned ?? new Set() });
  const overrideByMessage = new Map(overrides.map(({ messageIndex, operations: changed }) => [messageIndex, changed]));
  return (item) => {
    const { type, message, tokens } = item;
    const operation = overrideByMessage.get(message)?.[type] ?? defaults[type];
    const isOutsideSelection =
      message < zone.start || message >= zone.end || tokens < (messageTokenThresholds[type] ?? MIN_ITEM_TOKENS);
    return operation.operation === 'keep' || isOutsideSelection || !isSelected(item) || isProtected(item)
      ? KEEP_OPERATION
      : operation;
  };
}

function outlineItems(
  name: string,
  draft: Draft,
  { tools, targetTokens }: PassDependencies,
  selectOperation: SelectItemOperation,
): void {
  const items = createItemLookup(draft);
  const operationByPlace = new Map<string, OperationNamed<'outline'>>();
  for (let message = draft.task + 1; message < draft.messages.length; message++) {
    for (const item of items(message)) {
      const operation = selectOperation(item);
      if (operation.operation !== 'outline') continue;
      for (const { path } of item.contents) operationByPlace.set(makePlaceKey({ message, path }), operation);
    }
  }
  for (const operation of new Set(operationByPlace.values())) {
    const { coldTurns, keepDeclarations, contextLines } = operation;
    const step = createOutlineStep(name, {
      coldTurns,
      keepDeclarations,
      contextLines,
      minimumTokens: MIN_ITEM_TOKENS,
      targetTokens,
      mayTouch: (content) => operationByPlace.get(makePlaceKey(content)) === operation,
      tools,
    });
    step.run(draft);
  }
}

/** A message's cuts refer to its current text, so all of them wait for the message's summaries. */
interface ItemAwaitingSummary {
  readonly requests: readonly PlacedCutRequest[];
  readonly jobs: readonly SummaryJob[];
}

async function editItemsFromOldest(
  name: string,
  draft: Draft,
  dependencies: PassDependencies,
  selectOperation: SelectItemOperation,
): Promise<ItemAwaitingSummary[]> {
  const items = createItemLookup(draft);
  const { targetTokens = -1, tools } = dependencies;
  const waitingItems: ItemAwaitingSummary[] = [];
  let expectedSaving = 0;
  for (let message = draft.task + 1; message < draft.messages.length; message++) {
    if (draft.tokens - expectedSaving <= targetTokens) break;
    const requests: PlacedCutRequest[] = [];
    const jobs: SummaryJob[] = [];
    for (const item of items(message)) {
      const operation = selectOperation(item);
      const { cuts = [], job } = planItemEdits(item, operation, draft, tools);
      requests.push(...cuts);
      if (!job) continue;
      jobs.push(job);
      expectedSaving += await estimateTokensSavedBySummary(job, dependencies);
    }
    if (jobs.length > 0) waitingItems.push({ requests, jobs });
    else {
      applyCutRequests(name, draft, requests);
    }
  }
  return waitingItems;
}

interface PlannedItemEdits {
  readonly cuts?: readonly PlacedCutRequest[];
  readonly job?: SummaryJob | undefined;
}

function planItemEdits(
  item: ContentItem,
  operation: ContentOperation,
  { counter }: Draft,
  tools: ToolTable,
): PlannedItemEdits {
  switch (operation.operation) {
    case 'suppress':
      return { cuts: suppressItem(item, operation) };
    case 'truncate':
      return { cuts: truncateItem(item, operation, tools) };
    case 'summarize':
      return { job: createSummaryJob(item, operation, counter) };
    case 'keep':
    // Operations on the whole conversation have already run.
    case 'outline':
    case 'thin':
      return {};
  }
}

const ASSUMED_MARKER_TOKENS = 25;

async function estimateTokensSavedBySummary(job: SummaryJob, { calls }: PassDependencies): Promise<number> {
  const selectedSummarizer = await calls.models.selectSummarizer(job.operation.apiProfile);
  const summary =
    selectedSummarizer instanceof NoSummarizerError
      ? job.operation.maxTokens
      : estimateContentCall(job, selectedSummarizer.summarizer.model, calls).summaryTokens;
  return Math.max(0, job.tokens - summary - ASSUMED_MARKER_TOKENS);
}

async function summarizeItems(
  name: string,
  draft: Draft,
  waitingItems: readonly ItemAwaitingSummary[],
  dependencies: PassDependencies,
  report?: StepReporter,
): Promise<void> {
  const jobs = waitingItems.flatMap((message) => message.jobs);
  const showCall = (done: number): void => {
    report?.(`call ${Math.min(done + 1, jobs.length)} of ${jobs.length}`);
  };
  showCall(0);
  const replies = await requestSummaries(jobs, dependencies.calls, dependencies.onCall, showCall);
  const replyByJob = new Map(jobs.map((job, index) => [job, replies[index]]));
  for (const waitingItem of waitingItems) {
    const requests = waitingItem.jobs.flatMap((job) =>
      makeCutRequestsFromReply(job, replyByJob.get(job), dependencies),
    );
    applyCutRequests(name, draft, [...waitingItem.requests, ...requests]);
  }
  reportMissingSummaries(replies, dependencies);
}

/** Uses the operation's fallback if there is no summary. */
function makeCutRequestsFromReply(
  job: SummaryJob,
  reply: ContentReply | undefined,
  { tools }: PassDependencies,
): PlacedCutRequest[] {
  if (reply?.kind === 'summary') return createSummaryCuts(job, reply.text);
  const { onFailure, maxTokens } = job.operation;
  if (onFailure === 'keep') return [];
  const limits = {
    maxChars: maxTokens * CHARS_PER_TOKEN,
    maxLines: undefined,
    keep: 'both',
    keepErrorLines: true,
  } as const;
  return truncateItem({ ...job.item, contents: job.contents }, limits, tools);
}

const CHARS_PER_TOKEN = 4;

function reportMissingSummaries(replies: readonly ContentReply[], { onNote }: PassDependencies): void {
  const countByReason = new Map<string, number>();
  for (const reply of replies) {
    if (reply.kind !== 'summary') countByReason.set(reply.reason, (countByReason.get(reply.reason) ?? 0) + 1);
  }
  for (const [reason, count] of countByReason) {
    onNote(`${count} of ${replies.length} summaries were not written: ${reason} Their content was truncated or kept.`);
  }
}
