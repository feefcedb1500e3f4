/** A forecast as the panel shows it. */
import { changeExcerpt } from '../../core/condense/edits/changeExcerpt';
import { applyEdits } from '../../core/condense/edits/applyEdits';
import type { Edit } from '../../core/condense/edits/edits';
import { messageOutcomes } from '../../core/condense/edits/outcomes';
import { editChanges, type EditChange } from '../../core/condense/report/editChanges';
import { isOperation, OPERATIONS } from '../../core/condense/operations/operations';
import { renderConversation } from '../../core/messages/render';
import type { ApiMessage } from '../../core/messages/types';
import { memoizeByObject } from '../../core/memoizeByObject';
import type { MessageCounter } from '../../core/tokens/messageCounter';
import type { MadeForecast } from './forecast';
import type { Held } from './held';
import type { EditExcerpt, MessageCell, ForecastResult } from './messages';

/** How much of a message a cell tells, in UTF-16 units. */
const WORDS = 80;
/** Edits that are shown in the panel; the diff editor shows all. */
const SHOWN_EDITS = 12;

/** The answer to a question: the forecast's figures, the strip's cells, and the first edits as excerpts. */
export function forecastResult(held: Held, forecast: MadeForecast, counter: MessageCounter): ForecastResult {
  const { edits, pinned, ...rest } = forecast;
  const first = edits.toSorted((a, b) => messageOf(a) - messageOf(b)).slice(0, SHOWN_EDITS);
  return {
    ...rest,
    title: held.title,
    ...modelOf(held),
    cells: cellsOf(held, edits, counter),
    edits: editChanges(held.messages, held.edits, first).map(excerptOf),
    editCount: edits.length,
    pinned: [...pinned],
    savedPins: [...held.pinned],
  };
}

/** Agents note the model at its answers. */
function modelOf({ messages }: Held): { readonly model?: string } {
  const model = messages.findLast(({ model: noted }) => typeof noted === 'string')?.['model'];
  return typeof model === 'string' ? { model } : {};
}

const messageOf = (edit: Edit): number => (edit.kind === 'summary' ? edit.start : edit.place.message);

function cellsOf({ messages, edits: active }: Held, edits: readonly Edit[], counter: MessageCounter): MessageCell[] {
  const all = [...active, ...edits];
  const outcomes = messageOutcomes(messages, all);
  const before = tokensByOrigin(messages, active, counter);
  const after = tokensByOrigin(messages, all, counter);
  return messages.map((message, index) => ({
    role: message.role,
    outcome: outcomes[index] ?? 'kept',
    tokensBefore: before.get(index) ?? 0,
    tokensAfter: after.get(index) ?? 0,
    words: beginningOf(message),
  }));
}

/** The tokens that each original message takes now; a message inside a summary has no entry. */
function tokensByOrigin(
  messages: readonly ApiMessage[],
  edits: readonly Edit[],
  counter: MessageCounter,
): Map<number, number> {
  const { messages: view, origins } = applyEdits(messages, edits);
  return new Map(view.map((message, at) => [origins[at] ?? at, counter.message(message)]));
}

const beginningOf = memoizeByObject((message: ApiMessage) => {
  const words = renderConversation([message]).split('\n').slice(1).join(' ').replace(/\s+/g, ' ').trim();
  return words.length <= WORDS ? words : `${words.slice(0, WORDS - 1).toWellFormed()}…`;
});

function excerptOf({ message, step, operation, reason, ...edit }: EditChange): EditExcerpt {
  const { before, after, tokensBefore, tokensAfter } = edit;
  const isWritten = isOperation(operation) && OPERATIONS[operation].callsModel;
  const excerpt = isWritten ? { ...changeExcerpt(before, ''), after: '' } : changeExcerpt(before, after);
  return { message, step, reason, ...excerpt, tokensBefore, tokensAfter, isWritten };
}
