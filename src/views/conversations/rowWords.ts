import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { IndexedConversation } from '../../background/conversationIndex';
import { formatTokens } from '../../core/format';
import {
  type FillLevel,
  estimateCondensedFill,
  explainFill,
  fillChange,
  fillSentence,
  fillShare,
} from '../../core/account/fillLevel';
import { formatShare } from '../../core/percent';
import { getTitle } from './nodes';

/** Uses the file's name only if there is no title. */
export function formatName(found: IndexedConversation): string {
  return getTitle(found) ?? (found.details === undefined ? vscode.l10n.t('Reading…') : basename(found.path));
}

/** Uses the same count as a condensation's result. */
export function formatSize({ details, bytes }: IndexedConversation): string {
  if (details?.problem !== undefined) return vscode.l10n.t('can’t be read');
  if (details?.tokens !== undefined) return vscode.l10n.t('{0} tokens in messages', formatTokens(details.tokens));
  if (details?.isComplete !== true) return vscode.l10n.t('counting…');
  return vscode.l10n.t('{0} MB, not counted', Math.round((bytes ?? 0) / 1e6));
}

/**
 * Returns text such as `52% full`; undefined if unknown.
 * @param assumed window in tokens if the model's is unknown
 */
export const formatFill = ({ details }: IndexedConversation, assumed: number): string | undefined =>
  details?.problem === undefined && details?.fill ? formatFull(fillShare(details.fill, assumed)) : undefined;

/**
 * Returns text such as `61% → ≈ 46% full`; undefined if unknown.
 * @param assumed window in tokens if the model's is unknown
 */
export function formatFillChange(
  { details }: IndexedConversation,
  { tokensBefore, tokensAfter }: { readonly tokensBefore: number; readonly tokensAfter: number },
  assumed: number,
): string | undefined {
  const { fill, tokens, problem } = details ?? {};
  if (problem !== undefined || fill === undefined || tokens === undefined) return undefined;
  // Messages that followed the condensation stay.
  return fillChange(fill, estimateCondensedFill(fill, tokens, tokens - tokensBefore + tokensAfter), assumed);
}

export function formatSizes(found: IndexedConversation, assumed: number): string[] {
  const { fill, tokens, problem } = found.details ?? {};
  if (problem !== undefined || tokens === undefined) return [formatSize(found)];
  return [
    vscode.l10n.t('Messages, which can be condensed: {0} tokens', formatTokens(tokens)),
    ...(fill
      ? [vscode.l10n.t('Context window: {0}', fillSentence(fill, assumed)), ...listExplanation(fill, tokens)]
      : []),
  ];
}

function listExplanation(fill: FillLevel, tokens: number): string[] {
  const explanation = explainFill(fill, tokens);
  return explanation === undefined ? [] : [explanation];
}

export const formatFull = (share: string): string => vscode.l10n.t('{0} full', share);

export const formatShareOfWindow = (tokens: number, window: number): string => formatShare(tokens, window, 0);
