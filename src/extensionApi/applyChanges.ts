import type { CutRequest } from '../core/condense/draft/cuts';
import type { Draft } from '../core/condense/draft/draft';
import { createSummaryMessage, formatSummaryText } from '../core/condense/summary/summaryMessage';
import { listContents, type Content } from '../core/messages/content';
import type { ContentType, Path } from '../core/messages/types';
import type { Change, CutChange, SummaryChange } from './api';
import type { ExternalView } from './externalView';

export interface DroppedChangeCounts {
  readonly useless: number;
  /** Number of cuts that were dropped because they overlap an earlier one. */
  readonly overlapping: number;
}

/** @throws Error if a change refers to something that isn't there or may not change */
export function applyChanges(
  view: ExternalView,
  changes: readonly Change[],
  draft: Draft,
  step: string,
): DroppedChangeCounts {
  let uselessCount = 0;
  let overlapCount = 0;
  for (const group of groupCutChanges(changes)) {
    const isCut = group.kind === 'cut';
    const savedTokens = isCut
      ? applyCutsAtPlace(view, group, draft, step)
      : applySummaryChange(view, group, draft, step);
    if (savedTokens === 0) uselessCount += isCut ? group.requests.length : 1;
    else if (isCut) overlapCount += countOverlaps(group.requests);
  }
  return { useless: uselessCount, overlapping: overlapCount };
}

/** Counts the cuts that start inside an earlier one. */
function countOverlaps(requests: readonly CutRequest[]): number {
  let lastEnd = 0;
  let count = 0;
  for (const { start, end } of requests.toSorted((a, b) => a.start - b.start)) {
    if (start < lastEnd) count += 1;
    else lastEnd = end;
  }
  return count;
}

/**
 * The cuts of one text. They are applied together, because their offsets refer to the original
 * text.
 */
interface CutsAtPlace {
  readonly kind: 'cut';
  readonly message: number;
  readonly path: Path;
  readonly reason: string;
  readonly requests: CutRequest[];
}

function groupCutChanges(changes: readonly Change[]): (CutsAtPlace | SummaryChange)[] {
  const cutsByPlace = new Map<string, CutsAtPlace>();
  const groups: (CutsAtPlace | SummaryChange)[] = [];
  for (const change of changes) {
    if (change.kind === 'summary') {
      groups.push(change);
      continue;
    }
    const { message, path, reason } = change;
    const key = JSON.stringify([message, path]);
    const group = cutsByPlace.get(key) ?? { kind: 'cut', message, path, reason, requests: [] };
    if (!cutsByPlace.has(key)) groups.push(group);
    cutsByPlace.set(key, group);
    group.requests.push(toCutRequest(change));
  }
  return groups;
}

const toCutRequest = ({ start, end, what }: CutChange): CutRequest => ({ start, end, marker: what });

/** @throws Error if this text can't be cut */
function applyCutsAtPlace(
  view: ExternalView,
  { message, path, reason, requests }: CutsAtPlace,
  draft: Draft,
  step: string,
): number {
  const range = view.ranges[message];
  const viewMessage = view.messages[message];
  const placeText = `message ${message}, ${path.join('.')}`;
  if (!range || !viewMessage) throw new Error(`There is no ${placeText}.`);
  if (range.isSummary) throw new Error(`${placeText}: a summary is replaced by another one, not cut.`);
  if (range.start === draft.task) throw new Error(`${placeText}: the first user message stays as it is.`);
  const contents = listContents(viewMessage).filter((content) => arePathsEqual(content.path, path));
  const type = findContentType(contents, requests);
  if (type === undefined)
    throw new Error(`${placeText}: there is no text from ${describeCutSpans(requests)} that may be cut.`);
  return draft.cutText(step, { message: range.start, path }, requests, {
    contentType: type,
    operation: 'cut',
    reason,
    strict: false,
  });
}

const arePathsEqual = (a: Path, b: Path): boolean => a.length === b.length && a.every((key, index) => key === b[index]);

/** Returns the type of the content that contains all slices; undefined if none does. */
function findContentType(contents: readonly Content[], requests: readonly CutRequest[]): ContentType | undefined {
  const containingContents = requests.map(({ start, end }) =>
    contents.find((content) => start >= content.start && end <= content.end && start < end),
  );
  return containingContents.every((holder) => holder !== undefined) ? containingContents[0]?.type : undefined;
}

const describeCutSpans = (requests: readonly CutRequest[]): string =>
  requests.map(({ start, end }) => `${start} to ${end}`).join(', ');

/** @throws Error for an invalid range */
function applySummaryChange(
  view: ExternalView,
  { start, end, text, reason }: SummaryChange,
  draft: Draft,
  step: string,
): number {
  const firstRange = view.ranges[start];
  const lastRange = view.ranges[end - 1];
  if (!firstRange || !lastRange || end <= start) throw new Error(`There are no messages from ${start} to ${end}.`);
  if (draft.task >= firstRange.start && draft.task < lastRange.end)
    throw new Error('The first user message stays as it is.');
  return draft.replaceWithSummary(
    step,
    { start: firstRange.start, end: lastRange.end },
    createSummaryMessage(formatSummaryText(text, '')),
    {
      reason,
    },
  );
}
