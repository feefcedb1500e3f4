/** Creates edits for the tests of pages. */
import { hashText } from '../../hash';
import type { ReferenceId } from '../../messages/markers';
import { getValueAt } from '../../messages/path';
import type { ApiMessage, Path } from '../../messages/types';
import type { BlockEdit, Cut, CutEdit, EditId, SummaryEdit } from '../edits/edits';

const makeEditBase = (id: string, step = 'a step') => ({
  id: id as EditId,
  step,
  operation: 'suppress' as const,
  reason: 'it was old',
  strict: false,
  tokensBefore: 100,
  tokensAfter: 10,
});

const TEST_REFERENCE = 'abcdef' as ReferenceId;

export const createCutEdit = (
  original: readonly ApiMessage[],
  message: number,
  path: Path,
  cuts: readonly Cut[],
): CutEdit => ({
  ...makeEditBase(`cut ${message} ${path.join()}`),
  kind: 'cut',
  place: { message, path },
  contentType: 'messageText',
  before: hashText(String(getValueAt(original[message], path))),
  cuts,
});

export const createBlockEdit = (
  original: readonly ApiMessage[],
  message: number,
  path: Path,
  placeholder?: string,
): BlockEdit => ({
  ...makeEditBase(`block ${message} ${path.join()}`),
  kind: 'block',
  place: { message, path },
  before: hashText(JSON.stringify(getValueAt(original[message], path))),
  ...(placeholder !== undefined && { placeholder: { text: placeholder, reference: TEST_REFERENCE } }),
});

export const createSummaryEdit = (
  original: readonly ApiMessage[],
  start: number,
  end: number,
  message: ApiMessage,
): SummaryEdit => ({
  ...makeEditBase(`summary ${start}`),
  kind: 'summary',
  start,
  end,
  message,
  reference: TEST_REFERENCE,
  before: hashText(JSON.stringify(original.slice(start, end))),
});
