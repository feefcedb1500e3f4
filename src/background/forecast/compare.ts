/**
 * Compares configurations: the result that one would have for a conversation, and how much of it the next edits would still
 * have found.
 */
import { applyEdits } from '../../core/condense/edits/applyEdits';
import { codeLineRetention } from '../../core/condense/futureNeed/codeLines';
import { coherenceWith, factsIn } from './coherence';
import type { Forecasts } from './forecast';
import type { Held } from './held';
import type { ComparedResult, ForecastSetup } from './messages';

/**
 * Of what a model would write nothing is known: lines that only its words could hold count as not standing there.
 * @throws NoSummarizerError, and the signal's reason where it was aborted
 */
export async function compare(
  held: Held,
  setup: ForecastSetup,
  forecasts: Forecasts,
  signal: AbortSignal,
): Promise<ComparedResult> {
  const forecast = await forecasts.of(held, { setup, excluded: [] }, signal);
  const { tokensBefore, tokensAfter, targetTokens, cost, costRange, confidence, calls, timeMs } = forecast;
  const facts = factsIn(await coherenceWith(held, forecast.edits, signal));
  const retention = await codeLineRetention(held.messages, async (prefix) => {
    const beginning: Held = { ...held, messages: prefix, edits: [] };
    const { edits } = await forecasts.of(beginning, { setup, excluded: [] }, signal);
    const { messages: view, origins } = applyEdits(prefix, edits);
    return { view, edits, origins };
  });
  return {
    title: held.title,
    tokensBefore,
    tokensAfter,
    targetTokens,
    ...(cost !== undefined && { cost }),
    ...(costRange && { costRange }),
    ...(confidence && { confidence }),
    calls,
    timeMs,
    facts,
    retention,
  };
}
