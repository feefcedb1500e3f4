/** How texts are compared: lines without what tools put in front of them, names, paths. */

/** Numbers of read tools (`12→`, `12<tab>`, `12 | `) and places of search tools (`path:12:`, `path-12-`, `12:`). */
const PREFIX = /^ *(?:\d+(?:→|\t| \| ?)|(?:[^\s:]+[:-])?\d+[:-])/;

/** A line as it is compared: without number or place in front, without blanks around. */
const plainLine = (line: string): string => line.replace(PREFIX, '').trim();

/** The lines of a text as they are compared, each in both forms where a prefix may be part of the line. */
export function linesOf(text: string): Set<string> {
  const lines = new Set<string>();
  for (const line of text.split('\n')) {
    lines.add(line.trim());
    lines.add(plainLine(line));
  }
  return lines;
}

const NAME = /[A-Za-z_$][\w$]{5,}/g;

/** Names in a text; shorter ones are too common to tell anything. */
export const namesOf = (text: string): Set<string> => new Set(text.match(NAME) ?? []);

const PATH = /(?:[\w.@~-]+)?(?:[\\/][\w.@-]+)+\.\w{1,8}\b/g;

/** Paths of files in a text. */
export const pathsOf = (text: string): Set<string> => new Set(text.match(PATH) ?? []);
