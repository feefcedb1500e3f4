import type { PlacedContent } from '../../../messages/exchanges';
import { getToolRule, type ToolTable } from '../../../messages/tools';
import type { ToolKind } from '../../../agents/types';
import { countLinesIn } from '../../../lineCount';
import type { ContentType, ContentPlace } from '../../../messages/types';
import { compareStart, type Slice } from '../../../slice';
import type { CutRequest } from '../../draft/cuts';
import type { Draft } from '../../draft/draft';
import { makePlaceKey } from '../../edits/edits';
import { findMarkers } from '../../../messages/markers';
import { findSlicesWrittenByPerson } from '../../summary/instructions';
import { findTruncatedSlice, type TruncateLimits } from '../../operations/truncate';
import { OPERATIONS, OUTCOME_ROWS, getStrongestOperation, type OperationName } from '../../edits/operations';
import type { OperationNamed } from './operationSchema';
import { findErrorLines } from '../../operations/errorLines';
import { formatDeclaredNames, type DeclaredName } from './declaredNames';
import { getParameterName, type ContentItem } from './items';

/** Offsets refer to the current string at the place. */
export interface PlacedCutRequest extends CutRequest {
  readonly place: ContentPlace;
  readonly type: ContentType;
  readonly operation: CutOperation;
}

export type CutOperation = Exclude<OperationName, 'keep' | 'outline'>;

/** These parameters identify a call for a model, so they stay when others go. */
const IDENTIFYING_PARAMETERS: ReadonlySet<string> = new Set([
  ...['file_path', 'filePath', 'path', 'notebook_path', 'dir_path', 'TargetFile', 'files', 'paths', 'file'],
  ...['command', 'cmd', 'commands', 'pattern', 'glob', 'regex', 'query', 'url', 'uri', 'symbol', 'name', 'title'],
  ...['description', 'subagent_type', 'server_name', 'tool_name', 'args'],
]);
/** Limit for one parameter, because a command may be a whole script. */
const MAX_IDENTIFYING_CHARS = 240;

export const isIdentifyingParameter = (content: PlacedContent, item: ContentItem): boolean =>
  item.type === 'toolParameters' && IDENTIFYING_PARAMETERS.has(getParameterName(content, item.exchange) ?? '');

/** Keeps what identifies a call and the user's words. */
export function suppressItem(item: ContentItem, { marker }: OperationNamed<'suppress'>): PlacedCutRequest[] {
  return item.contents.flatMap((content) => {
    const removableSlice = getRemovableSlice(content, item);
    return removableSlice ? createPlacedRequests(content, item, [{ ...removableSlice, marker }], [], 'suppress') : [];
  });
}

/** Returns all of the content, or what follows the beginning of an identifying parameter. */
export function getRemovableSlice(content: PlacedContent, item: ContentItem): Slice | undefined {
  const { text } = content;
  const headLimits: TruncateLimits = { maxChars: MAX_IDENTIFYING_CHARS, keep: 'head' };
  return isIdentifyingParameter(content, item) ? findTruncatedSlice(text, headLimits) : { start: 0, end: text.length };
}

export const createCutsForOperation = (
  operation: CutOperation,
  content: PlacedContent,
  item: ContentItem,
  slices: readonly MarkedSlice[],
): PlacedCutRequest[] => createPlacedRequests(content, item, slices, [], operation);

interface MarkerTextOptions {
  /** Words that replace the size of the removed text in the marker. */
  readonly marker?: string | undefined;
  readonly names?: readonly DeclaredName[];
  readonly textInFront?: string;
}

export interface MarkedSlice extends Slice, MarkerTextOptions {}

/** Keeps error lines. */
export function truncateItem(item: ContentItem, limits: TruncateOptions, tools: ToolTable): PlacedCutRequest[] {
  const { maxChars, maxLines, keep } = limits;
  const keepsErrors = limits.keepErrorLines && item.type === 'toolResults' && !showsSourceCode(item, tools);
  return item.contents.flatMap((content) => {
    const truncatedSlice = findTruncatedSlice(content.text, { maxChars, maxLines, keep });
    if (!truncatedSlice) return [];
    const keptSlices = keepsErrors ? findErrorLines(content.text) : [];
    return createPlacedRequests(content, item, [truncatedSlice], keptSlices, 'truncate');
  });
}

/** Error words in the code that these tools show are not errors. */
const CODE_TOOL_KINDS: ReadonlySet<ToolKind | undefined> = new Set(['read', 'search', 'list'] as const);

const showsSourceCode = ({ exchange }: ContentItem, tools: ToolTable): boolean =>
  exchange !== undefined && !exchange.isError && CODE_TOOL_KINDS.has(getToolRule(tools, exchange)?.kind);

export type TruncateOptions = Pick<OperationNamed<'truncate'>, 'maxChars' | 'maxLines' | 'keep' | 'keepErrorLines'>;

export function describeSliceSize(text: string, slice: Slice): string {
  const lineCount = countLinesIn(text, slice);
  return lineCount > 1 ? `${lineCount} lines` : `${slice.end - slice.start} characters`;
}

function createPlacedRequests(
  content: PlacedContent,
  item: ContentItem,
  slices: readonly MarkedSlice[],
  keptSlices: readonly Slice[],
  operation: CutOperation,
): PlacedCutRequest[] {
  const { text, start, message, path } = content;
  const userSlices = item.type === 'toolResults' ? findSlicesWrittenByPerson(text, item.exchange) : [];
  const markers = findMarkers(text);
  return slices.flatMap(({ marker, names = [], textInFront, ...slice }) =>
    subtractSlices(slice, [...keptSlices, ...userSlices])
      .map((part) => trimMarkers(text, part, markers))
      .filter((part) => part.end > part.start)
      .map((part, index) => {
        const markerText = marker ?? `${describeSliceSize(text, part)} ${OPERATIONS[operation].done}`;
        const partNames = names.filter(({ offset }) => part.start <= offset && offset < part.end);
        return {
          place: { message, path },
          start: start + part.start,
          end: start + part.end,
          marker: markerText + formatDeclaredNames(partNames),
          ...(index === 0 && textInFront !== undefined && { textInFront }),
          type: item.type,
          operation,
        };
      }),
  );
}

function subtractSlices(slice: Slice, excludedSlices: readonly Slice[]): Slice[] {
  const remainingSlices: Slice[] = [];
  let remainingStart = slice.start;
  for (const excludedSlice of excludedSlices.toSorted(compareStart)) {
    if (excludedSlice.start > remainingStart)
      remainingSlices.push({ start: remainingStart, end: Math.min(excludedSlice.start, slice.end) });
    remainingStart = Math.max(remainingStart, excludedSlice.end);
    if (remainingStart >= slice.end) break;
  }
  return remainingStart < slice.end ? [...remainingSlices, { start: remainingStart, end: slice.end }] : remainingSlices;
}

/** Excludes markers and blank lines at the slice's ends, so that each marker keeps its own line. */
function trimMarkers(text: string, slice: Slice, markers: readonly Slice[]): Slice {
  let { start, end } = slice;
  for (;;) {
    const previousSlice = { start, end };
    ({ start, end } = trimBlankEnds(text, previousSlice));
    start = markers.find((marker) => marker.start <= start && marker.end > start)?.end ?? start;
    end = markers.find((marker) => marker.start < end && marker.end >= end)?.start ?? end;
    if (start >= end) return { start, end: start };
    if (start === previousSlice.start && end === previousSlice.end) return { start, end };
  }
}

function trimBlankEnds(text: string, { start, end }: Slice): Slice {
  const remainder = text.slice(start, end).trimStart();
  const trimmedStart = end - remainder.length;
  return { start: trimmedStart, end: trimmedStart + remainder.trimEnd().length };
}

/**
 * Makes all cuts in a string at once, because their offsets refer to the text before any of them.
 */
export function applyCutRequests(name: string, draft: Draft, requests: readonly PlacedCutRequest[]): void {
  const requestsByPlace = new Map<string, PlacedCutRequest[]>();
  for (const request of requests) {
    const key = makePlaceKey(request.place);
    const requestsAtPlace = requestsByPlace.get(key);
    if (requestsAtPlace) requestsAtPlace.push(request);
    else requestsByPlace.set(key, [request]);
  }
  for (const group of requestsByPlace.values()) {
    const [firstRequest, ...otherRequests] = group;
    if (!firstRequest) continue;
    const outcomeLabels = new Set(group.map(({ operation }) => OUTCOME_ROWS[OPERATIONS[operation].outcome].label));
    draft.cutText(name, firstRequest.place, group, {
      contentType: firstRequest.type,
      operation: getStrongestOperation([firstRequest.operation, ...otherRequests.map(({ operation }) => operation)]),
      reason: [...outcomeLabels].join(', '),
      strict: false,
    });
  }
}
