import { getFilePath, type FilePart } from '../../messages/fileParts';
import { isSameFile } from '../../messages/filePath';
import { getPlace, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { isNameOfFile, ruleFor } from '../../messages/tools';
import type { ToolKind } from '../../agents/types';
import { keptList } from '../../keptList';
import type { KnownLines } from './knownLines';
import type { Lines } from '../lines/lines';
import { Settled } from './settled';

/**
 * The role of a text for the model: `read` a file's content as a tool gave it; `result` any other result; `echo` what an edit
 * or a write answers; `written` a whole file that the agent wrote; `new` and `old` the two sides of an edit, and any other
 * long parameter; `failed` the parameters of a call that went wrong.
 */
export type SourceKind = 'read' | 'result' | 'echo' | 'written' | 'new' | 'old' | 'failed';

/** A text whose lines are followed through the conversation. */
export interface Source {
  readonly kind: SourceKind;
  readonly content: PlacedContent;
  readonly exchange: ToolExchange;
  /** The file whose lines they are, as the call names it or as the text itself does. */
  readonly path: string | undefined;
  /** Whether the call says by itself which file it is: it is about no other. */
  readonly isNamed: boolean;
  readonly lines: Lines;
}

/** Whether two texts show or write the same file. */
export const isOfSameFile = (a: Source, b: Source): boolean =>
  a.path !== undefined && b.path !== undefined && (a.path === b.path || sameFile(a.path, b.path));

/** Few paths are compared often. */
const compared = new Map<string, Map<string, boolean>>();
const MAX_COMPARED = 5_000;

function sameFile(a: string, b: string): boolean {
  let known = compared.get(a);
  if (!known) {
    if (compared.size > MAX_COMPARED) compared.clear();
    compared.set(a, (known = new Map<string, boolean>()));
  }
  let is = known.get(b);
  if (is === undefined) known.set(b, (is = isSameFile(a, b)));
  return is;
}

/**
 * Whether the lines of a text may be left out because another has them: who needs a line of a file looks where that file is
 * shown. A text that shows no file may refer to any.
 */
export const mayReferTo = (source: Source, keeper: Source): boolean =>
  source.path === undefined || isOfSameFile(source, keeper);

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

  /** @param whose whether the exchanges are those of the conversation or of its view. */
  constructor(
    private readonly known: KnownLines,
    private readonly whose: 'original' | 'view' = 'view',
  ) {}

  /**
   * The texts in the order in which the model sees them. The same exchanges give the very same sources.
   * @param task the last message that no operation touches.
   */
  of(exchanges: readonly ToolExchange[], task: number): Source[] {
    this.known.learn(exchanges, this.whose);
    const changed: { readonly at: number; readonly sources: readonly Source[] }[] = [];
    for (const at of this.settled.open(exchanges)) {
      changed.push({ at, sources: this.sourcesOf(exchanges[at] as ToolExchange) });
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
    for (const message of made.keys()) while (this.byMessage.length <= message) this.byMessage.push(keptList([]));
    for (const [message, list] of made) this.byMessage[message] = keptList(list.sort(byPlace));
  }

  private sourcesOf(exchange: ToolExchange): readonly Source[] {
    const sources = this.byExchange.get(exchange) ?? keptList(sourcesIn(exchange, this.known));
    this.byExchange.set(exchange, sources);
    return sources;
  }
}

function sourcesIn(exchange: ToolExchange, known: KnownLines): readonly Source[] {
  const toolKind = ruleFor(known.tools, exchange)?.kind;
  // Plans have an operation of their own.
  if (toolKind === 'plan') return [];
  const path = getFilePath(known.tools, exchange);
  const sources = (content: PlacedContent, kind: SourceKind): Source[] => {
    if (content.text.length < MIN_CHARS) return [];
    const { parts } = known.layoutOf(content);
    const lines = known.linesOf(content);
    const [first] = parts;
    const own = first?.path ?? (toolKind === 'command' ? undefined : path);
    const isNamed =
      !first || parts.every((part) => part.path === own && (part.head !== 'search' || part.path === path));
    const whole: Source = { kind, content, exchange, path: own, isNamed, lines };
    const isOne = !first || (parts.length === 1 && first.start === 0 && first.end === content.text.length);
    return isOne ? [whole] : partSources({ ...whole, path: undefined }, parts);
  };
  // Markers name a read or a search by the text it asks for.
  const asks = toolKind === 'read' || toolKind === 'list' || toolKind === 'search';
  return [
    ...(asks ? [] : exchange.parameters)
      .filter((content) => !isNameOfFile(content))
      .flatMap((content) => sources(content, parameterKind(exchange, toolKind, content))),
    // Failed results are shown whole.
    ...(exchange.isError ? [] : exchange.results.flatMap((content) => sources(content, resultKind(toolKind)))),
  ];
}

/** The parts of a text that show files, and what stands between them. */
function partSources(whole: Source, parts: readonly FilePart[]): Source[] {
  const { lines, kind, content } = whole;
  const sources: Source[] = [];
  let line = 0;
  const add = (to: number, source: Omit<Source, 'lines'>): void => {
    const first = line;
    while (line < lines.count && lines.start(line) < to) line++;
    const last = line - 1;
    if (last >= first && lines.end(last) - lines.start(first) >= MIN_CHARS)
      sources.push({ ...source, lines: lines.slice(first, last) });
  };
  for (const { start, end, path, head } of parts) {
    add(start, { ...whole, path: undefined });
    // A file's own lines, as a command printed or wrote them.
    const isFile = head !== 'search' && head !== 'diff';
    const own =
      content.type === 'toolParameters' ? (isFile && kind === 'new' ? 'written' : kind) : isFile ? 'read' : kind;
    add(end, { ...whole, kind: own, path });
  }
  add(Number.POSITIVE_INFINITY, { ...whole, path: undefined });
  return sources;
}

const byPlace = (a: Source, b: Source): number =>
  Number(getPlace(a.content).path[1] ?? 0) - Number(getPlace(b.content).path[1] ?? 0) ||
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

/**
 * Which of several equal copies stays: the latest (older zones are condensed further), the first (prompt cache), or, where
 * the older one has been sent and can't change any more, `above`: the older one, whatever it is.
 */
export type Keep = 'latest' | 'first' | 'above';
