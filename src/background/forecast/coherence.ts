/** Which facts of a conversation a forecast leaves in the view. */
import { coherenceOf, type CoherenceReport } from '../../core/condense/report/coherence/coherence';
import type { Edit } from '../../core/condense/edits/edits';
import { Pace } from '../../core/pace';
import type { Held } from './held';
import type { ComparedResult } from './messages';

/**
 * Of what a model would write nothing is known: a fact that only its words could hold counts as not standing there.
 * @param edits those that would be made.
 * @throws the signal's reason where it was aborted
 */
export const coherenceWith = (held: Held, edits: readonly Edit[], signal: AbortSignal): Promise<CoherenceReport> =>
  coherenceOf(held.messages, [...held.edits, ...edits], new Pace(signal));

/** The facts of a report, of all kinds together. */
export function factsIn(report: CoherenceReport): ComparedResult['facts'] {
  let all = 0;
  let lost = 0;
  for (const kind of Object.values(report)) {
    all += kind.kept + kind.recallable + kind.lost;
    lost += kind.lost;
  }
  return { all, lost };
}
