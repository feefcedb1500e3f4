import * as vscode from 'vscode';
import { formatChange, formatCost, formatTime, formatTokens } from '../core/format';
import { namesOf, type NamedResult } from '../core/condense/report/report';
import { providerNameOf } from '../core/condense/types';
import { usesIn, type UseAfter } from '../core/condense/ledger/use';
import { asTitle } from './markdownText';
import type { Services } from './services';

/** A condensation that was applied. */
export interface CondensationFigures {
  /** Names, for people, of the providers that took something out. */
  readonly provider: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens that were to be left at most; absent: nobody set a target. */
  readonly targetTokens?: number;
  /** The tokens are those of a whole request, while the target's percentage is of its messages: it is told in tokens. */
  readonly isWholeRequest?: boolean;
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
  /** US dollars that each later request costs less; absent where that is not known. */
  readonly savedPerRequest?: number;
  /** Milliseconds. */
  readonly timeMs: number;
  readonly notes: readonly string[];
  /** Of the conversation, where the user did not pick it. */
  readonly title?: string;
}

/**
 * The result in few sentences: what came of it, what it saves, and what a person should know of it. The report (NFR-U-002) has steps and notes,
 * and stands in the log.
 */
export function condensationWords(figures: CondensationFigures): string {
  const { provider, tokensBefore, tokensAfter, cost, savedPerRequest: saved, timeMs, title } = figures;
  const did = vscode.l10n.t('Context condensed using {0}: {1}.', provider, changeWords(tokensBefore, tokensAfter));
  const took = vscode.l10n.t('Cost: {0}. Time: {1}.', formatCost(cost), formatTime(timeMs));
  const saves =
    saved === undefined || saved <= 0 ? [] : [vscode.l10n.t('Each later request costs {0} less.', formatCost(saved))];
  const which = title === undefined ? [] : [vscode.l10n.t('Conversation: “{0}”', asTitle(title))];
  return [did, took, ...saves, ...remarks(figures, 'was'), ...which].join(' ');
}

/** The providers of a result, with the presets or strategies that they ran with. */
export const namesOfResult = ({ registered }: Pick<Services, 'registered'>, result: NamedResult): string =>
  namesOf(result, (id) => providerNameOf(id, registered.list()));

/** What condensing would come to. */
export const previewWords = (
  figures: Pick<CondensationFigures, 'provider' | 'tokensBefore' | 'tokensAfter' | 'targetTokens' | 'notes'>,
): string => {
  const { provider, tokensBefore, tokensAfter } = figures;
  const change = changeWords(tokensBefore, tokensAfter);
  const would = vscode.l10n.t('Preview; nothing was applied. Condensing with {0}: {1}.', provider, change);
  return [would, ...remarks(figures, 'would be')].join(' ');
};

/** Whether more was to go than went. */
export const isTargetMissed = ({
  tokensAfter,
  targetTokens = Infinity,
}: Pick<CondensationFigures, 'tokensAfter' | 'targetTokens'>): boolean => tokensAfter > targetTokens;

function remarks(
  figures: Pick<CondensationFigures, 'tokensBefore' | 'tokensAfter' | 'targetTokens' | 'isWholeRequest' | 'notes'>,
  when: 'was' | 'would be',
): string[] {
  const { notes } = figures;
  const [note] = notes;
  if (isTargetMissed(figures)) {
    const target = targetWords(figures);
    return [
      when === 'was'
        ? vscode.l10n.t('This is still above the target of {0}.', target)
        : vscode.l10n.t('This would still be above the target of {0}.', target),
    ];
  }
  if (note === undefined) return [];
  return [
    notes.length === 1
      ? vscode.l10n.t('Note: {0}.', note.replace(/\.$/, ''))
      : vscode.l10n.t('{0} notes are in Details.', notes.length),
  ];
}

/** "50% (4,250 tokens)": the target of whoever condenses by hand is a setting, a percentage. */
export const targetWords = ({
  tokensBefore,
  targetTokens = 0,
  isWholeRequest = false,
}: Pick<CondensationFigures, 'tokensBefore' | 'targetTokens' | 'isWholeRequest'>): string =>
  isWholeRequest
    ? vscode.l10n.t('{0} tokens', formatTokens(targetTokens))
    : vscode.l10n.t(
        '{0}% ({1} tokens)',
        Math.round((100 * targetTokens) / Math.max(1, tokensBefore)),
        formatTokens(targetTokens),
      );

/** "8,500 → 5,200 tokens (-39%)". */
export const changeWords = (before: number, after: number): string =>
  `${formatTokens(before)} → ${formatTokens(after)} tokens (${formatChange(before, after)})`;

/** How often the agent needed removed content again after a condensation. */
export function useWords(use: UseAfter): string {
  const uses = usesIn(use);
  return vscode.l10n.t(
    'Removed content needed again within {0}: {1} (files read again: {2}, recalls: {3}, failed edits: {4}); {5} were expected.',
    use.turns === 1 ? vscode.l10n.t('1 turn') : vscode.l10n.t('{0} turns', use.turns),
    uses === 1 ? vscode.l10n.t('once') : vscode.l10n.t('{0} times', uses),
    use.rereads,
    use.recalls,
    use.failedEdits,
    use.expected.toFixed(1),
  );
}

/** The advice where that was too much. */
export const carefulWords = (): string =>
  vscode.l10n.t(
    'Lossless therefore condenses this conversation from now on. To use your own choice again, undo that condensation.',
  );
