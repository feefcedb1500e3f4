import { placeOf, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { pathOf, ruleFor } from '../../messages/tools';
import type { ToolKind } from '../../agents/types';
import type { Pace } from '../../pace';
import type { KnownLines } from './knownLines';
import type { Lines } from './lines';
import { Settled } from './settled';

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

/** The texts of a conversation whose lines are followed, as its exchanges change. */
export class Sources {
  private readonly settled = new Settled<ToolExchange>();
  private readonly byExchange = new WeakMap<ToolExchange, readonly Source[]>();
  /** The texts of each exchange, by its place. */
  private readonly own: (readonly Source[])[] = [];
  /** In the order in which the model sees them. */
  private readonly byMessage: (readonly Source[])[] = [];

  constructor(private readonly known: KnownLines) {}

  /**
   * The texts in the order in which the model sees them. The same exchanges give the very same sources.
   * @param task the last message that no operation touches.
   */
  async of(exchanges: readonly ToolExchange[], task: number, pace: Pace): Promise<Source[]> {
    this.known.learn(exchanges, 'view');
    const changed: { readonly at: number; readonly sources: readonly Source[] }[] = [];
    for (const at of this.settled.open(exchanges)) {
      changed.push({ at, sources: this.sourcesOf(exchanges[at] as ToolExchange) });
      await pace.yieldIfDue();
    }
    const gone = this.own.splice(exchanges.length);
    for (const { at, sources } of changed) {
      gone.push(this.own[at] ?? []);
      this.own[at] = sources;
    }
    this.replace(
      new Set(gone.flat()),
      changed.flatMap(({ sources }) => sources),
    );
    this.settled.settle(exchanges);
    const all: Source[] = [];
    for (const ofMessage of this.byMessage.slice(task + 1)) for (const source of ofMessage) all.push(source);
    return all;
  }

  private replace(gone: ReadonlySet<Source>, come: readonly Source[]): void {
    const made = new Map<number, Source[]>();
    const listOf = (message: number): Source[] => {
      const list = made.get(message) ?? (this.byMessage[message] ?? []).filter((source) => !gone.has(source));
      made.set(message, list);
      return list;
    };
    for (const { content } of gone) listOf(content.message);
    for (const source of come) listOf(source.content.message).push(source);
    for (const message of made.keys()) while (this.byMessage.length <= message) this.byMessage.push([]);
    for (const [message, list] of made) this.byMessage[message] = list.sort(byPlace);
  }

  private sourcesOf(exchange: ToolExchange): readonly Source[] {
    const sources = this.byExchange.get(exchange) ?? sourcesIn(exchange, this.known);
    this.byExchange.set(exchange, sources);
    return sources;
  }
}

function sourcesIn(exchange: ToolExchange, known: KnownLines): readonly Source[] {
  const toolKind = ruleFor(known.tools, exchange)?.kind;
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

/** Which of several equal copies stays: the latest (older zones are condensed further) or the first (prompt cache). */
export type Keep = 'latest' | 'first';
