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
import { PreviewConversationStore, type PreviewConversation } from './held';
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
  private readonly held = new PreviewConversationStore();
  private readonly models = new PreviewModels();
  private readonly estimator: PreviewEstimator;
  private readonly shown: LatestPreview;
  private setup: PreviewSetup | undefined;
  /** Previews store no paid summaries. */
  private readonly paid: SummaryCache = {
    get: async (key) => (this.setup ? new StoredSummaries(this.setup.summaries).get(key) : undefined),
    set: () => Promise.resolve(),
  };
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly counter: MessageCounter) {
    const { select, samples } = this.models;
    const providers = createProviders({ select, samples, presets: () => this.setup?.presets ?? [], memo: this.paid });
    this.estimator = new PreviewEstimator(new CondensationManager(counter, providers), counter);
    this.shown = new LatestPreview(this.estimator);
  }

  updateLiveConversation(id: string, update: LiveConversationUpdate): void {
    this.held.updateLiveConversation(id, update);
  }

  /**
   * Resolves after earlier questions are answered or canceled.
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
    held: PreviewConversation,
    request: Extract<PreviewRequest, { kind: 'coherence' }>,
    signal: AbortSignal,
  ): Promise<CoherenceReport> {
    const { edits } = await this.shown.getPreviewFor(held, request, signal);
    await yieldBetweenSteps(signal);
    return measurePreviewCoherence(held, edits);
  }

  private async computeAnswer(request: PreviewRequest, signal: AbortSignal): Promise<PreviewAnswer<PreviewRequest>> {
    const held = await this.held.openConversation(request.conversation);
    switch (request.kind) {
      case 'preview':
        return buildPreviewResult(held, await this.shown.computeAndKeepPreview(held, request, signal), this.counter);
      case 'texts':
        return this.renderDiffTexts(held, request, signal);
      case 'coherence':
        return this.answerCoherenceRequest(held, request, signal);
      case 'selection':
        return computePassSelection(held, request, this.counter);
      case 'pass':
        return computePassSteps(held, request, this.estimator, signal);
      case 'compare':
        return previewComparedSetup(held, request.setup, this.estimator, signal);
    }
  }

  private async renderDiffTexts(
    held: PreviewConversation,
    question: PreviewQuestion,
    signal: AbortSignal,
  ): Promise<PreviewDiffTexts> {
    const { view: then, edits } = await this.shown.getPreviewFor(held, question, signal);
    return {
      conversation: held.id,
      title: held.title,
      ...renderDiffOfViews(then, applyEdits(held.messages, held.edits), true),
      originals: collectReferencedTexts(held.messages, [...held.edits, ...edits]),
    };
  }
}

interface AnsweredQuestion {
  readonly held: PreviewConversation;
  readonly question: PreviewQuestion;
  readonly estimate: ConversationEstimate;
}

class LatestPreview {
  private shown: AnsweredQuestion | undefined;

  constructor(private readonly estimator: PreviewEstimator) {}

  /**
   * Recomputes the preview and keeps it.
   * @throws NoSummarizerError, the signal's reason if aborted
   */
  async computeAndKeepPreview(
    held: PreviewConversation,
    question: PreviewQuestion,
    signal: AbortSignal,
  ): Promise<ConversationEstimate> {
    const estimate = await this.estimator.estimateCondensation(held, question, signal);
    this.shown = { held, question, estimate };
    return estimate;
  }

  /**
   * Returns the kept preview if it answers this question too.
   * @throws as {@link computeAndKeepPreview}
   */
  async getPreviewFor(
    held: PreviewConversation,
    question: PreviewQuestion,
    signal: AbortSignal,
  ): Promise<ConversationEstimate> {
    const { shown } = this;
    if (shown && isSameConversation(shown.held, held) && isSameQuestion(shown.question, question))
      return shown.estimate;
    return this.computeAndKeepPreview(held, question, signal);
  }
}

/** The messages array stays identical while its content is unchanged. */
const isSameConversation = (a: PreviewConversation, b: PreviewConversation): boolean =>
  a.id === b.id && a.messages === b.messages && a.edits === b.edits && isEqual(a.pinned, b.pinned);

const isSameQuestion = (a: PreviewQuestion, b: PreviewQuestion): boolean =>
  isEqual([a.setup, a.pinned, a.excluded], [b.setup, b.pinned, b.excluded]);

class PreviewModels {
  models: readonly PreviewModel[] = [];

  /** @throws NoSummarizerError */
  readonly select: SelectModel = (apiProfile) => {
    const found = this.models.find((entry) => entry.apiProfile === apiProfile);
    if (!found) throw new NoSummarizerError('No model is set up for condensing. Add an API profile.');
    if ('problem' in found) throw new NoSummarizerError(found.problem);
    const { model, chosen, warning } = found;
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
