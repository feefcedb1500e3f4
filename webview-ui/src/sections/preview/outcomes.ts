/** A cell's kind is the condensation's outcome or the user's decision. */
import type { CSSProperties } from 'react';
import { EDIT_OUTCOMES, OUTCOME_ROWS, type EditOutcome } from '../../../../src/core/condense/edits/operations';
import type { MessageCell } from '../../../../src/panel/protocol';
import { t } from '../../l10n';

const DECISION_KIND_TEXTS = {
  pinned: { letter: 'P', label: 'pinned', help: 'nothing in it is lost, now or later', color: 'foreground' },
  excluded: { letter: 'X', label: 'left out', help: 'this condensation doesn’t touch it', color: 'foreground' },
} as const;

const CELL_KIND_TEXTS = { ...OUTCOME_ROWS, ...DECISION_KIND_TEXTS };
export type CellKind = EditOutcome | keyof typeof DECISION_KIND_TEXTS;
export const CELL_KINDS: readonly CellKind[] = [...EDIT_OUTCOMES, 'pinned', 'excluded'];

interface CellKindTexts {
  readonly letter: string;
  readonly name: string;
  readonly help: string;
  /** Sets the color for the CSS rules of `.cell`. */
  readonly style: CSSProperties;
}

export function getCellKindTexts(kind: CellKind): CellKindTexts {
  const { letter, label, help, color } = CELL_KIND_TEXTS[kind];
  const variable = color === 'line' ? 'var(--line)' : `var(--vscode-${color.replaceAll('.', '-')})`;
  return { letter, name: t(label), help: t(help), style: { '--outcome': variable } as CSSProperties };
}

/** The user's decision takes precedence over the passes. */
export function getCellKind(cell: MessageCell, index: number, marks: MessageMarks): CellKind {
  if (marks.excluded.has(index)) return 'excluded';
  return marks.pinned.has(index) ? 'pinned' : cell.outcome;
}

/** Messages that the user wants unchanged, by index. */
export interface MessageMarks {
  readonly pinned: ReadonlySet<number>;
  readonly excluded: ReadonlySet<number>;
}

/** Adds the element, or removes it if it is there. */
export function toggleElement(set: ReadonlySet<number>, element: number): ReadonlySet<number> {
  const changedSet = new Set(set);
  if (!changedSet.delete(element)) changedSet.add(element);
  return changedSet;
}

export const describeRole = (role: string): string =>
  role === 'user' ? t('user') : role === 'assistant' ? t('assistant') : t('system');
