import type { OutcomeWithoutView } from '../core/condense/condensation';
import { selectLastEditPerPlace, type Edit } from '../core/condense/edits/edits';
import type { Edit as ApiEdit, Outcome } from './api';
import { makeApiView } from './externalView';
import type { ParsedConversation } from './parse';

/** @param conversation the original messages, and the edits that the caller passed with them */
export function toApiOutcome(
  outcome: OutcomeWithoutView,
  { messages, edits: earlierEdits }: Pick<ParsedConversation, 'messages' | 'edits'>,
): Outcome {
  const { provider, tokensBefore, cost, timeMs, notes } = outcome;
  const commonFields = { provider, tokensBefore, cost, timeMs, notes };
  switch (outcome.kind) {
    case 'condensed': {
      const { tokensAfter, edits } = outcome;
      const view = makeApiView(messages, [...earlierEdits, ...edits]);
      return { ...commonFields, kind: 'condensed', tokensAfter, view, edits: selectShownEdits(earlierEdits, edits) };
    }
    case 'unchanged':
      return { ...commonFields, kind: 'unchanged', reason: outcome.reason, detail: outcome.detail };
    case 'refused':
      return {
        ...commonFields,
        kind: 'refused',
        problems: outcome.violations.map(({ message, rule, detail }) => `message ${message}: ${detail} (${rule})`),
      };
    case 'failed':
      return { ...commonFields, kind: 'failed', message: outcome.error.message };
    case 'cancelled':
      return { ...commonFields, kind: 'cancelled' };
  }
}

/** Returns edits for the API: JSON that has more fields than the API documents. */
const selectShownEdits = (earlierEdits: readonly Edit[], newEdits: readonly Edit[]): readonly ApiEdit[] =>
  selectLastEditPerPlace([...earlierEdits, ...newEdits]).map((edit) => ({ ...edit }));
