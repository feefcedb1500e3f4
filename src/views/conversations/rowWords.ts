import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { IndexedConversation } from '../../background/conversationIndex';
import { formatTokens } from '../../core/format';
import {
  estimateCondensedFill,
  formatFillChange,
  formatFillSentence,
  formatFillShare,
  formatFillTokens,
  formatMessageTokens,
} from '../../core/account/fillLevel';
import { formatShare } from '../../core/percent';
import { getConversationTitle } from './nodes';

/** Returns the conversation's title, or the file's name if there is none. */
export function formatRowName(found: IndexedConversation): string {
  return (
    getConversationTitle(found) ?? (found.details === undefined ? vscode.l10n.t('Reading…') : basename(found.path))
  );
}

/** Returns the size in tokens, counted in the same way as in a condensation's result. */
export function formatRowSize({ details, bytes }: IndexedConversation): string {
  if (details?.problem !== undefined) return vscode.l10n.t('can’t be read');
  if (details?.tokens !== undefined) return vscode.l10n.t('{0} tokens in messages', formatTokens(details.tokens));
  if (details?.isComplete !== true) return vscode.l10n.t('counting…');
  return vscode.l10n.t('{0} MB, not counted', Math.round((bytes ?? 0) / 1e6));
}

/**
 * Returns text such as `52% full`; undefined if unknown.
 * @param assumed window in tokens if the model's is unknown
 */
export const formatRowFill = ({ details }: IndexedConversation, assumed: number): string | undefined =>
  details?.problem === undefined && details?.fill
    ? formatPercentFull(formatFillShare(details.fill, assumed))
    : undefined;

/**
 * Returns text such as `61% → ≈ 46% full`; undefined if unknown.
 * @param assumedWindow window in tokens if the model's is unknown
 */
export function formatRowFillChange(
  { details }: IndexedConversation,
  { tokensBefore, tokensAfter }: { readonly tokensBefore: number; readonly tokensAfter: number },
  assumedWindow: number,
): string | undefined {
  const { fill, tokens, problem } = details ?? {};
  if (problem !== undefined || fill === undefined || tokens === undefined) return undefined;
  // Messages that followed the condensation stay.
  return formatFillChange(
    fill,
    estimateCondensedFill(fill, tokens, tokens - tokensBefore + tokensAfter),
    assumedWindow,
  );
}

export function listRowSizes(conversation: IndexedConversation, assumedWindow: number): string[] {
  const { fill, tokens, problem } = conversation.details ?? {};
  if (problem !== undefined || tokens === undefined) return [formatRowSize(conversation)];
  return [
    vscode.l10n.t('Messages, which can be condensed: {0}', formatMessageTokens(tokens, fill)),
    ...(fill ? [vscode.l10n.t('Context window: {0}', formatFillSentence(fill, assumedWindow))] : []),
  ];
}

/** Returns the line above an opened conversation. The tooltip of its row explains the two counts. */
export function formatSizeLine(conversation: IndexedConversation, assumedWindow: number): string {
  const { fill, tokens, problem } = conversation.details ?? {};
  if (problem !== undefined || tokens === undefined) return formatRowSize(conversation);
  const messages = vscode.l10n.t('Messages: {0} tokens as counted here.', formatTokens(tokens));
  if (!fill) return messages;
  const full = formatPercentFull(formatFillShare(fill, assumedWindow));
  const ofWindow = formatFillTokens({ ...fill, window: fill.window ?? assumedWindow });
  return `${vscode.l10n.t('Context window {0}: {1}.', full, ofWindow)} ${messages}`;
}

export const formatPercentFull = (share: string): string => vscode.l10n.t('{0} full', share);

export const formatShareOfWindow = (tokens: number, window: number): string => formatShare(tokens, window, 0);
