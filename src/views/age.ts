import * as vscode from 'vscode';

interface Age {
  readonly unit: 'now' | 'minutes' | 'hours' | 'days';
  readonly count: number;
}

/** Returns a duration in its largest whole unit. */
function toAge(ms: number): Age {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return { unit: 'now', count: 0 };
  if (minutes < 60) return { unit: 'minutes', count: minutes };
  if (minutes < 48 * 60) return { unit: 'hours', count: Math.floor(minutes / 60) };
  return { unit: 'days', count: Math.floor(minutes / (24 * 60)) };
}

export function formatAge(ms: number): string {
  const { unit, count } = toAge(ms);
  return {
    now: vscode.l10n.t('just now'),
    minutes: vscode.l10n.t('{0} min ago', count),
    hours: vscode.l10n.t('{0} h ago', count),
    days: vscode.l10n.t('{0} days ago', count),
  }[unit];
}

/** Formats a duration for rows of narrow side bars. */
export function formatShortAge(ms: number): string {
  const { unit, count } = toAge(ms);
  return {
    now: vscode.l10n.t('now'),
    minutes: vscode.l10n.t('{0}m', count),
    hours: vscode.l10n.t('{0}h', count),
    days: vscode.l10n.t('{0}d', count),
  }[unit];
}
