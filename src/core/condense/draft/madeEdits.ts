/** Makes edits of what a draft has changed. The same change by the same step has the same id, in every run. */
import { hashText, type Hash } from '../../hash';
import type { Place } from '../../messages/types';
import type { CutInfo, PlaceState } from './cuts';
import { placeKey, type BlockEdit, type CutEdit, type EditId, type SummaryEdit } from '../edits/edits';
import type { MessageRange } from '../../messages/messageRange';

/** Tokens of a place before and after a change. */
export interface TokenChange {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** An edit's key in its draft: a later edit of the same step at the same place replaces it. */
export const madeKey = (step: string, place: Place): string => `${step} ${placeKey(place)}`;

/** The same for a summary of a range. */
export const summaryKey = (step: string, { start, end }: MessageRange): string => `${step} summary ${start}-${end}`;

const editId = (content: string): EditId => hashText(content).slice(0, 16) as EditId;

/**
 * The edit of a string as it now stands.
 * @param before hash of the original string.
 */
export const cutEdit = (
  step: string,
  state: PlaceState,
  before: Hash,
  info: CutInfo,
  tokens: TokenChange,
): CutEdit => ({
  kind: 'cut',
  id: editId(
    `${madeKey(step, state.place)}${state.cuts.map(({ start, end, text }) => ` ${start}-${end}${text}`).join('')}`,
  ),
  place: state.place,
  contentType: info.contentType,
  before,
  cuts: state.cuts,
  step,
  operation: info.operation,
  reason: info.reason,
  strict: state.strict,
  ...tokens,
});

/** The edit that takes a block out. */
export const blockEdit = (
  step: string,
  edit: Pick<BlockEdit, 'place' | 'before' | 'placeholder' | 'reason'> & TokenChange,
) =>
  ({
    kind: 'block',
    id: editId(`${madeKey(step, edit.place)} ${edit.placeholder?.text ?? ''}`),
    step,
    operation: 'suppress',
    strict: false,
    ...edit,
  }) satisfies BlockEdit;

/** The edit that puts a summary in the place of messages. */
export const summaryEdit = (
  step: string,
  edit: Omit<SummaryEdit, 'kind' | 'id' | 'step' | 'operation' | 'strict'>,
): SummaryEdit => ({
  kind: 'summary',
  id: editId(`${step} ${edit.before} ${JSON.stringify(edit.message)}`),
  step,
  operation: 'summarize',
  strict: false,
  ...edit,
});
