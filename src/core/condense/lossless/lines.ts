import { mayHoldMarker } from '../../messages/markers';
import { endOfLine, isInString, lineEndOf, type LineEnd } from './lineEnds';
import { NOTHING, type LineId, type LineIds } from './lineIds';
import { prefixAt, prefixFormat, type PrefixHint } from './prefixes';

/**
 * The lines of a text with what is known of each; one table of integers, for a conversation has hundreds of thousands.
 */
export class Lines {
  /**
   * @param table where each line begins, and where one behind the last would (`count + 1` entries); each line's id; where a
   *   text has prefixes also where each line's own text begins, and each line's number.
   */
  constructor(
    readonly count: number,
    private readonly table: Int32Array,
    private readonly hasPrefixes: boolean,
    readonly lineEnd: LineEnd,
  ) {}

  /** Offset where the line begins, its number included. */
  start(line: number): number {
    return this.table[line] as number;
  }

  /** Offset behind the line, without its end. */
  end(line: number): number {
    return (this.table[line + 1] as number) - this.lineEnd.length;
  }

  /** The line's id; {@link NOTHING} for lines that can never be the same as another. */
  id(line: number): LineId {
    return this.table[this.count + 1 + line] as number;
  }

  /** Offset where the line's own text begins: behind its number where it states one. */
  body(line: number): number {
    return this.hasPrefixes ? (this.table[2 * this.count + 1 + line] as number) : this.start(line);
  }

  /** The line's number: stated, or following from the one before; 0 where the text states none. */
  number(line: number): number {
    return this.hasPrefixes ? (this.table[3 * this.count + 1 + line] as number) : 0;
  }
}

/**
 * What Roo puts around each of several files that were read in one call; without it nobody knows which file is which.
 */
const FRAME = /^<\/?(?:files?|content|path)[\s>]/;
const FRAME_CHARS = 10;

/** Splits a text into its lines. */
export function splitLines(text: string, hint: PrefixHint, ids: LineIds): Lines {
  const lineEnd = lineEndOf(text);
  const format = prefixFormat(text, hint, lineEnd);
  const count = countLines(text, lineEnd);
  const table = new Int32Array((format ? 4 : 2) * count + 1);
  const mayHoldMarkers = mayHoldMarker(text);
  let at = 0;
  let number = 0;
  // The lines whose numbers only follow from the one before, until a stated one says the same.
  let following = 0;
  const forget = (to: number): void => {
    if (format) table.fill(0, 3 * count + 1 + to - following, 3 * count + 1 + to);
  };
  for (let line = 0; line < count; line++) {
    const end = endOfLine(text, at, lineEnd);
    const isFrame = hint === 'read' && FRAME.test(text.slice(at, Math.min(end, at + FRAME_CHARS)));
    const holdsMarker = mayHoldMarkers && mayHoldMarker(text.slice(at, end));
    let body = at;
    if (format) {
      const stated = prefixAt(text, at, format);
      if (stated && stated.number !== number + 1) forget(line);
      following = stated || number === 0 ? 0 : following + 1;
      number = stated ? stated.number : number > 0 && format !== 'search' ? number + 1 : 0;
      if (stated) body = stated.end;
      if (holdsMarker || isFrame) number = 0;
      table[2 * count + 1 + line] = body;
      table[3 * count + 1 + line] = number;
    }
    table[line] = at;
    const isNothing = holdsMarker || isFrame || (lineEnd !== '\n' && !isInString(text, at, end));
    table[count + 1 + line] = isNothing ? NOTHING : ids.idOf(text, body, end, lineEnd !== '\n');
    at = end + lineEnd.length;
  }
  // The number of a run's last line only goes where nothing follows: a blank line behind the last one is none of the
  // file.
  if (count > 1 && table[count - 1] === text.length) forget(count);
  table[count] = text.length + lineEnd.length;
  return new Lines(count, table, format !== undefined, lineEnd);
}

function countLines(text: string, lineEnd: LineEnd): number {
  let count = 1;
  for (let at = endOfLine(text, 0, lineEnd); at < text.length; at = endOfLine(text, at + lineEnd.length, lineEnd))
    count++;
  return count;
}
