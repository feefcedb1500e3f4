import * as vscode from 'vscode';

/** Formats a duration in its largest whole unit. */
export function formatAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return vscode.l10n.t('just now');
  if (minutes < 60) return vscode.l10n.t('{0} min ago', minutes);
  if (minutes < 48 * 60) return vscode.l10n.t('{0} h ago', Math.floor(minutes / 60));
  return vscode.l10n.t('{0} days ago', Math.floor(minutes / (24 * 60)));
}

/** Formats a duration in its largest whole unit, for rows of narrow side bars. */
export function formatShortAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return vscode.l10n.t('now');
  if (minutes < 60) return vscode.l10n.t('{0}m', minutes);
  if (minutes < 48 * 60) return vscode.l10n.t('{0}h', Math.floor(minutes / 60));
  return vscode.l10n.t('{0}d', Math.floor(minutes / (24 * 60)));
}
