import { placeOf, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { pathOf, ruleFor, type ToolKind } from '../../messages/tools';
import type { Pace } from '../pace';
import type { KnownLines } from './knownLines';
import type { Lines } from './lines';
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

/** Whether two texts belong to calls that name the same file. */
export const isOfSameFile = (a: Source, b: Source): boolean => a.path !== undefined && a.path === b.path;

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
 * The texts of a conversation whose lines are followed, in the order in which the model sees them. The same exchanges give
 * the very same sources.
 * @param first the last message that no operation touches: the task.
 */
export async function sourcesOf(
  exchanges: readonly ToolExchange[],
  first: number,
  known: KnownLines,
  pace: Pace,
): Promise<Source[]> {
  known.learn(exchanges, 'view');
  const { followed } = known;
  for (const at of followed.exchanges.open(exchanges)) {
    const exchange = exchanges[at] as ToolExchange;
    const own = known.sources.get(exchange) ?? sourcesIn(exchange, known);
    known.sources.set(exchange, own);
    followed.texts[at] = own;
    await pace.breathe();
  }
  followed.texts.length = exchanges.length;
  followed.exchanges.settle(exchanges);
  const sources: Source[] = [];
  for (const own of followed.texts) for (const source of own) if (source.content.message > first) sources.push(source);
  return sources.sort((a, b) => a.content.message - b.content.message || byPlace(a, b));
}

function sourcesIn(exchange: ToolExchange, known: KnownLines): Source[] {
  const toolKind = ruleFor(known.tools, exchange.tool)?.kind;
  // Plans have an operation of their own.
  if (toolKind === 'plan') return [];
  const path = pathOf(known.tools, exchange);
  const source = (content: PlacedContent, kind: SourceKind): Source[] =>
    content.text.length < MIN_CHARS ? [] : [{ kind, content, exchange, path, lines: known.linesOf(content) }];
  // What a read or a search asks for is how markers name it.
  const asks = toolKind === 'read' || toolKind === 'list' || toolKind === 'search';
  return [
    ...(asks ? [] : exchange.parameters).flatMap((content) =>
      source(content, parameterKind(exchange, toolKind, content)),
    ),
    // What went wrong is told whole.
    ...(exchange.isError ? [] : exchange.results.flatMap((content) => source(content, resultKind(toolKind)))),
  ];
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
