import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { IndexedConversation } from '../../background/conversationIndex';
import { formatTokens } from '../../core/condense/report/report';
import { formatShare } from '../../core/percent';
import { titleOf } from './nodes';

/** What a stored conversation is called in a list: its title; its file's name says little, and stands only where it has no other. */
export function nameWords(found: IndexedConversation): string {
  return titleOf(found) ?? (found.details === undefined ? vscode.l10n.t('Reading…') : basename(found.path));
}

/** How much a stored conversation holds, or why that is not known. */
export function sizeWords({ details, bytes }: IndexedConversation): string {
  if (details?.problem !== undefined) return vscode.l10n.t('can’t be read');
  if (details?.tokens !== undefined) return vscode.l10n.t('{0} tokens', formatTokens(details.tokens));
  if (details?.isComplete !== true) return vscode.l10n.t('counting…');
  return vscode.l10n.t('{0} MB, not counted', Math.round((bytes ?? 0) / 1e6));
}

/** Percent of a context window. */
export const shareWords = (tokens: number, window: number): string => formatShare(tokens, window, 0);
