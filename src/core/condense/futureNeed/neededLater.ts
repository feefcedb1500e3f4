/**
 * Finds text from before a cut that the agent's next turns use in tool parameters without seeing it
 * again.
 */
import { isRecord } from '../../messages/blocks';
import { listContents } from '../../messages/content';
import { listToolExchanges, type ToolExchange } from '../../messages/exchanges';
import type { ApiMessage } from '../../messages/types';
import { findQuotedLines, shownLinesOf, type FileLine, type ShownLine } from '../lines/shownLines';

/**
 * A line of a file that an edit or patch quoted, with the places before the cut that show it in
 * that file.
 */
export interface NeededLine extends FileLine {
  readonly shown: readonly ShownLine[];
}

export interface NeededLater {
  readonly lines: readonly NeededLine[];
  readonly names: readonly string[];
  readonly paths: readonly string[];
}

/** A rare name occurs in at most this share of the prefix's contents. */
const RARE = 0.1;

/**
 * @param cut index of the first message after the prefix, from the assistant
 * @param end index after the last message to look at
 */
export function findNeededLater(messages: readonly ApiMessage[], cut: number, end: number): NeededLater {
  const known = collectKnownParts(messages.slice(0, cut));
  const shown = { names: new Set<string>(), paths: new Set<string>() };
  const needed = { names: new Set<string>(), paths: new Set<string>() };
  const calls = groupCalls(messages, cut, end);
  for (let index = cut; index < end; index++) {
    const message = messages[index];
    if (message?.role === 'user') addShown(shown, message);
    for (const call of calls.get(index) ?? []) {
      const text = collectStrings(call.input).join('\n');
      for (const name of findNames(text))
        if (known.rareNames.has(name) && !shown.names.has(name)) needed.names.add(name);
      for (const path of findPaths(text)) if (known.paths.has(path) && !shown.paths.has(path)) needed.paths.add(path);
    }
  }
  return { lines: findNeededLines(messages, cut, end), names: [...needed.names], paths: [...needed.paths] };
}

/**
 * Lines that edits and patches between `cut` and `end` quote, and that only the prefix has shown as
 * lines of their file by then.
 */
export function findNeededLines(messages: readonly ApiMessage[], cut: number, end: number): NeededLine[] {
  const lines = shownLinesOf(messages);
  const needed = new Map<string, NeededLine>();
  for (const [index, calls] of groupCalls(messages, cut, end)) {
    for (const quoted of calls.flatMap(findQuotedLines)) {
      const key = `${quoted.file}\n${quoted.line}`;
      if (needed.has(key)) continue;
      const all = lines.of(quoted);
      const shown = all.filter(({ message }) => message < cut);
      const isShownAgain = all.some(({ message }) => message >= cut && message < index);
      if (shown.length > 0 && !isShownAgain) needed.set(key, { ...quoted, shown });
    }
  }
  return [...needed.values()];
}

interface KnownParts {
  readonly rareNames: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

function collectKnownParts(prefix: readonly ApiMessage[]): KnownParts {
  const paths = new Set<string>();
  const frequency = new Map<string, number>();
  let documents = 0;
  for (const { text } of prefix.flatMap(listContents)) {
    documents++;
    for (const path of findPaths(text)) paths.add(path);
    for (const name of findNames(text)) frequency.set(name, (frequency.get(name) ?? 0) + 1);
  }
  const rareNames = new Set([...frequency].filter(([, count]) => count / documents < RARE).map(([name]) => name));
  return { rareNames, paths };
}

/** Only user messages show the agent anything new. */
function addShown(shown: { names: Set<string>; paths: Set<string> }, message: ApiMessage): void {
  for (const { text } of listContents(message)) {
    for (const name of findNames(text)) shown.names.add(name);
    for (const path of findPaths(text)) shown.paths.add(path);
  }
}

function groupCalls(messages: readonly ApiMessage[], cut: number, end: number): Map<number, ToolExchange[]> {
  const calls = new Map<number, ToolExchange[]>();
  for (const exchange of listToolExchanges(messages.slice(cut, end))) {
    const at = exchange.callMessage + cut;
    calls.set(at, [...(calls.get(at) ?? []), exchange]);
  }
  return calls;
}

function collectStrings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectStrings);
  return isRecord(value) ? Object.values(value).flatMap(collectStrings) : [];
}

const NAME = /[A-Za-z_$][\w$]{5,}/g;

/** Shorter names are too common to mean anything. */
export const findNames = (text: string): Set<string> => new Set(text.match(NAME) ?? []);

const PATH = /(?:[\w.@~-]+)?(?:[\\/][\w.@-]+)+\.\w{1,8}\b/g;

const findPaths = (text: string): Set<string> => new Set(text.match(PATH) ?? []);
