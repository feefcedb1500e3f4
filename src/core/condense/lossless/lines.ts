import { NOTHING, type LineId, type LineIds } from './lineIds';
import { prefixAt, prefixFormat, type PrefixHint } from './prefixes';

/** The lines of a text with what is known of each; one table of integers, for a conversation has hundreds of thousands. */
export class Lines {
  /**
   * @param table where each line begins, and where one behind the last would (`count + 1` entries); each line's id; where a
   *   text has prefixes also where each line's own text begins, and each line's number.
   */
  constructor(
    readonly count: number,
    private readonly table: Int32Array,
    private readonly hasPrefixes: boolean,
  ) {}

  /** Offset where the line begins, its number included. */
  start(line: number): number {
    return this.table[line] as number;
  }

  /** Offset behind the line, without the newline. */
  end(line: number): number {
    return (this.table[line + 1] as number) - 1;
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

/** Splits a text into its lines. */
export function splitLines(text: string, hint: PrefixHint, ids: LineIds): Lines {
  const format = prefixFormat(text, hint);
  const count = countLines(text);
  const table = new Int32Array((format ? 4 : 2) * count + 1);
  const mayHoldMarkers = text.includes('⟦condensed: ');
  let at = 0;
  let number = 0;
  for (let line = 0; line < count; line++) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const holdsMarker = mayHoldMarkers && text.slice(at, end).includes('⟦condensed: ');
    let body = at;
    if (format) {
      const stated = prefixAt(text, at, format);
      number = stated ? stated.number : number > 0 && format !== 'search' ? number + 1 : 0;
      if (stated) body = stated.end;
      if (holdsMarker) number = 0;
      table[2 * count + 1 + line] = body;
      table[3 * count + 1 + line] = number;
    }
    table[line] = at;
    table[count + 1 + line] = holdsMarker ? NOTHING : ids.idOf(text, body, end);
    at = end + 1;
  }
  table[count] = text.length + 1;
  return new Lines(count, table, format !== undefined);
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
