import * as vscode from 'vscode';
import { formatPercentChange, formatCost, formatTokens } from '../core/format';
import { listProviderNames, type ResultWithProvider } from '../core/condense/report/report';
import { getProviderName } from '../core/condense/types';
import { countUsesOfRemoved, type UseAfterCondensation } from '../core/condense/ledger/use';
import { shortenTitle } from './markdownText';
import { isSettingConfigured } from './settings/settings';
import type { Services } from './services';

export interface CondensationFigures {
  readonly provider: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly targetTokens?: number;
  /** Cost in US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
  readonly notes?: readonly string[];
  readonly title?: string | undefined;
  readonly isSample?: boolean;
  /** Says how full the window is and would be, such as `61% → ≈ 46% full`; absent if unknown. */
  readonly full?: string | undefined;
  /** True if less was removed than the user wants to be warned about. */
  readonly isSmall?: boolean;
}

export function formatCondensationMessage(figures: CondensationFigures): string {
  const {
    provider,
    tokensBefore,
    tokensAfter,
    cost,
    title,
    isSample = false,
    full,
    notes = [],
    isSmall = false,
  } = figures;
  const change = [
    formatTokenChange(tokensBefore, tokensAfter),
    ...(full === undefined ? [] : [full]),
    ...(cost === 0 ? [] : [vscode.l10n.t('cost {0}', formatCost(cost))]),
    ...formatMissedTarget(figures),
    ...mentionNotes(notes, isSmall),
  ].join('; ');
  const result = isSample
    ? vscode.l10n.t('Condensed the sample with {0}: {1}.', provider, change)
    : title === undefined
      ? vscode.l10n.t('Condensed with {0}: {1}.', provider, change)
      : vscode.l10n.t('Condensed “{0}” with {1}: {2}.', shortenTitle(title), provider, change);
  return isSmall ? `${result} ${vscode.l10n.t('“Condense With…” lists what removes more.')}` : result;
}

export const formatProviderNames = ({ registered }: Pick<Services, 'registered'>, result: ResultWithProvider): string =>
  listProviderNames(result, (id) => getProviderName(id, registered.listProviders()));

export const formatPreviewMessage = (
  figures: Pick<CondensationFigures, 'provider' | 'tokensBefore' | 'tokensAfter' | 'targetTokens'>,
): string => {
  const { provider, tokensBefore, tokensAfter } = figures;
  const change = [formatTokenChange(tokensBefore, tokensAfter), ...formatMissedTarget(figures)].join('; ');
  return vscode.l10n.t('Preview of condensing with {0}: {1}. Nothing was applied.', provider, change);
};

/** True if the result is larger than the target. Only a target that the user has set counts. */
const isTargetExceeded = ({
  tokensAfter,
  targetTokens = Infinity,
}: Pick<CondensationFigures, 'tokensAfter' | 'targetTokens'>): boolean =>
  tokensAfter > targetTokens && isSettingConfigured('manual.targetPercent');

/** Mentions notes without their number, because Details adds notes on how the file was read. */
const mentionNotes = (notes: readonly string[], isSmall: boolean): string[] => {
  // The message itself says that little was removed.
  const otherNotes = isSmall ? notes.length - 1 : notes.length;
  return otherNotes > 0 ? [vscode.l10n.t('notes in Details')] : [];
};

const formatMissedTarget = (figures: Pick<CondensationFigures, 'tokensAfter' | 'targetTokens'>): string[] =>
  isTargetExceeded(figures)
    ? [vscode.l10n.t('your target of {0} was missed', formatTokens(figures.targetTokens ?? 0))]
    : [];

export const formatTokenChange = (before: number, after: number): string =>
  `${formatTokens(before)} → ${formatTokens(after)} tokens (${formatPercentChange(before, after)})`;

export function formatUseOfRemoved(use: UseAfterCondensation): string {
  const uses = countUsesOfRemoved(use);
  const turnsText = use.turns === 1 ? vscode.l10n.t('1 turn') : vscode.l10n.t('{0} turns', use.turns);
  if (uses === 0) return vscode.l10n.t('Removed content needed again within {0}: never.', turnsText);
  return vscode.l10n.t(
    'Removed content needed again within {0}: {1} (files read again: {2}, recalls: {3}, failed edits: {4}). Expected: {5}.',
    turnsText,
    uses === 1 ? vscode.l10n.t('once') : vscode.l10n.t('{0} times', uses),
    use.rereads,
    use.recalls,
    use.failedEdits,
    use.expected.toFixed(1),
  );
}

export const getUseAdvice = (): string =>
  vscode.l10n.t(
    'Lossless therefore condenses this conversation from now on. To use your own choice again, undo that condensation.',
  );
