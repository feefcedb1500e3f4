import type { OutcomeWithoutView } from '../core/condense/condensation';
import { selectLastEditPerPlace, type Edit } from '../core/condense/edits/edits';
import type { Edit as ApiEdit, Outcome } from './api';
import { makeApiView } from './externalView';
import type { ParsedConversation } from './parse';

/** @param conversation the original messages, and the edits that the caller passed with them */
export function toApiOutcome(
  outcome: OutcomeWithoutView,
  { messages, edits: earlier }: Pick<ParsedConversation, 'messages' | 'edits'>,
): Outcome {
  const { provider, tokensBefore, cost, timeMs, notes } = outcome;
  const base = { provider, tokensBefore, cost, timeMs, notes };
  switch (outcome.kind) {
    case 'condensed': {
      const { tokensAfter, edits } = outcome;
      const view = makeApiView(messages, [...earlier, ...edits]);
      return { ...base, kind: 'condensed', tokensAfter, view, edits: selectShownEdits(earlier, edits) };
    }
    case 'unchanged':
      return { ...base, kind: 'unchanged', reason: outcome.reason, detail: outcome.detail };
    case 'refused':
      return {
        ...base,
        kind: 'refused',
        problems: outcome.violations.map(({ message, rule, detail }) => `message ${message}: ${detail} (${rule})`),
      };
    case 'failed':
      return { ...base, kind: 'failed', message: outcome.error.message };
    case 'cancelled':
      return { ...base, kind: 'cancelled' };
  }
}

/** An edit is JSON with more fields than the API documents. */
const selectShownEdits = (earlier: readonly Edit[], made: readonly Edit[]): readonly ApiEdit[] =>
  selectLastEditPerPlace([...earlier, ...made]).map((edit) => ({ ...edit }));
