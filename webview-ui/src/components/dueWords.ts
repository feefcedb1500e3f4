import { computeDueTokens, type DueTokensAndReason } from '../../../src/core/condense/trigger/thresholds';
import { t } from '../l10n';

export interface ModelWindow {
  /** The model's name; absent for an assumed model. */
  readonly name?: string;
  readonly tokens: number;
}

/** @param limit in tokens; only a number above 0 is a limit */
export const computeDueTokensOfWindow = (contextWindow: number, percent: number, limit: unknown): DueTokensAndReason =>
  computeDueTokens({
    contextWindow,
    threshold: { percent, ...(typeof limit === 'number' && limit > 0 && { tokens: limit }) },
  });

/** Says when condensing starts, and why if the percentage does not determine it. */
export const describeDueTokens = (
  { tokens, reason }: DueTokensAndReason,
  window: ModelWindow,
  limit: unknown,
): string =>
  [
    window.name === undefined
      ? t('{0} tokens of a window of {1}', tokens, window.tokens)
      : t('{0} of {1} tokens with {2}', tokens, window.tokens, window.name),
    ...(reason === 'window' ? [t('a larger request may leave no room for the answer')] : []),
    ...(tokens > 0 && tokens === limit ? [t('the limit in tokens')] : []),
  ].join('; ');
