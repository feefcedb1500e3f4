import type { PlacedContent } from '../../../messages/exchanges';
import { getToolRule, type ToolTable } from '../../../messages/tools';
import type { ToolKind } from '../../../agents/types';
import { countLinesIn } from '../../../lineCount';
import type { ContentType, Place } from '../../../messages/types';
import { compareStart, type Slice } from '../../../slice';
import type { CutRequest } from '../../draft/cuts';
import type { Draft } from '../../draft/draft';
import { placeKey } from '../../edits/edits';
import { findMarkers } from '../../../messages/markers';
import { findPersonSlices } from '../../summary/instructions';
import { findTruncatedSlice, type TruncateLimits } from '../../operations/truncate';
import { OPERATIONS, OUTCOMES, getStrongest, type OperationName } from '../../edits/operations';
import type { Operation } from './operationSchema';
import { findErrorLines } from '../../operations/errorLines';
import { formatNames, type DeclaredName } from './declaredNames';
import { getParameterName, type Item } from './items';

/** Offsets refer to the current string at the place. */
export interface PlacedRequest extends CutRequest {
  readonly place: Place;
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

export const isIdentifyingParameter = (content: PlacedContent, item: Item): boolean =>
  item.type === 'toolParameters' && IDENTIFYING_PARAMETERS.has(getParameterName(content, item.exchange) ?? '');

/** Keeps what identifies a call and the user's words. */
export function suppressItem(item: Item, { marker }: Operation<'suppress'>): PlacedRequest[] {
  return item.contents.flatMap((content) => {
    const slice = getRemovableSlice(content, item);
    return slice ? createRequests(content, item, [{ ...slice, marker }], [], 'suppress') : [];
  });
}

/** Returns all of the content, or what follows the beginning of an identifying parameter. */
export function getRemovableSlice(content: PlacedContent, item: Item): Slice | undefined {
  const { text } = content;
  const keep: TruncateLimits = { maxChars: MAX_IDENTIFYING_CHARS, keep: 'head' };
  return isIdentifyingParameter(content, item) ? findTruncatedSlice(text, keep) : { start: 0, end: text.length };
}

export const createCuts = (
  operation: CutOperation,
  content: PlacedContent,
  item: Item,
  slices: readonly MarkedSlice[],
): PlacedRequest[] => createRequests(content, item, slices, [], operation);

interface MarkerTexts {
  /** Words that replace the size of the removed text in the marker. */
  readonly marker?: string | undefined;
  readonly names?: readonly DeclaredName[];
  readonly inFront?: string;
}

export interface MarkedSlice extends Slice, MarkerTexts {}

/** Keeps error lines. */
export function truncateItem(item: Item, limits: TruncateOptions, tools: ToolTable): PlacedRequest[] {
  const { maxChars, maxLines, keep } = limits;
  const keepsErrors = limits.keepErrorLines && item.type === 'toolResults' && !showsCode(item, tools);
  return item.contents.flatMap((content) => {
    const slice = findTruncatedSlice(content.text, { maxChars, maxLines, keep });
    if (!slice) return [];
    const kept = keepsErrors ? findErrorLines(content.text) : [];
    return createRequests(content, item, [slice], kept, 'truncate');
  });
}

/** Error words in the code that these tools show are not errors. */
const CODE_TOOL_KINDS: ReadonlySet<ToolKind | undefined> = new Set(['read', 'search', 'list'] as const);

const showsCode = ({ exchange }: Item, tools: ToolTable): boolean =>
  exchange !== undefined && !exchange.isError && CODE_TOOL_KINDS.has(getToolRule(tools, exchange)?.kind);

export type TruncateOptions = Pick<Operation<'truncate'>, 'maxChars' | 'maxLines' | 'keep' | 'keepErrorLines'>;

export function describeSize(text: string, slice: Slice): string {
  const lines = countLinesIn(text, slice);
  return lines > 1 ? `${lines} lines` : `${slice.end - slice.start} characters`;
}

function createRequests(
  content: PlacedContent,
  item: Item,
  slices: readonly MarkedSlice[],
  kept: readonly Slice[],
  operation: CutOperation,
): PlacedRequest[] {
  const { text, start, message, path } = content;
  const words = item.type === 'toolResults' ? findPersonSlices(text, item.exchange) : [];
  const markers = findMarkers(text);
  return slices.flatMap(({ marker, names = [], inFront, ...slice }) =>
    subtractSlices(slice, [...kept, ...words])
      .map((part) => trimMarkers(text, part, markers))
      .filter((part) => part.end > part.start)
      .map((part, index) => {
        const size = marker ?? `${describeSize(text, part)} ${OPERATIONS[operation].done}`;
        const own = names.filter(({ at }) => part.start <= at && at < part.end);
        return {
          place: { message, path },
          start: start + part.start,
          end: start + part.end,
          marker: size + formatNames(own),
          ...(index === 0 && inFront !== undefined && { inFront }),
          type: item.type,
          operation,
        };
      }),
  );
}

function subtractSlices(slice: Slice, others: readonly Slice[]): Slice[] {
  const rest: Slice[] = [];
  let at = slice.start;
  for (const other of others.toSorted(compareStart)) {
    if (other.start > at) rest.push({ start: at, end: Math.min(other.start, slice.end) });
    at = Math.max(at, other.end);
    if (at >= slice.end) break;
  }
  return at < slice.end ? [...rest, { start: at, end: slice.end }] : rest;
}

/** Excludes markers and blank lines at the ends, so that each marker keeps its own line. */
function trimMarkers(text: string, slice: Slice, markers: readonly Slice[]): Slice {
  let { start, end } = slice;
  for (;;) {
    const before = { start, end };
    ({ start, end } = trimBlanks(text, before));
    start = markers.find((marker) => marker.start <= start && marker.end > start)?.end ?? start;
    end = markers.find((marker) => marker.start < end && marker.end >= end)?.start ?? end;
    if (start >= end) return { start, end: start };
    if (start === before.start && end === before.end) return { start, end };
  }
}

function trimBlanks(text: string, { start, end }: Slice): Slice {
  const behind = text.slice(start, end).trimStart();
  const from = end - behind.length;
  return { start: from, end: from + behind.trimEnd().length };
}

/**
 * Makes all cuts in a string at once, because their offsets refer to the text before any of them.
 */
export function applyCuts(name: string, draft: Draft, requests: readonly PlacedRequest[]): void {
  const byPlace = new Map<string, PlacedRequest[]>();
  for (const request of requests) {
    const key = placeKey(request.place);
    const known = byPlace.get(key);
    if (known) known.push(request);
    else byPlace.set(key, [request]);
  }
  for (const group of byPlace.values()) {
    const [first, ...others] = group;
    if (!first) continue;
    const outcomes = new Set(group.map(({ operation }) => OUTCOMES[OPERATIONS[operation].outcome].label));
    draft.cutText(name, first.place, group, {
      contentType: first.type,
      operation: getStrongest([first.operation, ...others.map(({ operation }) => operation)]),
      reason: [...outcomes].join(', '),
      strict: false,
    });
  }
}
