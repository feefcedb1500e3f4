/** State of the preview worker: answers questions in order and reuses earlier results. */
import { CondensationManager, createProviders } from '../../core/condense';
import { applyEdits } from '../../core/condense/edits/applyEdits';
import { referencedTexts } from '../../core/condense/edits/references';
import type { SummaryMemo, SelectModel } from '../../core/condense/providers/smart/passParts';
import { betweenSteps } from '../../core/betweenSteps';
import type { CoherenceReport } from '../../core/condense/coherence/coherence';
import { compareViews } from '../../core/condense/report/foldedTexts';
import type { MessageCounter } from '../../core/tokens/messageCounter';
import { StoredSummaries } from '../../storage/summaries';
import { coherenceWith, compare, forecastResult, computePassSteps, computeSelection } from './answers';
import { Forecasts, type MadeForecast } from './forecast';
import { HeldConversations, type PreviewConversation } from './held';
import type {
  LiveUpdate,
  ForecastAnswer,
  ForecastQuestion,
  ForecastRequest,
  ForecastSetup,
  ForecastTexts,
  ForecastModel,
} from './messages';
import { isDeepStrictEqual } from 'node:util';
import type { OutputSample } from '../../core/condense/summary/expectedOutput';
import { NoSummarizerError, type SummarizerModel } from '../../core/condense/summarizer';

export class ForecastSession {
  private readonly held = new HeldConversations();
  private readonly models = new PlannedModels();
  private readonly forecasts: Forecasts;
  private readonly shown: ShownForecast;
  private setup: ForecastSetup | undefined;
  /** Previews store no paid summaries. */
  private readonly paid: SummaryMemo = {
    get: async (key) => (this.setup ? new StoredSummaries(this.setup.summaries).get(key) : undefined),
    set: () => Promise.resolve(),
  };
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly counter: MessageCounter) {
    const { select, samples } = this.models;
    const providers = createProviders({ select, samples, presets: () => this.setup?.presets ?? [], memo: this.paid });
    this.forecasts = new Forecasts(new CondensationManager(counter, providers), counter);
    this.shown = new ShownForecast(this.forecasts);
  }

  /** Updates a live conversation; later questions refer to the updated state. */
  update(id: string, update: LiveUpdate): void {
    this.held.update(id, update);
  }

  /**
   * Resolves after earlier questions are answered or canceled.
   * @throws ConversationReadError, NoSummarizerError, the signal's reason if aborted
   */
  ask<R extends ForecastRequest>(request: R, signal: AbortSignal): Promise<ForecastAnswer<R>> {
    const answer = this.queue.then(async () => {
      signal.throwIfAborted();
      this.setup = request.setup;
      this.models.models = request.setup.models;
      // Each request kind has its own answer type.
      return (await this.answer(request, signal)) as ForecastAnswer<R>;
    });
    this.queue = answer.catch(() => undefined);
    return answer;
  }

  private async coherence(
    held: PreviewConversation,
    request: Extract<ForecastRequest, { kind: 'coherence' }>,
    signal: AbortSignal,
  ): Promise<CoherenceReport> {
    const { edits } = await this.shown.about(held, request, signal);
    await betweenSteps(signal);
    return coherenceWith(held, edits);
  }

  private async answer(request: ForecastRequest, signal: AbortSignal): Promise<ForecastAnswer<ForecastRequest>> {
    const held = await this.held.open(request.conversation);
    switch (request.kind) {
      case 'preview':
        return forecastResult(held, await this.shown.show(held, request, signal), this.counter);
      case 'texts':
        return this.texts(held, request, signal);
      case 'coherence':
        return this.coherence(held, request, signal);
      case 'selection':
        return computeSelection(held, request, this.counter);
      case 'pass':
        return computePassSteps(held, request, this.forecasts, signal);
      case 'compare':
        return compare(held, request.setup, this.forecasts, signal);
    }
  }

  private async texts(
    held: PreviewConversation,
    question: ForecastQuestion,
    signal: AbortSignal,
  ): Promise<ForecastTexts> {
    const { view: then, edits } = await this.shown.about(held, question, signal);
    return {
      conversation: held.id,
      title: held.title,
      ...compareViews(held.messages, then, applyEdits(held.messages, held.edits), true),
      originals: referencedTexts(held.messages, [...held.edits, ...edits]),
    };
  }
}

interface Shown {
  readonly held: PreviewConversation;
  readonly question: ForecastQuestion;
  readonly forecast: MadeForecast;
}

class ShownForecast {
  private shown: Shown | undefined;

  constructor(private readonly forecasts: Forecasts) {}

  /**
   * Recomputes the preview and keeps it.
   * @throws NoSummarizerError, the signal's reason if aborted
   */
  async show(held: PreviewConversation, question: ForecastQuestion, signal: AbortSignal): Promise<MadeForecast> {
    const forecast = await this.forecasts.of(held, question, signal);
    this.shown = { held, question, forecast };
    return forecast;
  }

  /**
   * The kept preview if it answers this question too.
   * @throws as {@link show}
   */
  async about(held: PreviewConversation, question: ForecastQuestion, signal: AbortSignal): Promise<MadeForecast> {
    const { shown } = this;
    if (shown && isSame(shown.held, held) && isSameQuestion(shown.question, question)) return shown.forecast;
    return this.show(held, question, signal);
  }
}

/** The messages array stays identical while its content is unchanged. */
const isSame = (a: PreviewConversation, b: PreviewConversation): boolean =>
  a.id === b.id && a.messages === b.messages && a.edits === b.edits && isDeepStrictEqual(a.pinned, b.pinned);

const isSameQuestion = (a: ForecastQuestion, b: ForecastQuestion): boolean =>
  isDeepStrictEqual([a.setup, a.pinned, a.excluded], [b.setup, b.pinned, b.excluded]);

class PlannedModels {
  /** Models for the current question. */
  models: readonly ForecastModel[] = [];

  /** @throws NoSummarizerError */
  readonly select: SelectModel = (apiProfile) => {
    const found = this.models.find((entry) => entry.apiProfile === apiProfile);
    if (!found) throw new NoSummarizerError('No model is set up for condensing. Add an API profile.');
    if ('problem' in found) throw new NoSummarizerError(found.problem);
    const { model, chosen, warning } = found;
    return { summarizer: { model, summarize: neverCalled }, chosen, ...(warning !== undefined && { warning }) };
  };

  readonly samples = ({ model }: SummarizerModel): readonly OutputSample[] => {
    for (const entry of this.models) if ('model' in entry && entry.model.model === model) return entry.samples;
    return [];
  };
}

const neverCalled = (): never => {
  throw new Error('A preview never calls a model.');
};
