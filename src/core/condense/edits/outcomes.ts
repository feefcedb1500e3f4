import type { ApiMessage } from '../../messages/types';
import { EDIT_OUTCOMES, getEditOutcome, type EditOutcome } from './operations';
import { selectLastEditPerPlace, type Edit } from './edits';

/** If several edits changed a message, the one that changed most decides. */
export function getMessageOutcomes(original: readonly ApiMessage[], edits: readonly Edit[]): EditOutcome[] {
  const outcomes = original.map((): EditOutcome => 'kept');
  const markMessage = (message: number, outcome: EditOutcome): void => {
    const currentOutcome = outcomes[message];
    if (currentOutcome !== undefined && EDIT_OUTCOMES.indexOf(outcome) > EDIT_OUTCOMES.indexOf(currentOutcome))
      outcomes[message] = outcome;
  };
  for (const edit of selectLastEditPerPlace(edits)) {
    if (edit.kind === 'summary') {
      for (let message = edit.start; message < edit.end; message++) markMessage(message, 'summarized');
    } else {
      // A removed block is only part of its message, so the message counts as cut.
      markMessage(edit.place.message, edit.kind === 'block' ? 'cut' : getEditOutcome(edit.operation, edit.strict));
    }
  }
  return outcomes;
}
