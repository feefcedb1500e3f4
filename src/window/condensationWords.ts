import * as vscode from 'vscode';
import { formatChange, formatCost, formatTime, formatTokens } from '../core/condense/report/report';
import type { StepReport } from '../core/condense/types';

/** A condensation that was applied. */
export interface CondensationFigures {
  /** The provider's name. */
  readonly provider: string;
  readonly steps: readonly StepReport[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
  /** Milliseconds. */
  readonly timeMs: number;
  readonly notes: readonly string[];
}

/** The result (NFR-U-002) in one paragraph: a notification has no lines. */
export function condensationWords(figures: CondensationFigures): string {
  const { provider, steps, tokensBefore, tokensAfter, cost, timeMs, notes } = figures;
  return [
    vscode.l10n.t('Context condensed using {0}.', provider),
    ...stepWords(steps.filter((step) => step.edits > 0)),
    vscode.l10n.t('Total: {0}.', changeWords(tokensBefore, tokensAfter)),
    vscode.l10n.t('Cost: {0}. Time: {1}.', formatCost(cost), formatTime(timeMs)),
    ...notes.map((note) => vscode.l10n.t('Note: {0}.', note.replace(/\.$/, ''))),
  ].join(' ');
}

/** Steps that a notification names; the log has all. */
const MAX_STEPS = 5;

/** The steps that took out most, in the order in which they ran. */
function stepWords(steps: readonly StepReport[]): string[] {
  const saved = ({ tokensBefore, tokensAfter }: StepReport): number => tokensBefore - tokensAfter;
  // One step left out would save no words.
  const most = steps.length === MAX_STEPS + 1 ? steps.length : MAX_STEPS;
  const largest = new Set(steps.toSorted((a, b) => saved(b) - saved(a)).slice(0, most));
  const others = steps.length - largest.size;
  return [
    ...steps
      .filter((step) => largest.has(step))
      .map((step) => `${step.name}: ${changeWords(step.tokensBefore, step.tokensAfter)}.`),
    ...(others > 0 ? [vscode.l10n.t('{0} more steps.', others)] : []),
  ];
}

/** "8,500 → 5,200 tokens (-39%)". */
export const changeWords = (before: number, after: number): string =>
  `${formatTokens(before)} → ${formatTokens(after)} tokens (${formatChange(before, after)})`;
