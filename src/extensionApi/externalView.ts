import { applyEdits } from '../core/condense/edits/applyEdits';
import { selectLastEditPerPlace, type Edit } from '../core/condense/edits/edits';
import type { ConversationContext } from '../core/condense/types';
import { SUMMARY_ORIGIN } from '../core/messages/firewall';
import type { ApiMessage } from '../core/messages/types';

export interface ExternalView {
  readonly context: ConversationContext;
  readonly messages: readonly ApiMessage[];
  readonly ranges: readonly OriginalMessageRange[];
}

/** The original messages that one message of the view stands for; several if it is a summary. */
interface OriginalMessageRange {
  readonly start: number;
  readonly end: number;
  readonly isSummary: boolean;
}

/** Applies the edits and removes the internal tags of summaries. */
export function makeApiView(messages: readonly ApiMessage[], edits: readonly Edit[]): readonly ApiMessage[] {
  const view = applyEdits(messages, edits);
  return view.messages.map((message, index) => {
    if (view.origins[index] !== SUMMARY_ORIGIN) return message;
    const { role, content } = message;
    return { role, content };
  });
}

export function createExternalView(context: ConversationContext): ExternalView {
  const { messages, origins } = applyEdits(context.messages, context.edits);
  const summaries = selectLastEditPerPlace(context.edits)
    .filter((edit) => edit.kind === 'summary')
    .sort((a, b) => a.start - b.start);
  let nextSummaryIndex = 0;
  const ranges = origins.map((origin): OriginalMessageRange => {
    const summary = origin === SUMMARY_ORIGIN ? summaries[nextSummaryIndex++] : undefined;
    return summary
      ? { start: summary.start, end: summary.end, isSummary: true }
      : { start: origin, end: origin + 1, isSummary: false };
  });
  return { context, messages, ranges };
}
