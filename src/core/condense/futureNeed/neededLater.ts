/**
 * Finds the text that an agent's next turns use in tool parameters, that it had from before the cut and was not shown
 * again.
 */
import { isRecord } from '../../messages/blocks';
import { contentsOf } from '../../messages/content';
import { toolExchanges, type ToolExchange } from '../../messages/exchanges';
import { DEFAULT_TOOLS, pathOf, ruleFor } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';

/** A line that an edit quoted, with the file that it belongs to. */
export interface QuotedLine {
  readonly line: string;
  readonly file: string | undefined;
}

export interface NeededLater {
  readonly lines: readonly QuotedLine[];
  readonly names: readonly string[];
  readonly paths: readonly string[];
}

/** Shorter lines are braces and keywords. */
const MIN_LINE = 12;
/** A name that occurs in more contents of the prefix than this is not rare. */
const RARE = 0.1;

/**
 * @param cut index of the first message behind the prefix, an assistant's.
 * @param end index behind the last message that is looked at.
 */
export function neededLaterOf(messages: readonly ApiMessage[], cut: number, end: number): NeededLater {
  const known = knowledgeOf(messages.slice(0, cut));
  const shown = { lines: new Set<string>(), names: new Set<string>(), paths: new Set<string>() };
  const neededLater = { lines: new Map<string, QuotedLine>(), names: new Set<string>(), paths: new Set<string>() };
  const calls = callsByMessage(messages, cut, end);
  for (let index = cut; index < end; index++) {
    const message = messages[index];
    if (message?.role === 'user') show(shown, message);
    for (const call of calls.get(index) ?? []) {
      for (const line of quotedLines(call)) {
        if (known.lines.has(line) && !shown.lines.has(line))
          neededLater.lines.set(line, { line, file: pathOf(DEFAULT_TOOLS, call) });
      }
      const text = stringsOf(call.input).join('\n');
      for (const name of namesOf(text))
        if (known.rareNames.has(name) && !shown.names.has(name)) neededLater.names.add(name);
      for (const path of pathsOf(text))
        if (known.paths.has(path) && !shown.paths.has(path)) neededLater.paths.add(path);
    }
  }
  return { lines: [...neededLater.lines.values()], names: [...neededLater.names], paths: [...neededLater.paths] };
}

interface Knowledge {
  readonly lines: ReadonlySet<string>;
  readonly rareNames: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

function knowledgeOf(prefix: readonly ApiMessage[]): Knowledge {
  const lines = new Set<string>();
  const paths = new Set<string>();
  const frequency = new Map<string, number>();
  let documents = 0;
  for (const { text } of prefix.flatMap(contentsOf)) {
    documents++;
    for (const line of linesOf(text)) lines.add(line);
    for (const path of pathsOf(text)) paths.add(path);
    for (const name of namesOf(text)) frequency.set(name, (frequency.get(name) ?? 0) + 1);
  }
  const rareNames = new Set([...frequency].filter(([, count]) => count / documents < RARE).map(([name]) => name));
  return { lines, rareNames, paths };
}

/** Adds what a user's message shows; only that is new to the agent. */
function show(shown: { lines: Set<string>; names: Set<string>; paths: Set<string> }, message: ApiMessage): void {
  for (const { text } of contentsOf(message)) {
    for (const line of linesOf(text)) shown.lines.add(line);
    for (const name of namesOf(text)) shown.names.add(name);
    for (const path of pathsOf(text)) shown.paths.add(path);
  }
}

function callsByMessage(messages: readonly ApiMessage[], cut: number, end: number): Map<number, ToolExchange[]> {
  const calls = new Map<number, ToolExchange[]>();
  for (const exchange of toolExchanges(messages.slice(cut, end))) {
    const at = exchange.callMessage + cut;
    calls.set(at, [...(calls.get(at) ?? []), exchange]);
  }
  return calls;
}

/** Parameters that hold the text which an edit replaces. */
const OLD_TEXT = new Set(['old_string', 'oldString', 'old_text', 'old_str', 'search']);
const SEARCH_BLOCK = /<<<<<<< SEARCH\n(?::start_line:.*\n)?(?:-{5,}\n)?([\s\S]*?)\n=======/g;

/** The lines that an edit quotes from the file as it was. */
function quotedLines(call: ToolExchange): string[] {
  if (ruleFor(DEFAULT_TOOLS, call)?.kind !== 'edit') return [];
  const texts = [...oldTexts(call.input)];
  for (const value of stringsOf(call.input)) {
    for (const match of value.matchAll(SEARCH_BLOCK)) texts.push(match[1] ?? '');
    if (value.startsWith('*** Begin Patch')) texts.push(patchedLines(value));
  }
  const lines = texts.flatMap((text) => text.split('\n')).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line.length >= MIN_LINE))];
}

function oldTexts(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(oldTexts);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    OLD_TEXT.has(key) && typeof item === 'string' ? [item] : oldTexts(item),
  );
}

/** Lines of a patch that must stand in the file. */
const patchedLines = (patch: string): string =>
  patch
    .split('\n')
    .filter((line) => /^[ -]/.test(line) && !line.startsWith('---'))
    .map((line) => line.slice(1))
    .join('\n');

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(stringsOf);
  return isRecord(value) ? Object.values(value).flatMap(stringsOf) : [];
}

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
