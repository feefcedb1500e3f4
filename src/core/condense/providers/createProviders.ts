import type { Preset } from './smart/presets';
import type { OutputSample } from '../summary/expectedOutput';
import { NoSummarizerError, type SummarizerModel } from '../summarizer';
import type { CondensationProvider } from '../types';
import { losslessProvider } from './lossless';
import { nativeProvider } from './native';
import { smartProvider } from './smart';
import type { SelectModel, SummaryMemo } from './smart/passParts';
import { strategyProvider } from './strategy';
import { truncationProvider } from './truncation';

export interface ProviderParts {
  /**
   * Chooses the model for a step. Absent: this program calls none, so Native, which is nothing without one, is left out; Smart
   * and Strategy do what needs no model.
   */
  readonly select?: SelectModel;
  /** The lengths of a model's earlier replies, for estimates. */
  readonly samples?: (model: SummarizerModel) => readonly OutputSample[];
  /** The user's own presets. Default none. */
  readonly presets?: () => readonly Preset[];
  /** Summaries that were paid for. Default: those of this list's own runs. */
  readonly memo?: SummaryMemo;
  /** The providers that other extensions registered, which a strategy may name. Default none. */
  readonly others?: () => readonly CondensationProvider[];
}

/** The providers that ship with the product: the one list of them. The first, Lossless, is the default. */
export function createProviders(parts: ProviderParts = {}): [CondensationProvider, ...CondensationProvider[]] {
  const { select, samples, presets = () => [], memo, others = () => [] } = parts;
  const native = select && nativeProvider({ select: (own) => select(undefined, own), ...(samples && { samples }) });
  const smart = smartProvider({
    select: select ?? noModelHere,
    presets,
    ...(samples && { samples }),
    ...(memo && { memo }),
  });
  const steps = [losslessProvider, truncationProvider, ...(native ? [native] : []), smart] as const;
  return [...steps, strategyProvider({ providers: () => [...steps, ...others()], presets })];
}

/** Doesn't suggest setting up a model, as the other wordings do: here that would change nothing. */
const noModelHere: SelectModel = () => {
  throw new NoSummarizerError('No model is called here.');
};
