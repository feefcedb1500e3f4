/** Lets the user review changes before a condensation and exclude some. */
import { findNewViolations, type Violation } from '../../messages/firewall';
import { isRecord } from '../../messages/blocks';
import { renderMessageBodies, renderConversation } from '../../messages/render';
import type { ApiMessage, Block, ContentPlace } from '../../messages/types';
import type { MessageCounter } from '../../tokens/messageCounter';
import { getValueAt } from '../../messages/path';
import type { EditOperation } from '../edits/operations';
import { applyEdits } from '../edits/applyEdits';
import { makeEditPlaceKey, renderCuts, changesAnyMessage, type Edit, type EditId } from '../edits/edits';

export interface EditChange {
  readonly id: EditId;
  /** Index of the original message; for a summary, of the first one. */
  readonly message: number;
  readonly step: string;
  readonly operation: EditOperation;
  readonly reason: string;
  /** True if the rest of the view contains everything that is removed. */
  readonly strict: boolean;
  readonly before: string;
  readonly after: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export function describeEditChanges(
  original: readonly ApiMessage[],
  active: readonly Edit[],
  edits: readonly Edit[],
): EditChange[] {
  const editByPlace = new Map(active.map((edit) => [makeEditPlaceKey(edit), edit]));
  return edits.map((edit) => {
    const textBefore = getTextBefore(original, editByPlace.get(makeEditPlaceKey(edit)), edit);
    editByPlace.set(makeEditPlaceKey(edit), edit);
    const { id, step, operation, reason, strict, tokensBefore, tokensAfter } = edit;
    const message = edit.kind === 'summary' ? edit.start : edit.place.message;
    return {
      id,
      message,
      step,
      operation,
      reason,
      strict,
      before: textBefore,
      after: getReplacedText(original, edit),
      tokensBefore,
      tokensAfter,
    };
  });
}

function getTextBefore(original: readonly ApiMessage[], earlier: Edit | undefined, edit: Edit): string {
  if (earlier) return getReplacedText(original, earlier);
  if (edit.kind === 'summary') return renderConversation(original.slice(edit.start, edit.end));
  return getTextAtPlace(original, edit.place);
}

function getReplacedText(original: readonly ApiMessage[], edit: Edit): string {
  switch (edit.kind) {
    case 'summary':
      return renderConversation([edit.message]);
    case 'block':
      return edit.placeholder?.text ?? '';
    case 'cut':
      return renderCuts(getTextAtPlace(original, edit.place), edit.cuts);
  }
}

/** For a block, what users can read, such as thinking without its signature. */
function getTextAtPlace(original: readonly ApiMessage[], { message, path }: ContentPlace): string {
  const value = getValueAt(original[message], path);
  if (typeof value === 'string') return value;
  return isRecord(value)
    ? (renderMessageBodies([{ role: 'assistant', content: [value as Block] }])[0] ?? '')
    : JSON.stringify(value);
}

export interface IncludedEdits {
  readonly edits: readonly Edit[];
  readonly tokensAfter: number;
  /** Rules that the remaining edits break if they depend on excluded ones. */
  readonly violations: readonly Violation[];
}

/** If several steps changed a place, the previous edit applies again. */
export function excludeEditsById(
  original: readonly ApiMessage[],
  active: readonly Edit[],
  edits: readonly Edit[],
  excludedEdits: ReadonlySet<EditId>,
  counter: MessageCounter,
): IncludedEdits {
  const keptEdits = edits.filter(({ id }) => !excludedEdits.has(id));
  const { messages: view, origins } = applyEdits(original, [...active, ...keptEdits]);
  const violations = findNewViolations(original, view, { origins });
  return { edits: keptEdits, tokensAfter: counter.countMessages(view), violations };
}

/** @param excludedMessages indexes of messages to leave unchanged */
export function excludeEditsOfMessages(
  original: readonly ApiMessage[],
  active: readonly Edit[],
  edits: readonly Edit[],
  excludedMessages: ReadonlySet<number>,
  counter: MessageCounter,
): IncludedEdits {
  const ids = edits.filter((edit) => changesAnyMessage(edit, excludedMessages)).map(({ id }) => id);
  return excludeEditsById(original, active, edits, new Set(ids), counter);
}
