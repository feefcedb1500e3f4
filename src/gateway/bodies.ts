/**
 * Parses only what follows the beginning that a body shares with an earlier one, because agents
 * send the whole conversation each time.
 */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { isDeeperThan, MAX_JSON_DEPTH } from '../conversations/text/json';
import { skipJsonSpace, skipJsonString, skipJsonValue } from '../core/json/editJson';
import { isRecord } from '../core/messages/blocks';
import type { RequestBody } from './wires/wire';

const MAX_KNOWN_BODIES = 20;

export class ParsedBody {
  private cachedText: string | undefined;
  private cachedElementEnds: ElementEndsInBody | null | undefined;

  constructor(
    readonly bytes: Buffer,
    readonly body: RequestBody,
    readonly list: string,
    places?: ElementEndsInBody,
  ) {
    this.cachedElementEnds = places;
  }

  get text(): string {
    return (this.cachedText ??= decodeText(this.bytes));
  }

  /**
   * Byte offsets of the ends of the list's elements; empty if there is no list or a key is
   * duplicated.
   */
  get ends(): readonly number[] {
    return this.locatedElements?.ends ?? [];
  }

  get before(): RequestBody {
    return this.locatedElements?.before ?? {};
  }

  private get locatedElements(): ElementEndsInBody | null {
    if (this.cachedElementEnds !== undefined) return this.cachedElementEnds;
    const elementEnds = locateElements(this.text, this.list);
    this.cachedElementEnds = elementEnds
      ? {
          ends: toByteOffsets(this.text, this.bytes.length === this.text.length, elementEnds.ends),
          before: Object.fromEntries(elementEnds.before.map((name) => [name, this.body[name]])),
        }
      : null;
    return this.cachedElementEnds;
  }
}

interface ElementEndsInBody {
  readonly ends: readonly number[];
  readonly before: RequestBody;
}

export class ParsedBodyCache {
  /** Most recently used last. */
  private bodies: readonly ParsedBody[] = [];

  /** Returns undefined for anything but a JSON object of a depth that the core supports. */
  parseBody(bytes: Buffer, list: string): ParsedBody | undefined {
    const [bestMatch, commonCount] = this.findBodyWithLongestCommon(bytes, list);
    const parsedBody = (bestMatch && parseContinuedBody(bestMatch, commonCount, bytes)) ?? parseWholeBody(bytes, list);
    if (!parsedBody) return undefined;
    const otherBodies = this.bodies.filter((other) => other !== bestMatch || commonCount < other.ends.length);
    this.bodies = [...otherBodies, parsedBody].slice(-MAX_KNOWN_BODIES);
    return parsedBody;
  }

  private findBodyWithLongestCommon(bytes: Buffer, listName: string): [ParsedBody | undefined, number] {
    let bestMatch: ParsedBody | undefined;
    let mostCommonCount = 0;
    for (const candidate of this.bodies) {
      if (candidate.list !== listName || !haveSameBeginning(candidate.bytes, bytes)) continue;
      const commonCount = countCommonElements(candidate, bytes);
      if (commonCount > 0 && (candidate.ends[commonCount - 1] ?? 0) > (bestMatch?.ends[mostCommonCount - 1] ?? 0))
        [bestMatch, mostCommonCount] = [candidate, commonCount];
    }
    return [bestMatch, mostCommonCount];
  }
}

/**
 * Number of bytes at the beginning by which bodies of different agents and models are
 * distinguished.
 */
const COMPARED_BEGINNING_BYTES = 64;

const haveSameBeginning = (a: Buffer, b: Buffer): boolean =>
  a.subarray(0, COMPARED_BEGINNING_BYTES).equals(b.subarray(0, COMPARED_BEGINNING_BYTES));

function countCommonElements({ bytes: knownBytes, ends }: ParsedBody, bytes: Buffer): number {
  let [equalCount, differentCount, comparedEnd] = [0, ends.length + 1, 0];
  for (
    let comparedCount = ends.length;
    equalCount + 1 < differentCount;
    comparedCount = Math.floor((equalCount + differentCount) / 2)
  ) {
    const end = ends[comparedCount - 1] ?? 0;
    if (end <= bytes.length && knownBytes.compare(bytes, comparedEnd, end, comparedEnd, end) === 0)
      [equalCount, comparedEnd] = [comparedCount, end];
    else differentCount = comparedCount;
  }
  return equalCount;
}

/** Returns undefined if the whole body must be parsed. */
function parseContinuedBody(earlierBody: ParsedBody, commonCount: number, bytes: Buffer): ParsedBody | undefined {
  const { list, ends } = earlierBody;
  const commonEnd = ends[commonCount - 1];
  const elements = earlierBody.body[list];
  if (commonEnd === undefined || !Array.isArray(elements)) return undefined;
  const newBytes = bytes.subarray(commonEnd);
  if (!isUtf8(newBytes)) return undefined;
  // The `0` stands for all common elements of the list.
  const placeholderHead = `{${JSON.stringify(list)}:[0`;
  const text = placeholderHead + decodeText(newBytes);
  try {
    const newMembers: unknown = JSON.parse(text);
    const elementEnds = locateElements(text, list);
    if (!elementEnds || !isRecord(newMembers) || isDeeperThan(newMembers, MAX_JSON_DEPTH)) return undefined;
    const { before } = earlierBody;
    if (Object.keys(newMembers).some((name) => Object.hasOwn(before, name))) return undefined;
    const newElements = newMembers[list] as readonly unknown[];
    const newEnds = toByteOffsets(
      text,
      newBytes.length + placeholderHead.length === text.length,
      elementEnds.ends.slice(1),
    );
    return new ParsedBody(
      bytes,
      {
        ...before,
        ...newMembers,
        [list]: [...(elements as readonly unknown[]).slice(0, commonCount), ...newElements.slice(1)],
      },
      list,
      {
        before,
        ends: [...ends.slice(0, commonCount), ...newEnds.map((end) => commonEnd + end - placeholderHead.length)],
      },
    );
  } catch {
    return undefined;
  }
}

function parseWholeBody(bytes: Buffer, listName: string): ParsedBody | undefined {
  try {
    // Invalid UTF-8 would not survive decoding and encoding unchanged.
    if (!isUtf8(bytes)) return undefined;
    const body: unknown = JSON.parse(decodeText(bytes));
    return isRecord(body) && !isDeeperThan(body, MAX_JSON_DEPTH) ? new ParsedBody(bytes, body, listName) : undefined;
  } catch {
    return undefined;
  }
}

/** Most requests are ASCII, which decodes much faster as Latin-1. */
const decodeText = (bytes: Buffer): string => bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');

/** The offsets must ascend. */
function toByteOffsets(text: string, isAsciiText: boolean, offsets: readonly number[]): readonly number[] {
  if (isAsciiText) return offsets;
  let [position, bytes] = [0, 0];
  return offsets.map((offset) => {
    bytes += Buffer.byteLength(text.slice(position, offset));
    position = offset;
    return bytes;
  });
}

/**
 * @returns end offsets of the elements, and names of the members before the list; undefined if
 *   there is no list or a name is duplicated
 */
function locateElements(
  text: string,
  listName: string,
): { readonly ends: number[]; readonly before: string[] } | undefined {
  const memberNames = new Set<string>();
  const skipComma = (end: number): number => {
    const position = skipJsonSpace(text, end);
    return text[position] === ',' ? skipJsonSpace(text, position + 1) : position;
  };
  let elementEnds: { readonly ends: number[]; readonly before: string[] } | undefined;
  for (let position = skipJsonSpace(text, skipJsonSpace(text, 0) + 1); text[position] !== '}';) {
    const nameEnd = skipJsonString(text, position);
    const name = JSON.parse(text.slice(position, nameEnd)) as string;
    if (memberNames.has(name)) return undefined;
    let valueEnd = skipJsonSpace(text, skipJsonSpace(text, nameEnd) + 1);
    if (name === listName) {
      if (text[valueEnd] !== '[') return undefined;
      const ends: number[] = [];
      for (valueEnd = skipJsonSpace(text, valueEnd + 1); text[valueEnd] !== ']';) {
        ends.push(skipJsonValue(text, valueEnd));
        valueEnd = skipComma(ends.at(-1) ?? valueEnd);
      }
      valueEnd++;
      elementEnds = { ends, before: [...memberNames] };
    } else valueEnd = skipJsonValue(text, valueEnd);
    memberNames.add(name);
    position = skipComma(valueEnd);
  }
  return elementEnds;
}
