/**
 * Keeps unchanged parts as they were: large numbers (1e400), duplicate keys, escapes, whitespace.
 */
import { isEqual } from '../isEqual';
import { isRecord } from '../messages/blocks';
import { skipJsonSpace, skipJsonString, skipJsonValue } from './editJson';

/**
 * For each element of a new list, the index of its original in the old list; undefined for a new
 * element.
 */
export type OriginalIndexes = readonly (number | undefined)[];

/** If this returns undefined, elements are matched by equality, IDs and position. */
export type GetOriginalIndexes = (path: readonly string[]) => OriginalIndexes | undefined;

/**
 * @param text valid JSON
 * @param newValue anything that `JSON.stringify` accepts, but without `toJSON` methods
 * @param origins called with a path of object keys, without list indexes
 */
export function rewriteJson(text: string, newValue: unknown, origins: GetOriginalIndexes = () => undefined): string {
  const start = skipJsonSpace(text, 0);
  const end = skipJsonValue(text, start);
  const value: unknown = JSON.parse(text);
  if (isEqual(value, newValue)) return text;
  const rewrittenText = new JsonRewriter(text, origins).rewriteValue({ start, end, value }, newValue, []);
  // V8 was seen to misread a key (Node 24.21), so this verifies the result.
  const serialized = JSON.stringify(newValue);
  const normalizeJson = (json: string): unknown => JSON.parse(JSON.stringify(JSON.parse(json)));
  return isEqual(normalizeJson(rewrittenText), normalizeJson(serialized)) ? rewrittenText : serialized;
}

export function getJsonAt(text: string, path: readonly (string | number)[]): string | undefined {
  let start = skipJsonSpace(text, 0);
  let end = skipJsonValue(text, start);
  for (const key of path) {
    const span: TextSpan | undefined =
      typeof key === 'number'
        ? text[start] === '['
          ? findElementSpans(text, start)[key]
          : undefined
        : text[start] === '{'
          ? findMemberSpans(text, start).findLast((member) => member.key === key)
          : undefined;
    if (!span) return undefined;
    ({ start, end } = span);
  }
  return text.slice(start, end);
}

interface TextSpan {
  readonly start: number;
  readonly end: number;
}

interface PlacedValue extends TextSpan {
  readonly value: unknown;
}

export interface JsonReplacement extends TextSpan {
  readonly json: string;
}

/** The spans must not overlap. */
export function replaceSpans(text: string, spans: readonly JsonReplacement[]): string {
  let rewrittenText = '';
  let copiedEnd = 0;
  for (const { start, end, json } of spans.toSorted((a, b) => a.start - b.start)) {
    rewrittenText += text.slice(copiedEnd, start) + json;
    copiedEnd = end;
  }
  return rewrittenText + text.slice(copiedEnd);
}

/** Lists all objects in JSON or JSON Lines, outer ones first. Skips lines that are not JSON. */
export function* listObjectsIn(
  text: string,
): Generator<{ readonly members: readonly JsonMemberSpan[]; readonly offset: number }, void> {
  if (isJson(text)) return yield* listObjects(text, 0);
  let offset = 0;
  for (const line of text.split('\n')) {
    if (isJson(line)) yield* listObjects(line, offset);
    offset += line.length + 1;
  }
}

function* listObjects(
  text: string,
  offset: number,
): Generator<{ readonly members: readonly JsonMemberSpan[]; readonly offset: number }, void> {
  const starts = [skipJsonSpace(text, 0)];
  for (let start = starts.pop(); start !== undefined; start = starts.pop()) {
    if (text[start] === '{') {
      const members = findMemberSpans(text, start);
      yield { members, offset };
      for (const member of members) starts.push(member.start);
    } else if (text[start] === '[') {
      for (const span of findElementSpans(text, start)) starts.push(span.start);
    }
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

class JsonRewriter {
  constructor(
    private readonly text: string,
    private readonly origins: GetOriginalIndexes,
  ) {}

  rewriteValue(original: PlacedValue, newValue: unknown, path: readonly string[]): string {
    const { value, start, end } = original;
    if (isEqual(value, newValue)) return this.text.slice(start, end);
    if (Array.isArray(value) && Array.isArray(newValue)) return this.rewriteArray(original, value, newValue, path);
    if (isRecord(value) && isRecord(newValue)) return this.rewriteObject(original, value, newValue, path);
    return JSON.stringify(newValue);
  }

  private rewriteArray(
    original: TextSpan,
    value: readonly unknown[],
    newItems: readonly unknown[],
    path: readonly string[],
  ): string {
    const spans = findElementSpans(this.text, original.start);
    const origins = this.origins(path) ?? matchArrayItems(value, newItems);
    const rewrittenItems = newItems.map((item, index) => {
      const origin = origins[index];
      const span = origin === undefined ? undefined : spans[origin];
      return span && origin !== undefined
        ? this.rewriteValue({ ...span, value: value[origin] }, item, path)
        : JSON.stringify(item === undefined ? null : item);
    });
    const isInPlace = rewrittenItems.length === spans.length && origins.every((origin, index) => origin === index);
    return isInPlace ? this.replaceSpansIn(original, spans, rewrittenItems) : `[${rewrittenItems.join(',')}]`;
  }

  private rewriteObject(
    original: TextSpan,
    value: Readonly<Record<string, unknown>>,
    newFields: Readonly<Record<string, unknown>>,
    path: readonly string[],
  ): string {
    const members = findMemberSpans(this.text, original.start);
    const lastIndexByKey = new Map(members.map((member, index) => [member.key, index]));
    const keptMembers = members.filter(({ key }) => newFields[key] !== undefined && Object.hasOwn(newFields, key));
    const rewrittenValues = keptMembers.map((member) =>
      // Of duplicate keys the last one counts.
      members[lastIndexByKey.get(member.key) ?? -1] === member
        ? this.rewriteValue({ ...member, value: value[member.key] }, newFields[member.key], [...path, member.key])
        : this.text.slice(member.start, member.end),
    );
    const addedKeys = Object.keys(newFields).filter((key) => newFields[key] !== undefined && !lastIndexByKey.has(key));
    if (keptMembers.length === members.length && addedKeys.length === 0)
      return this.replaceSpansIn(original, members, rewrittenValues);
    const entries = [
      ...keptMembers.map(
        (member, index) => this.text.slice(member.keyStart, member.start) + (rewrittenValues[index] ?? ''),
      ),
      ...addedKeys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(newFields[key])}`),
    ];
    return `{${entries.join(',')}}`;
  }

  private replaceSpansIn(
    { start, end }: TextSpan,
    spans: readonly TextSpan[],
    rewrittenValues: readonly string[],
  ): string {
    let rewrittenText = '';
    let copiedEnd = start;
    spans.forEach((span, index) => {
      rewrittenText += this.text.slice(copiedEnd, span.start) + (rewrittenValues[index] ?? '');
      copiedEnd = span.end;
    });
    return rewrittenText + this.text.slice(copiedEnd, end);
  }
}

/**
 * Matches items that are equal or share content or an ID, then matches the remaining items by
 * index.
 */
function matchArrayItems(oldItems: readonly unknown[], newItems: readonly unknown[]): OriginalIndexes {
  if (oldItems.length === newItems.length) return newItems.map((_, index) => index);
  const indexByKey = new Map<string, number>();
  oldItems.forEach((item, index) => {
    for (const key of listMatchKeys(item)) if (!indexByKey.has(key)) indexByKey.set(key, index);
  });
  return newItems.map((item, index) => {
    const keys = listMatchKeys(item);
    if (index < oldItems.length && listMatchKeys(oldItems[index]).some((key) => keys.includes(key))) return index;
    const sharedKey = keys.find((key) => indexByKey.has(key));
    if (sharedKey !== undefined) return indexByKey.get(sharedKey);
    return index < oldItems.length ? index : undefined;
  });
}

function listMatchKeys(item: unknown): string[] {
  if (!isRecord(item)) return [`=${JSON.stringify(item)}`];
  const { content, id, tool_use_id: result } = item;
  const ids = (Array.isArray(content) ? (content as readonly unknown[]) : [])
    .filter(isRecord)
    .flatMap((block) => [block['id'], block['tool_use_id']])
    .concat(id, result)
    .flatMap((each) => (typeof each === 'string' ? [`#${each}`] : []));
  return [`=${JSON.stringify(item)}`, ...(content === undefined ? [] : [`@${JSON.stringify(content)}`]), ...ids];
}

function findElementSpans(text: string, start: number): TextSpan[] {
  const spans: TextSpan[] = [];
  for (let offset = skipJsonSpace(text, start + 1); text[offset] !== ']'; offset = skipComma(text, offset)) {
    const end = skipJsonValue(text, offset);
    spans.push({ start: offset, end });
    offset = end;
  }
  return spans;
}

export interface JsonMemberSpan extends TextSpan {
  readonly key: string;
  readonly keyStart: number;
}

function findMemberSpans(text: string, start: number): JsonMemberSpan[] {
  const members: JsonMemberSpan[] = [];
  for (let offset = skipJsonSpace(text, start + 1); text[offset] !== '}'; offset = skipComma(text, offset)) {
    const keyEnd = skipJsonString(text, offset);
    const valueStart = skipJsonSpace(text, skipJsonSpace(text, keyEnd) + 1);
    const end = skipJsonValue(text, valueStart);
    members.push({ key: JSON.parse(text.slice(offset, keyEnd)) as string, keyStart: offset, start: valueStart, end });
    offset = end;
  }
  return members;
}

function skipComma(text: string, end: number): number {
  const offset = skipJsonSpace(text, end);
  return text[offset] === ',' ? skipJsonSpace(text, offset + 1) : offset;
}
