/** The forecast that is shown: what is asked about it is made of it, and it is not worked out again. */
import { isDeepStrictEqual } from 'node:util';
import type { Forecasts, MadeForecast } from './forecast';
import type { Held } from './held';
import type { ForecastQuestion } from './messages';

interface Shown {
  readonly held: Held;
  readonly question: ForecastQuestion;
  readonly forecast: MadeForecast;
}

export class ShownForecast {
  private shown: Shown | undefined;

  constructor(private readonly forecasts: Forecasts) {}

  /** Works it out anew and keeps it. @throws NoSummarizerError, and the signal's reason where it was aborted */
  async show(held: Held, question: ForecastQuestion, signal: AbortSignal): Promise<MadeForecast> {
    const forecast = await this.forecasts.of(held, question, signal);
    this.shown = { held, question, forecast };
    return forecast;
  }

  /** The one that is shown where it answers this question, too. @throws as {@link show} */
  async about(held: Held, question: ForecastQuestion, signal: AbortSignal): Promise<MadeForecast> {
    const { shown } = this;
    if (shown && isSame(shown.held, held) && isSameQuestion(shown.question, question)) return shown.forecast;
    return this.show(held, question, signal);
  }
}

/** The messages stay the same array for as long as they hold the same. */
const isSame = (a: Held, b: Held): boolean =>
  a.id === b.id && a.messages === b.messages && a.edits === b.edits && isDeepStrictEqual(a.pinned, b.pinned);

const isSameQuestion = (a: ForecastQuestion, b: ForecastQuestion): boolean =>
  isDeepStrictEqual([a.setup, a.pinned, a.excluded], [b.setup, b.pinned, b.excluded]);
