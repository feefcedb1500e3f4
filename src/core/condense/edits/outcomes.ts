/** What happens to each message of a conversation, for a person to see at a glance. */
import type { ApiMessage } from '../../messages/types';
import { lastByPlace, type Edit } from './edits';

/** From what loses nothing to what takes the place of whole messages. */
const FATES = ['kept', 'referenced', 'outlined', 'cut', 'suppressed', 'summarized'] as const;

/**
 * `referenced`: all that goes stands elsewhere in the view. `outlined`: of a file its declarations stay. `cut`: a part goes.
 * `suppressed`: a whole content goes. `summarized`: a model's words stand in its place.
 */
export type Fate = (typeof FATES)[number];

/** What happens to each message; of several edits the one that changes most counts. */
export function fatesOf(original: readonly ApiMessage[], edits: readonly Edit[]): Fate[] {
  const fates = original.map((): Fate => 'kept');
  const mark = (message: number, fate: Fate): void => {
    const known = fates[message];
    if (known !== undefined && FATES.indexOf(fate) > FATES.indexOf(known)) fates[message] = fate;
  };
  for (const edit of lastByPlace(edits)) {
    if (edit.kind === 'summary') {
      for (let message = edit.start; message < edit.end; message++) mark(message, 'summarized');
    } else {
      mark(edit.place.message, fateOf(edit));
    }
  }
  return fates;
}

/** An edit tells what it did by its reason, in words that its operation owns. */
function fateOf(edit: Exclude<Edit, { kind: 'summary' }>): Fate {
  if (edit.kind === 'block') return 'cut';
  // A later step may have taken the whole of it, where an earlier one had only left a reference.
  if (/\bsummarized\b/.test(edit.reason)) return 'summarized';
  if (/\bsuppressed\b/.test(edit.reason)) return 'suppressed';
  if (/\bneither read nor edited\b/.test(edit.reason)) return 'outlined';
  return edit.strict ? 'referenced' : 'cut';
}
