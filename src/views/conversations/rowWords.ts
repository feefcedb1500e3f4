import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { IndexedConversation } from '../../background/conversationIndex';
import { formatTokens } from '../../core/format';
import { fillShare, fillTokens } from '../../core/account/fillLevel';
import { formatShare } from '../../core/percent';
import { getTitle } from './nodes';

/** A stored conversation's title; its file's name only if it has none. */
export function formatName(found: IndexedConversation): string {
  return getTitle(found) ?? (found.details === undefined ? vscode.l10n.t('Reading…') : basename(found.path));
}

/** Size of a stored conversation's next request, or why it is unknown. */
export function formatSize({ details, bytes }: IndexedConversation): string {
  if (details?.problem !== undefined) return vscode.l10n.t('can’t be read');
  const tokens = details?.fill?.tokens ?? details?.tokens;
  if (tokens !== undefined) return vscode.l10n.t('{0} tokens', formatTokens(tokens));
  if (details?.isComplete !== true) return vscode.l10n.t('counting…');
  return vscode.l10n.t('{0} MB, not counted', Math.round((bytes ?? 0) / 1e6));
}

/**
 * How full the window is in which a stored conversation continues, such as `52%`; undefined if
 * unknown.
 * @param assumed window in tokens if the model's is unknown
 */
export const formatFill = ({ details }: IndexedConversation, assumed: number): string | undefined =>
  details?.problem === undefined && details?.fill ? fillShare(details.fill, assumed) : undefined;

/** Tooltip lines: how full, counted by whom, and how much can be condensed. */
export function formatFillDetails(found: IndexedConversation, assumed: number): string[] {
  const { fill, tokens } = found.details ?? {};
  const share = formatFill(found, assumed);
  if (!fill || share === undefined) return [formatSize(found)];
  const whose = fill.isRecorded
    ? vscode.l10n.t('by its last recorded request')
    : vscode.l10n.t('estimated, since no request was recorded');
  const window =
    fill.window === undefined ? vscode.l10n.t(' (window unknown, {0} assumed)', formatTokens(assumed)) : '';
  return [
    vscode.l10n.t('Context window: {0}, {1}{2}, {3}', share, fillTokens(fill), window, whose),
    ...(tokens === undefined
      ? []
      : [vscode.l10n.t('Messages, which can be condensed: {0} tokens', formatTokens(tokens))]),
  ];
}

export const formatShareOfWindow = (tokens: number, window: number): string => formatShare(tokens, window, 0);
