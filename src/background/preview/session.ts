/** The preview session answers questions in order and reuses earlier results. */
import { CondensationManager, createProviders } from '../../core/condense';
import { applyEdits } from '../../core/condense/edits/applyEdits';
import { collectReferencedTexts } from '../../core/condense/edits/references';
import type { SummaryCache, SelectModel } from '../../core/condense/providers/smart/passParts';
import { yieldBetweenSteps } from '../../core/betweenSteps';
import type { CoherenceReport } from '../../core/condense/coherence/coherence';
import { renderDiffOfViews } from '../../core/condense/report/foldedTexts';
import type { MessageCounter } from '../../core/tokens/messageCounter';
import { StoredSummaries } from '../../storage/summaries';
import {
  measurePreviewCoherence,
  previewComparedSetup,
  buildPreviewResult,
  computePassSteps,
  computePassSelection,
} from './answers';
import { PreviewEstimator, type ConversationEstimate } from './estimator';
import { PreviewConversationStore, type PreviewConversation } from './conversationStore';
import type {
  LiveConversationUpdate,
  PreviewAnswer,
  PreviewQuestion,
  PreviewRequest,
  PreviewSetup,
  PreviewDiffTexts,
  PreviewModel,
} from './messages';
import type { OutputSample } from '../../core/condense/summary/expectedOutput';
import { NoSummarizerError, type SummarizerModel } from '../../core/condense/summarizer';
import { isEqual } from '../../core/isEqual';

export class PreviewSession {
  private readonly conversations = new PreviewConversationStore();
  private readonly models = new PreviewModels();
  private readonly estimator: PreviewEstimator;
  private readonly latestPreview: LatestPreview;
  private setup: PreviewSetup | undefined;
  /** Summaries that were paid for; previews read them and store none. */
  private readonly paidSummaries: SummaryCache = {
    get: async (key) => (this.setup ? new StoredSummaries(this.setup.summaries).get(key) : undefined),
    set: () => Promise.resolve(),
  };
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly counter: MessageCounter) {
    const { select, samples } = this.models;
    const providers = createProviders({
      select,
      samples,
      presets: () => this.setup?.presets ?? [],
      memo: this.paidSummaries,
    });
    this.estimator = new PreviewEstimator(new CondensationManager(counter, providers), counter);
    this.latestPreview = new LatestPreview(this.estimator);
  }

  updateLiveConversation(id: string, update: LiveConversationUpdate): void {
    this.conversations.updateLiveConversation(id, update);
  }

  /**
   * Answers a question after earlier ones were answered or canceled.
   * @throws ConversationReadError, NoSummarizerError, the signal's reason if aborted
   */
  answerPreviewRequest<R extends PreviewRequest>(request: R, signal: AbortSignal): Promise<PreviewAnswer<R>> {
    const answer = this.queue.then(async () => {
      signal.throwIfAborted();
      this.setup = request.setup;
      this.models.models = request.setup.models;
      return (await this.computeAnswer(request, signal)) as PreviewAnswer<R>;
    });
    this.queue = answer.catch(() => undefined);
    return answer;
  }

  private async answerCoherenceRequest(
    conversation: PreviewConversation,
    request: Extract<PreviewRequest, { kind: 'coherence' }>,
    signal: AbortSignal,
  ): Promise<CoherenceReport> {
    const { edits } = await this.latestPreview.getPreviewFor(conversation, request, signal);
    await yieldBetweenSteps(signal);
    return measurePreviewCoherence(conversation, edits);
  }

  private async computeAnswer(request: PreviewRequest, signal: AbortSignal): Promise<PreviewAnswer<PreviewRequest>> {
    const conversation = await this.conversations.openConversation(request.conversation);
    switch (request.kind) {
      case 'preview':
        return buildPreviewResult(
          conversation,
          await this.latestPreview.computeAndKeepPreview(conversation, request, signal),
          this.counter,
        );
      case 'texts':
        return this.renderDiffTexts(conversation, request, signal);
      case 'coherence':
        return this.answerCoherenceRequest(conversation, request, signal);
      case 'selection':
        return computePassSelection(conversation, request, this.counter);
      case 'pass':
        return computePassSteps(conversation, request, this.estimator, signal);
      case 'compare':
        return previewComparedSetup(conversation, request.setup, this.estimator, signal);
    }
  }

  private async renderDiffTexts(
    conversation: PreviewConversation,
    question: PreviewQuestion,
    signal: AbortSignal,
  ): Promise<PreviewDiffTexts> {
    const { view: viewBefore, edits } = await this.latestPreview.getPreviewFor(conversation, question, signal);
    return {
      conversation: conversation.id,
      title: conversation.title,
      ...renderDiffOfViews(viewBefore, applyEdits(conversation.messages, conversation.edits), true),
      originals: collectReferencedTexts(conversation.messages, [...conversation.edits, ...edits]),
    };
  }
}

interface AnsweredPreviewQuestion {
  readonly conversation: PreviewConversation;
  readonly question: PreviewQuestion;
  readonly estimate: ConversationEstimate;
}

class LatestPreview {
  private latestAnswer: AnsweredPreviewQuestion | undefined;
  /**
   * By messages and question, how many milliseconds the first answer took. Later answers are
   * faster, because parts of the first are cached.
   */
  private readonly firstTimesByMessages = new WeakMap<PreviewConversation['messages'], Map<string, number>>();

  constructor(private readonly estimator: PreviewEstimator) {}

  /**
   * Computes the preview anew and keeps it.
   * @throws NoSummarizerError, the signal's reason if aborted
   */
  async computeAndKeepPreview(
    conversation: PreviewConversation,
    question: PreviewQuestion,
    signal: AbortSignal,
  ): Promise<ConversationEstimate> {
    const freshEstimate = await this.estimator.estimateCondensation(conversation, question, signal);
    const estimate = { ...freshEstimate, timeMs: this.recallFirstTime(conversation, question, freshEstimate.timeMs) };
    this.latestAnswer = { conversation, question, estimate };
    return estimate;
  }

  private recallFirstTime(conversation: PreviewConversation, question: PreviewQuestion, timeMs: number): number {
    const { messages } = conversation;
    const timesByKey = this.firstTimesByMessages.get(messages) ?? new Map<string, number>();
    this.firstTimesByMessages.set(messages, timesByKey);
    const key = JSON.stringify([question.setup, question.pinned, question.excluded]);
    const longestTimeMs = Math.max(timeMs, timesByKey.get(key) ?? 0);
    timesByKey.set(key, longestTimeMs);
    return longestTimeMs;
  }

  /**
   * Returns the kept preview if it answers this question too.
   * @throws as {@link computeAndKeepPreview}
   */
  async getPreviewFor(
    conversation: PreviewConversation,
    question: PreviewQuestion,
    signal: AbortSignal,
  ): Promise<ConversationEstimate> {
    const { latestAnswer: shown } = this;
    if (
      shown &&
      isSameConversation(shown.conversation, conversation) &&
      isSamePreviewQuestion(shown.question, question)
    )
      return shown.estimate;
    return this.computeAndKeepPreview(conversation, question, signal);
  }
}

/**
 * Compares by the array of messages, which stays the same object while its content is unchanged.
 */
const isSameConversation = (a: PreviewConversation, b: PreviewConversation): boolean =>
  a.id === b.id && a.messages === b.messages && a.edits === b.edits && isEqual(a.pinned, b.pinned);

const isSamePreviewQuestion = (a: PreviewQuestion, b: PreviewQuestion): boolean =>
  isEqual([a.setup, a.pinned, a.excluded], [b.setup, b.pinned, b.excluded]);

class PreviewModels {
  models: readonly PreviewModel[] = [];

  /** @throws NoSummarizerError */
  readonly select: SelectModel = (apiProfile) => {
    const knownModel = this.models.find((entry) => entry.apiProfile === apiProfile);
    if (!knownModel) throw new NoSummarizerError('No model for summaries is chosen. Add one.');
    if ('problem' in knownModel) throw new NoSummarizerError(knownModel.problem);
    const { model, chosen, warning } = knownModel;
    return { summarizer: { model, summarize: throwModelCallError }, chosen, ...(warning !== undefined && { warning }) };
  };

  readonly samples = ({ model }: SummarizerModel): readonly OutputSample[] => {
    for (const entry of this.models) if ('model' in entry && entry.model.model === model) return entry.samples;
    return [];
  };
}

const throwModelCallError = (): never => {
  throw new Error('A preview never calls a model.');
};
