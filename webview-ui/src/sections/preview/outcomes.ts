/** What can happen to a message, in words, with the letter and the colour that stand for it. */
import { EDIT_OUTCOMES } from '../../../../src/core/condense/operations/operations';
import type { MessageCell } from '../../../../src/panel/protocol';
import { t } from '../../l10n';

export const CELL_KINDS = [...EDIT_OUTCOMES, 'pinned', 'excluded'] as const;
export type CellKind = (typeof CELL_KINDS)[number];

interface KindWords {
  /** Beside the colour, for who doesn't see it. */
  readonly letter: string;
  readonly name: string;
  readonly help: string;
}

export function outcomeWords(kind: CellKind): KindWords {
  switch (kind) {
    case 'kept':
      return { letter: '·', name: t('kept'), help: t('stays as it is') };
    case 'referenced':
      return { letter: 'R', name: t('referenced'), help: t('what goes stands elsewhere in the conversation') };
    case 'outlined':
      return { letter: 'O', name: t('outlined'), help: t('of a file its declarations stay') };
    case 'cut':
      return { letter: 'C', name: t('cut'), help: t('a part of it goes') };
    case 'suppressed':
      return { letter: 'S', name: t('suppressed'), help: t('a whole content goes') };
    case 'summarized':
      return { letter: 'M', name: t('summarized'), help: t('a model’s words stand in its place') };
    case 'pinned':
      return { letter: 'P', name: t('pinned'), help: t('nothing of it is lost, now and later') };
    case 'excluded':
      return { letter: 'X', name: t('left out'), help: t('this condensation doesn’t touch it') };
  }
}

/** What a person decided goes before what the passes do. */
export function kindOf(cell: MessageCell, index: number, marks: Marks): CellKind {
  if (marks.excluded.has(index)) return 'excluded';
  return marks.pinned.has(index) ? 'pinned' : cell.outcome;
}

/** Messages that a person wants to be left alone, by their index. */
export interface Marks {
  readonly pinned: ReadonlySet<number>;
  readonly excluded: ReadonlySet<number>;
}

/** The set without the element, or with it. */
export function toggled(set: ReadonlySet<number>, element: number): ReadonlySet<number> {
  const after = new Set(set);
  if (!after.delete(element)) after.add(element);
  return after;
}

export const roleInWords = (role: string): string =>
  role === 'user' ? t('user') : role === 'assistant' ? t('assistant') : t('system');
