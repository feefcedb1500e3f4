import { placeOf, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { pathOf, ruleFor, type ToolKind, type ToolTable } from '../../messages/tools';
import type { Path } from '../../messages/types';
import type { Content } from '../../messages/content';
import { splitLines, type Lines } from './lines';
import type { PrefixHint } from './prefixes';

/**
 * What a text is for the model: `read` a file's content as a tool gave it; `result` any other result; `echo` what an edit
 * or a write answers; `written` a whole file that the agent wrote; `new` and `old` the two sides of an edit, and any other
 * long parameter; `failed` the parameters of a call that went wrong.
 */
export type SourceKind = 'read' | 'result' | 'echo' | 'written' | 'new' | 'old' | 'failed';

/** A text whose lines are followed through the conversation. */
export interface Source {
  readonly kind: SourceKind;
  readonly content: PlacedContent;
  readonly exchange: ToolExchange;
  /** The file, as the call names it. */
  readonly path: string | undefined;
  readonly lines: Lines;
}

/** Where the same lines stand twice, the copy of the higher rank stays; among equals the latest or the first. */
export const RANK: Readonly<Record<SourceKind, number>> = {
  read: 4,
  result: 4,
  written: 4,
  new: 3,
  echo: 2,
  old: 1,
  failed: 0,
};

/** Shorter texts hold no run that is worth a marker. */
const MIN_CHARS = 80;

const OLD_SIDE = new Set(['old_string', 'oldString', 'old_str', 'old_text', 'oldText', 'search']);

/**
 * The texts of a conversation whose lines are followed, in the order in which the model sees them.
 * @param first the last message that no operation touches: the task.
 */
export function sourcesOf(exchanges: readonly ToolExchange[], first: number, tools: ToolTable): Source[] {
  const sources: Source[] = [];
  for (const exchange of exchanges) {
    const kind = ruleFor(tools, exchange.tool)?.kind;
    // Plans have an operation of their own.
    if (kind === 'plan') continue;
    const path = pathOf(tools, exchange);
    const add = (content: PlacedContent, sourceKind: SourceKind, hint: PrefixHint): void => {
      if (content.text.length < MIN_CHARS || content.message <= first) return;
      sources.push({ kind: sourceKind, content, exchange, path, lines: linesOfContent(content, hint) });
    };
    for (const content of exchange.parameters) add(content, parameterKind(exchange, kind, content), 'other');
    // What went wrong is told whole.
    if (!exchange.isError) for (const content of exchange.results) add(content, resultKind(kind), resultHint(kind));
  }
  return sources.sort((a, b) => a.content.message - b.content.message || byPlace(a, b));
}

const byPlace = (a: Source, b: Source): number =>
  Number(placeOf(a.content).path[1] ?? 0) - Number(placeOf(b.content).path[1] ?? 0) ||
  a.content.start - b.content.start;

function parameterKind(exchange: ToolExchange, kind: ToolKind | undefined, content: PlacedContent): SourceKind {
  if (exchange.isError) return 'failed';
  if (kind === 'write') return 'written';
  if (kind !== 'edit') return 'new';
  return OLD_SIDE.has(String(content.path.at(-1))) ? 'old' : 'new';
}

function resultKind(kind: ToolKind | undefined): SourceKind {
  if (kind === 'read') return 'read';
  return kind === 'edit' || kind === 'write' ? 'echo' : 'result';
}

/** How the lines of a call's results are prefixed. */
export const resultHint = (kind: ToolKind | undefined): PrefixHint =>
  kind === 'read' || kind === 'search' ? kind : 'other';

/** How the lines of each result are prefixed, by the path of its content. */
export function hintsOf(exchanges: readonly ToolExchange[], tools: ToolTable): Map<Path, PrefixHint> {
  const hints = new Map<Path, PrefixHint>();
  for (const { tool, results } of exchanges) {
    const hint = resultHint(ruleFor(tools, tool)?.kind);
    if (hint !== 'other') for (const { path } of results) hints.set(path, hint);
  }
  return hints;
}

const remembered = new WeakMap<readonly unknown[], Map<string, Lines>>();

/** Splitting is most of the work; a path lives as long as its message's contents, which are remembered, too. */
export function linesOfContent(content: Content, hint: PrefixHint): Lines {
  let byRole = remembered.get(content.path);
  if (!byRole) remembered.set(content.path, (byRole = new Map<string, Lines>()));
  const key = `${content.start} ${hint}`;
  let lines = byRole.get(key);
  if (!lines) byRole.set(key, (lines = splitLines(content.text, hint)));
  return lines;
}
