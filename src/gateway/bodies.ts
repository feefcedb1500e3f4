/**
 * Reads the bodies of requests. Agents send the whole conversation each time: where a body begins with the bytes of one before, up to
 * some element of its list of messages, what those bytes mean is known, and only the rest is read.
 */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { isDeeperThan, MAX_DEPTH } from '../conversations/text/json';
import { skipSpace, skipString, skipValue } from '../core/json/editJson';
import { isRecord } from '../core/messages/blocks';
import type { Body } from './wires/wire';

/** Bodies that are kept, as many as conversations. */
const MAX_KNOWN = 20;

/** A body that was read. */
export class ReadBody {
  private words: string | undefined;
  private places: Places | null | undefined;

  /** @param list the member of the body that holds its messages. */
  constructor(
    readonly bytes: Buffer,
    /** The value that `JSON.parse` makes of it. */
    readonly body: Body,
    readonly list: string,
    places?: Places,
  ) {
    this.places = places;
  }

  get text(): string {
    return (this.words ??= decodeText(this.bytes));
  }

  /** Offsets in the bytes behind each element of the list; empty where there is no such list, or a name stands twice. */
  get ends(): readonly number[] {
    return this.known?.ends ?? [];
  }

  /** The members in front of the list. */
  get before(): Body {
    return this.known?.before ?? {};
  }

  private get known(): Places | null {
    if (this.places !== undefined) return this.places;
    const found = locateElements(this.text, this.list);
    this.places = found
      ? {
          ends: inBytes(this.text, this.bytes.length === this.text.length, found.ends),
          before: Object.fromEntries(found.before.map((name) => [name, this.body[name]])),
        }
      : null;
    return this.places;
  }
}

interface Places {
  readonly ends: readonly number[];
  readonly before: Body;
}

/** Reads bodies, and remembers the last ones of as many conversations as the engine keeps. */
export class KnownBodies {
  /** The one that was used last stands last. */
  private known: readonly ReadBody[] = [];

  /** @returns undefined where the bytes are no JSON object that the core can work with. */
  read(bytes: Buffer, list: string): ReadBody | undefined {
    const [best, common] = this.longest(bytes, list);
    const read = (best && continued(best, common, bytes)) ?? readWhole(bytes, list);
    if (!read) return undefined;
    // One that went on takes the place of what it went on from.
    const others = this.known.filter((other) => other !== best || common < other.ends.length);
    this.known = [...others, read].slice(-MAX_KNOWN);
    return read;
  }

  /** The known body that these bytes have most elements in common with, and how many. */
  private longest(bytes: Buffer, list: string): [ReadBody | undefined, number] {
    let best: ReadBody | undefined;
    let most = 0;
    for (const known of this.known) {
      // Another's first bytes differ: nothing of it is looked for.
      if (known.list !== list || !startsAlike(known.bytes, bytes)) continue;
      const common = commonElements(known, bytes);
      if (common > 0 && (known.ends[common - 1] ?? 0) > (best?.ends[most - 1] ?? 0)) [best, most] = [known, common];
    }
    return [best, most];
  }
}

/** Bytes that say whether another agent, or another model, is talking. */
const BEGINNING = 64;

const startsAlike = (a: Buffer, b: Buffer): boolean => a.subarray(0, BEGINNING).equals(b.subarray(0, BEGINNING));

/** How many elements of a known body these bytes begin with, to the byte. */
function commonElements({ bytes: known, ends }: ReadBody, bytes: Buffer): number {
  let [same, differs, from] = [0, ends.length + 1, 0];
  // The last ones first: mostly all of them are the same.
  for (let next = ends.length; same + 1 < differs; next = Math.floor((same + differs) / 2)) {
    const end = ends[next - 1] ?? 0;
    if (end <= bytes.length && known.compare(bytes, from, end, from, end) === 0) [same, from] = [next, end];
    else differs = next;
  }
  return same;
}

/** Reads what stands behind the common elements. @returns undefined where it must be read whole. */
function continued(known: ReadBody, common: number, bytes: Buffer): ReadBody | undefined {
  const { list, ends } = known;
  const from = ends[common - 1];
  const elements = known.body[list];
  if (from === undefined || !Array.isArray(elements)) return undefined;
  const tail = bytes.subarray(from);
  if (!isUtf8(tail)) return undefined;
  // One element stands for all that are known.
  const opening = `{${JSON.stringify(list)}:[0`;
  const text = opening + decodeText(tail);
  try {
    const rest: unknown = JSON.parse(text);
    const found = locateElements(text, list);
    if (!found || !isRecord(rest) || isDeeperThan(rest, MAX_DEPTH)) return undefined;
    const { before } = known;
    if (Object.keys(rest).some((name) => Object.hasOwn(before, name))) return undefined;
    const added = rest[list] as readonly unknown[];
    const behind = inBytes(text, tail.length + opening.length === text.length, found.ends.slice(1));
    return new ReadBody(
      bytes,
      { ...before, ...rest, [list]: [...(elements as readonly unknown[]).slice(0, common), ...added.slice(1)] },
      list,
      { before, ends: [...ends.slice(0, common), ...behind.map((end) => from + end - opening.length)] },
    );
  } catch {
    return undefined;
  }
}

function readWhole(bytes: Buffer, list: string): ReadBody | undefined {
  try {
    // Anything but UTF-8 would not come out as it went in.
    if (!isUtf8(bytes)) return undefined;
    const body: unknown = JSON.parse(decodeText(bytes));
    return isRecord(body) && !isDeeperThan(body, MAX_DEPTH) ? new ReadBody(bytes, body, list) : undefined;
  } catch {
    return undefined;
  }
}

/** Most requests are ASCII, which takes a fraction of the time. */
const decodeText = (bytes: Buffer): string => bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');

/** Offsets in a text, ascending, as offsets in its UTF-8. */
function inBytes(text: string, isAsciiText: boolean, offsets: readonly number[]): readonly number[] {
  if (isAsciiText) return offsets;
  let [at, bytes] = [0, 0];
  return offsets.map((offset) => {
    bytes += Buffer.byteLength(text.slice(at, offset));
    at = offset;
    return bytes;
  });
}

/**
 * The elements of a list of an object's text.
 * @param text valid JSON.
 * @returns the offset behind each, and the names of the members in front of the list; undefined where there is no such list, or a
 * name stands twice: of those only the last one counts.
 */
function locateElements(
  text: string,
  list: string,
): { readonly ends: number[]; readonly before: string[] } | undefined {
  const names = new Set<string>();
  const behindComma = (end: number): number => {
    const at = skipSpace(text, end);
    return text[at] === ',' ? skipSpace(text, at + 1) : at;
  };
  let found: { readonly ends: number[]; readonly before: string[] } | undefined;
  for (let at = skipSpace(text, skipSpace(text, 0) + 1); text[at] !== '}';) {
    const nameEnd = skipString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    if (names.has(name)) return undefined;
    let end = skipSpace(text, skipSpace(text, nameEnd) + 1);
    if (name === list) {
      if (text[end] !== '[') return undefined;
      const ends: number[] = [];
      for (end = skipSpace(text, end + 1); text[end] !== ']';) {
        ends.push(skipValue(text, end));
        end = behindComma(ends.at(-1) ?? end);
      }
      end++;
      found = { ends, before: [...names] };
    } else end = skipValue(text, end);
    names.add(name);
    at = behindComma(end);
  }
  return found;
}
