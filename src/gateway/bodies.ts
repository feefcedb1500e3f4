/**
 * Agents send the whole conversation each time, so this parses only what follows the common prefix
 * with an earlier body.
 */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { isDeeperThan, MAX_JSON_DEPTH } from '../conversations/text/json';
import { skipJsonSpace, skipJsonString, skipJsonValue } from '../core/json/editJson';
import { isRecord } from '../core/messages/blocks';
import type { RequestBody } from './wires/wire';

const MAX_KNOWN_BODIES = 20;

export class ParsedBody {
  private cachedText: string | undefined;
  private places: ElementEndsInBody | null | undefined;

  constructor(
    readonly bytes: Buffer,
    readonly body: RequestBody,
    readonly list: string,
    places?: ElementEndsInBody,
  ) {
    this.places = places;
  }

  get text(): string {
    return (this.cachedText ??= decodeText(this.bytes));
  }

  /** Byte offsets after each list element; empty if there is no list or a key is duplicated. */
  get ends(): readonly number[] {
    return this.known?.ends ?? [];
  }

  get before(): RequestBody {
    return this.known?.before ?? {};
  }

  private get known(): ElementEndsInBody | null {
    if (this.places !== undefined) return this.places;
    const found = locateElements(this.text, this.list);
    this.places = found
      ? {
          ends: toByteOffsets(this.text, this.bytes.length === this.text.length, found.ends),
          before: Object.fromEntries(found.before.map((name) => [name, this.body[name]])),
        }
      : null;
    return this.places;
  }
}

interface ElementEndsInBody {
  readonly ends: readonly number[];
  readonly before: RequestBody;
}

export class ParsedBodyCache {
  /** Most recently used last. */
  private bodies: readonly ParsedBody[] = [];

  /** Returns undefined for anything but a JSON object that the core supports. */
  parseBody(bytes: Buffer, list: string): ParsedBody | undefined {
    const [best, common] = this.findBodyWithLongestCommon(bytes, list);
    const read = (best && parseContinuedBody(best, common, bytes)) ?? parseWholeBody(bytes, list);
    if (!read) return undefined;
    const others = this.bodies.filter((other) => other !== best || common < other.ends.length);
    this.bodies = [...others, read].slice(-MAX_KNOWN_BODIES);
    return read;
  }

  private findBodyWithLongestCommon(bytes: Buffer, list: string): [ParsedBody | undefined, number] {
    let best: ParsedBody | undefined;
    let mostCommon = 0;
    for (const candidate of this.bodies) {
      if (candidate.list !== list || !haveSameBeginning(candidate.bytes, bytes)) continue;
      const common = countCommonElements(candidate, bytes);
      if (common > 0 && (candidate.ends[common - 1] ?? 0) > (best?.ends[mostCommon - 1] ?? 0))
        [best, mostCommon] = [candidate, common];
    }
    return [best, mostCommon];
  }
}

/** This many bytes distinguish agents and models. */
const COMPARED_BEGINNING_BYTES = 64;

const haveSameBeginning = (a: Buffer, b: Buffer): boolean =>
  a.subarray(0, COMPARED_BEGINNING_BYTES).equals(b.subarray(0, COMPARED_BEGINNING_BYTES));

function countCommonElements({ bytes: knownBytes, ends }: ParsedBody, bytes: Buffer): number {
  let [same, differs, from] = [0, ends.length + 1, 0];
  for (let next = ends.length; same + 1 < differs; next = Math.floor((same + differs) / 2)) {
    const end = ends[next - 1] ?? 0;
    if (end <= bytes.length && knownBytes.compare(bytes, from, end, from, end) === 0) [same, from] = [next, end];
    else differs = next;
  }
  return same;
}

/** Returns undefined if the whole body must be parsed. */
function parseContinuedBody(earlier: ParsedBody, common: number, bytes: Buffer): ParsedBody | undefined {
  const { list, ends } = earlier;
  const from = ends[common - 1];
  const elements = earlier.body[list];
  if (from === undefined || !Array.isArray(elements)) return undefined;
  const tail = bytes.subarray(from);
  if (!isUtf8(tail)) return undefined;
  // The `0` represents all common elements.
  const opening = `{${JSON.stringify(list)}:[0`;
  const text = opening + decodeText(tail);
  try {
    const rest: unknown = JSON.parse(text);
    const found = locateElements(text, list);
    if (!found || !isRecord(rest) || isDeeperThan(rest, MAX_JSON_DEPTH)) return undefined;
    const { before } = earlier;
    if (Object.keys(rest).some((name) => Object.hasOwn(before, name))) return undefined;
    const added = rest[list] as readonly unknown[];
    const newEnds = toByteOffsets(text, tail.length + opening.length === text.length, found.ends.slice(1));
    return new ParsedBody(
      bytes,
      { ...before, ...rest, [list]: [...(elements as readonly unknown[]).slice(0, common), ...added.slice(1)] },
      list,
      { before, ends: [...ends.slice(0, common), ...newEnds.map((end) => from + end - opening.length)] },
    );
  } catch {
    return undefined;
  }
}

function parseWholeBody(bytes: Buffer, list: string): ParsedBody | undefined {
  try {
    // Invalid UTF-8 would not round-trip.
    if (!isUtf8(bytes)) return undefined;
    const body: unknown = JSON.parse(decodeText(bytes));
    return isRecord(body) && !isDeeperThan(body, MAX_JSON_DEPTH) ? new ParsedBody(bytes, body, list) : undefined;
  } catch {
    return undefined;
  }
}

/** Most requests are ASCII, which decodes much faster as Latin-1. */
const decodeText = (bytes: Buffer): string => bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');

/** The offsets must ascend. */
function toByteOffsets(text: string, isAsciiText: boolean, offsets: readonly number[]): readonly number[] {
  if (isAsciiText) return offsets;
  let [at, bytes] = [0, 0];
  return offsets.map((offset) => {
    bytes += Buffer.byteLength(text.slice(at, offset));
    at = offset;
    return bytes;
  });
}

/**
 * @returns the offset after each element and the members before the list; undefined if there is no
 * list or a name is duplicated
 */
function locateElements(
  text: string,
  list: string,
): { readonly ends: number[]; readonly before: string[] } | undefined {
  const names = new Set<string>();
  const skipComma = (end: number): number => {
    const at = skipJsonSpace(text, end);
    return text[at] === ',' ? skipJsonSpace(text, at + 1) : at;
  };
  let found: { readonly ends: number[]; readonly before: string[] } | undefined;
  for (let at = skipJsonSpace(text, skipJsonSpace(text, 0) + 1); text[at] !== '}';) {
    const nameEnd = skipJsonString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    if (names.has(name)) return undefined;
    let end = skipJsonSpace(text, skipJsonSpace(text, nameEnd) + 1);
    if (name === list) {
      if (text[end] !== '[') return undefined;
      const ends: number[] = [];
      for (end = skipJsonSpace(text, end + 1); text[end] !== ']';) {
        ends.push(skipJsonValue(text, end));
        end = skipComma(ends.at(-1) ?? end);
      }
      end++;
      found = { ends, before: [...names] };
    } else end = skipJsonValue(text, end);
    names.add(name);
    at = skipComma(end);
  }
  return found;
}
