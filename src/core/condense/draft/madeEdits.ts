/** The same change by the same step has the same ID in every run. */
import { hashText, type Hash } from '../../hash';
import type { ContentPlace } from '../../messages/types';
import type { CutDetails, TextAtPlaceWithCuts } from './cuts';
import { makePlaceKey, type BlockEdit, type CutEdit, type EditId, type SummaryEdit } from '../edits/edits';
import type { MessageRange } from '../../messages/messageRange';

export interface TokensBeforeAndAfter {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export const getEditKey = (step: string, place: ContentPlace): string => `${step} ${makePlaceKey(place)}`;

export const getSummaryKey = (step: string, { start, end }: MessageRange): string => `${step} summary ${start}-${end}`;

const makeEditId = (content: string): EditId => hashText(content).slice(0, 16) as EditId;

export const createCutEdit = (
  step: string,
  textWithCuts: TextAtPlaceWithCuts,
  hashBefore: Hash,
  info: CutDetails,
  tokens: TokensBeforeAndAfter,
): CutEdit => ({
  kind: 'cut',
  id: makeEditId(
    `${getEditKey(step, textWithCuts.place)}${textWithCuts.cuts.map(({ start, end, text }) => ` ${start}-${end}${text}`).join('')}`,
  ),
  place: textWithCuts.place,
  contentType: info.contentType,
  before: hashBefore,
  cuts: textWithCuts.cuts,
  step,
  operation: info.operation,
  reason: info.reason,
  strict: textWithCuts.strict,
  ...tokens,
});

export const createBlockEdit = (
  step: string,
  edit: Pick<BlockEdit, 'place' | 'before' | 'placeholder' | 'reason'> & TokensBeforeAndAfter,
) =>
  ({
    kind: 'block',
    id: makeEditId(`${getEditKey(step, edit.place)} ${edit.placeholder?.text ?? ''}`),
    step,
    operation: 'suppress',
    strict: false,
    ...edit,
  }) satisfies BlockEdit;

export const createSummaryEdit = (
  step: string,
  edit: Omit<SummaryEdit, 'kind' | 'id' | 'step' | 'operation' | 'strict'>,
): SummaryEdit => ({
  kind: 'summary',
  id: makeEditId(`${step} ${edit.before} ${JSON.stringify(edit.message)}`),
  step,
  operation: 'summarize',
  strict: false,
  ...edit,
});
