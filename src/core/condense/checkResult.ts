import { yieldBetweenSteps } from '../betweenSteps';
import { findNewViolations, type Violation } from '../messages/firewall';
import type { ToolTable } from '../messages/tools';
import type { ApiMessage } from '../messages/types';
import { Draft } from './draft/draft';
import { applyEdits } from './edits/applyEdits';
import { checkEdits } from './edits/checkEdits';
import type { Edit } from './edits/edits';
import { restoreDraftReferences } from './lossless/integrity';
import type { CondensationOptions, ConversationContext } from './types';

export interface CheckedResult {
  /** Includes edits that restore text that earlier references need. */
  readonly edits: readonly Edit[];
  readonly view: readonly ApiMessage[];
  /** o200k tokens of the view. */
  readonly tokens: number;
  readonly staleEdits: number;
  readonly violations: readonly Violation[];
}

/**
 * Also checks that earlier references still lead to their text.
 * @throws the signal's reason if it is aborted
 */
export async function checkCondensationResult(
  context: ConversationContext,
  newEdits: readonly Edit[],
  { tools, signal }: Pick<CondensationOptions, 'tools' | 'signal'>,
): Promise<CheckedResult> {
  const result = applyAndCheck(context, newEdits);
  const hasReferences = context.edits.some(({ kind, strict }) => kind === 'cut' && strict);
  if (!hasReferences || result.staleEdits > 0 || result.violations.length > 0) return result;
  await yieldBetweenSteps(signal);
  const restoringEdits = restoreBrokenReferences(context, newEdits, tools);
  await yieldBetweenSteps(signal);
  return restoringEdits.length === 0 ? result : applyAndCheck(context, [...newEdits, ...restoringEdits]);
}

function restoreBrokenReferences(
  context: ConversationContext,
  newEdits: readonly Edit[],
  tools: ToolTable | undefined,
): readonly Edit[] {
  const draft = new Draft(context.messages, context.counter, [...context.edits, ...newEdits]);
  return restoreDraftReferences(draft, tools) > 0 ? draft.edits : [];
}

function applyAndCheck({ messages, edits, counter }: ConversationContext, newEdits: readonly Edit[]): CheckedResult {
  const { messages: view, origins, stale } = applyEdits(messages, [...edits, ...newEdits]);
  const violations = [...checkEdits(messages, newEdits), ...findNewViolations(messages, view, { origins })];
  return { edits: newEdits, view, tokens: counter.countMessages(view), staleEdits: stale.length, violations };
}
