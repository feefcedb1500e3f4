/** Lets the user review changes before a condensation and exclude some. */
import { findNewViolations, type Violation } from '../../messages/firewall';
import { isRecord } from '../../messages/blocks';
import { renderBodies, renderConversation } from '../../messages/render';
import type { ApiMessage, Block, Place } from '../../messages/types';
import type { MessageCounter } from '../../tokens/messageCounter';
import { getValueAt } from '../../messages/path';
import type { EditOperation } from '../edits/operations';
import { applyEdits } from '../edits/applyEdits';
import { editKey, renderCuts, changesAny, type Edit, type EditId } from '../edits/edits';

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
  const shown = new Map(active.map((edit) => [editKey(edit), edit]));
  return edits.map((edit) => {
    const before = getTextBefore(original, shown.get(editKey(edit)), edit);
    shown.set(editKey(edit), edit);
    const { id, step, operation, reason, strict, tokensBefore, tokensAfter } = edit;
    const message = edit.kind === 'summary' ? edit.start : edit.place.message;
    return {
      id,
      message,
      step,
      operation,
      reason,
      strict,
      before,
      after: getText(original, edit),
      tokensBefore,
      tokensAfter,
    };
  });
}

function getTextBefore(original: readonly ApiMessage[], earlier: Edit | undefined, edit: Edit): string {
  if (earlier) return getText(original, earlier);
  if (edit.kind === 'summary') return renderConversation(original.slice(edit.start, edit.end));
  return getTextAt(original, edit.place);
}

function getText(original: readonly ApiMessage[], edit: Edit): string {
  switch (edit.kind) {
    case 'summary':
      return renderConversation([edit.message]);
    case 'block':
      return edit.placeholder?.text ?? '';
    case 'cut':
      return renderCuts(getTextAt(original, edit.place), edit.cuts);
  }
}

/** For a block, what users can read, such as thinking without its signature. */
function getTextAt(original: readonly ApiMessage[], { message, path }: Place): string {
  const value = getValueAt(original[message], path);
  if (typeof value === 'string') return value;
  return isRecord(value)
    ? (renderBodies([{ role: 'assistant', content: [value as Block] }])[0] ?? '')
    : JSON.stringify(value);
}

export interface EditSelection {
  readonly edits: readonly Edit[];
  readonly tokensAfter: number;
  /** Rules that the remaining edits break if they depend on excluded ones. */
  readonly violations: readonly Violation[];
}

/** If several steps changed a place, the previous edit shows again. */
export function excludeEdits(
  original: readonly ApiMessage[],
  active: readonly Edit[],
  edits: readonly Edit[],
  excluded: ReadonlySet<EditId>,
  counter: MessageCounter,
): EditSelection {
  const kept = edits.filter(({ id }) => !excluded.has(id));
  const { messages: view, origins } = applyEdits(original, [...active, ...kept]);
  const violations = findNewViolations(original, view, { origins });
  return { edits: kept, tokensAfter: counter.countMessages(view), violations };
}

/** @param excluded indexes of messages to leave unchanged */
export function excludeMessages(
  original: readonly ApiMessage[],
  active: readonly Edit[],
  edits: readonly Edit[],
  excluded: ReadonlySet<number>,
  counter: MessageCounter,
): EditSelection {
  const ids = edits.filter((edit) => changesAny(edit, excluded)).map(({ id }) => id);
  return excludeEdits(original, active, edits, new Set(ids), counter);
}
