import type { Preset } from './smart/presets';
import type { OutputSample } from '../summary/expectedOutput';
import { NoSummarizerError, type SummarizerModel } from '../summarizer';
import type { CondensationProvider } from '../types';
import { losslessProvider } from './lossless';
import { createNativeProvider } from './native';
import { createSmartProvider } from './smart';
import type { SelectModel, SummaryCache } from './smart/passParts';
import { createStrategyProvider } from './strategy';
import { truncationProvider } from './truncation';

export interface ProviderDependencies {
  /** If absent, Summary is omitted, and Smart and Strategy do only what needs no model. */
  readonly select?: SelectModel;
  /** Lengths of a model's earlier replies, for estimates. */
  readonly samples?: (model: SummarizerModel) => readonly OutputSample[];
  readonly presets?: () => readonly Preset[];
  /** Summaries already paid for. Default: only those of these providers' own runs. */
  readonly memo?: SummaryCache;
  readonly others?: () => readonly CondensationProvider[];
}

/**
 * Returns the providers in the order in which all lists show them; the first, Lossless, is the
 * default.
 */
export function createProviders(
  dependencies: ProviderDependencies = {},
): [CondensationProvider, ...CondensationProvider[]] {
  const { select, samples, presets = () => [], memo, others = () => [] } = dependencies;
  const nativeProvider =
    select && createNativeProvider({ select: (own) => select(undefined, own), ...(samples && { samples }) });
  const smartProvider = createSmartProvider({
    select: select ?? rejectModelSelection,
    presets,
    ...(samples && { samples }),
    ...(memo && { memo }),
  });
  const singleProviders = [
    losslessProvider,
    smartProvider,
    truncationProvider,
    ...(nativeProvider ? [nativeProvider] : []),
  ] as const;
  return [...singleProviders, createStrategyProvider({ providers: () => [...singleProviders, ...others()], presets })];
}

/** The usual message suggests setting up a model, which would change nothing here. */
const rejectModelSelection: SelectModel = () => {
  throw new NoSummarizerError('No model is called here.');
};
