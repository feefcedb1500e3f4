import { makeChangeExcerpt } from '../../core/condense/edits/changeExcerpt';
import { applyEdits } from '../../core/condense/edits/applyEdits';
import type { View } from '../../core/condense/edits/view';
import type { Edit } from '../../core/condense/edits/edits';
import { getMessageOutcomes } from '../../core/condense/edits/outcomes';
import { describeEditChanges, type EditChange } from '../../core/condense/report/editChanges';
import { isOperation, OPERATIONS } from '../../core/condense/edits/operations';
import { renderMessageBodies } from '../../core/messages/render';
import type { ApiMessage } from '../../core/messages/types';
import type { MessageCounter } from '../../core/tokens/messageCounter';
import type { ConversationEstimate, PreviewEstimator } from './estimator';
import type { PreviewConversation } from './conversationStore';
import type {
  EditExcerpt,
  MessageCell,
  PreviewResult,
  ComparedSetupResult,
  PassStepsResult,
  PreviewSetup,
  PreviewRequest,
  PassSelectionResult,
} from './messages';
import { measureCoherence, type CoherenceReport } from '../../core/condense/coherence/coherence';
import { measureCodeLineRetention } from '../../core/condense/futureNeed/codeLines';
import { Draft } from '../../core/condense/draft/draft';
import { resolveSmartConfig } from '../../core/condense/providers/smart';
import type { SmartConfig } from '../../core/condense/providers/smart/config';
import type { Pass } from '../../core/condense/providers/smart/passSchema';
import { listStepNames } from '../../core/condense/providers/smart/run';
import { createItemLookup } from '../../core/condense/providers/smart/items';
import { selectContentOfPass } from '../../core/condense/providers/smart/selection';
import { makeToolTable } from '../../core/messages/tools';

const MAX_FIRST_WORDS_CHARS = 80;
const MAX_SHOWN_EDITS = 12;

export function buildPreviewResult(
  conversation: PreviewConversation,
  estimate: ConversationEstimate,
  counter: MessageCounter,
): PreviewResult {
  const { edits, view, pinned, ...otherFields } = estimate;
  const firstEdits = edits.toSorted((a, b) => getMessageIndex(a) - getMessageIndex(b)).slice(0, MAX_SHOWN_EDITS);
  return {
    ...otherFields,
    title: conversation.title,
    ...getLastAnsweringModel(conversation),
    cells: listMessageCells(conversation, edits, view, counter),
    edits: describeEditChanges(conversation.messages, conversation.edits, firstEdits).map(makeEditExcerpt),
    editCount: edits.length,
    pinned: [...pinned],
    savedPins: [...conversation.pinned],
  };
}

/** Returns the model's name that the agent recorded with the last answer. */
function getLastAnsweringModel({ messages }: PreviewConversation): { readonly model?: string } {
  const model = messages.findLast(({ model: noted }) => typeof noted === 'string')?.['model'];
  return typeof model === 'string' ? { model } : {};
}

const getMessageIndex = (edit: Edit): number => (edit.kind === 'summary' ? edit.start : edit.place.message);

function listMessageCells(
  { messages, edits: activeEdits }: PreviewConversation,
  edits: readonly Edit[],
  view: View,
  counter: MessageCounter,
): MessageCell[] {
  const outcomes = getMessageOutcomes(messages, [...activeEdits, ...edits]);
  const tokensBeforeByMessage = countTokensByOrigin(applyEdits(messages, activeEdits), counter);
  const tokensAfterByMessage = countTokensByOrigin(view, counter);
  return messages.map((message, index) => ({
    role: message.role,
    outcome: outcomes[index] ?? 'kept',
    tokensBefore: tokensBeforeByMessage.get(index) ?? 0,
    tokensAfter: tokensAfterByMessage.get(index) ?? 0,
    words: getFirstWords(message, messages[index - 1]),
  }));
}

/**
 * Tokens in the view, by index of the original message. Messages inside a summary have no entry.
 */
const countTokensByOrigin = ({ messages, origins }: View, counter: MessageCounter): Map<number, number> =>
  new Map(messages.map((message, at) => [origins[at] ?? at, counter.countMessage(message)]));

const firstWordsByMessage = new WeakMap<ApiMessage, string>();

/** @param previousMessage names the tools of the results in `message` */
function getFirstWords(message: ApiMessage, previousMessage: ApiMessage | undefined): string {
  const cachedWords = firstWordsByMessage.get(message);
  if (cachedWords !== undefined) return cachedWords;
  const [body = ''] = renderMessageBodies([message], previousMessage ? [previousMessage] : []);
  const text = extractFirstWords(body);
  const firstWords =
    text.length <= MAX_FIRST_WORDS_CHARS ? text : `${text.slice(0, MAX_FIRST_WORDS_CHARS - 1).toWellFormed()}…`;
  firstWordsByMessage.set(message, firstWords);
  return firstWords;
}

/** Reads only the beginning, since the text may be long. */
function extractFirstWords(text: string): string {
  for (let chars = 2 * MAX_FIRST_WORDS_CHARS; ; chars *= 2) {
    const firstWords = text.slice(0, chars).replace(/\s+/g, ' ').trim();
    if (firstWords.length > MAX_FIRST_WORDS_CHARS || chars >= text.length) return firstWords;
  }
}

function makeEditExcerpt({ message, step, operation, reason, ...edit }: EditChange): EditExcerpt {
  const { before, after, tokensBefore, tokensAfter } = edit;
  const isWrittenByModel = isOperation(operation) && OPERATIONS[operation].callsModel;
  const excerpt = isWrittenByModel ? { ...makeChangeExcerpt(before, ''), after: '' } : makeChangeExcerpt(before, after);
  return { message, step, reason, ...excerpt, tokensBefore, tokensAfter, isWritten: isWrittenByModel };
}

/**
 * Text that a model would write is unknown, so facts that only it could contain count as missing.
 */
export const measurePreviewCoherence = (conversation: PreviewConversation, edits: readonly Edit[]): CoherenceReport =>
  measureCoherence(conversation.messages, [...conversation.edits, ...edits]);

function countLostFacts(report: CoherenceReport): ComparedSetupResult['facts'] {
  let allFacts = 0;
  let lostFacts = 0;
  for (const kind of Object.values(report)) {
    allFacts += kind.kept + kind.recallable + kind.lost;
    lostFacts += kind.lost;
  }
  return { all: allFacts, lost: lostFacts };
}

/**
 * Text that a model would write is unknown, so lines that only it could contain count as missing.
 * @throws NoSummarizerError, the signal's reason
 */
export async function previewComparedSetup(
  conversation: PreviewConversation,
  setup: PreviewSetup,
  estimator: PreviewEstimator,
  signal: AbortSignal,
): Promise<ComparedSetupResult> {
  const estimate = await estimator.estimateCondensation(conversation, { setup, excluded: [] }, signal);
  const { tokensBefore, tokensAfter, targetTokens, cost, costRange, callTokens, confidence, calls, timeMs } = estimate;
  const facts = countLostFacts(measurePreviewCoherence(conversation, estimate.edits));
  const retention = await measureCodeLineRetention(conversation.messages, async (prefix) => {
    const beginning: PreviewConversation = { ...conversation, messages: prefix, edits: [] };
    const { edits } = await estimator.estimateCondensation(beginning, { setup, excluded: [] }, signal);
    return applyEdits(prefix, edits);
  });
  return {
    title: conversation.title,
    tokensBefore,
    tokensAfter,
    targetTokens,
    ...(cost !== undefined && { cost }),
    ...(costRange && { costRange }),
    ...(callTokens && { callTokens }),
    ...(confidence && { confidence }),
    calls,
    timeMs,
    facts,
    retention,
  };
}

/** @throws Error if the configuration has no such pass or is invalid */
function findConfiguredPass(
  { config, presets }: PreviewSetup,
  index: number,
): { readonly config: SmartConfig; readonly pass: Pass } {
  const resolvedConfig = resolveSmartConfig(config, presets);
  if (!resolvedConfig.valid) {
    throw new Error(resolvedConfig.problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
  }
  const pass = resolvedConfig.config.passes[index];
  if (!pass) throw new Error('This pass no longer exists.');
  return { config: resolvedConfig.config, pass };
}

/**
 * Runs the pass after the previous passes and until the target is reached.
 * @throws NoSummarizerError, the signal's reason, and as {@link computePassSelection}
 */
export async function computePassSteps(
  conversation: PreviewConversation,
  { setup, pass: index }: Extract<PreviewRequest, { kind: 'pass' }>,
  estimator: PreviewEstimator,
  signal: AbortSignal,
): Promise<PassStepsResult> {
  const { config, pass } = findConfiguredPass(setup, index);
  if (!pass.enabled) return { title: conversation.title, steps: [] };
  const { steps } = await estimator.estimateCondensation(conversation, { setup, excluded: [] }, signal);
  const [name] = listStepNames(config).slice(config.passes.slice(0, index).filter(({ enabled }) => enabled).length);
  return { title: conversation.title, steps: steps.filter((step) => step.name === name) };
}

/** @throws Error if the configuration has no such pass or is invalid */
export function computePassSelection(
  { title, messages, edits }: PreviewConversation,
  { setup, pass: index }: Extract<PreviewRequest, { kind: 'selection' }>,
  counter: MessageCounter,
): PassSelectionResult {
  const { config, pass } = findConfiguredPass(setup, index);
  const draft = new Draft(messages, counter, edits);
  const tools = makeToolTable(config.losslessPrelude.operations.tools);
  const { zone, isSelected: has } = selectContentOfPass(draft, pass.selection, tools);
  const items = createItemLookup(draft);
  const isSelectedByMessage = messages.map(
    (_, message) => message > draft.task && message >= zone.start && message < zone.end && items(message).some(has),
  );
  return { title, taken: isSelectedByMessage };
}
