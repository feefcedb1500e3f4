import { getFilePath, type FilePart } from '../../messages/fileParts';
import { isSameFile } from '../../messages/filePath';
import { getContentPlace, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { isFileNameParameter, getToolRule } from '../../messages/tools';
import type { ToolKind } from '../../agents/types';
import { copyWithoutSpareCapacity } from '../../keptList';
import type { LineCache } from './knownLines';
import type { TextLines } from '../lines/lines';
import { ProcessedItems } from './settled';

/**
 * `read`: a file's content from a tool; `result`: any other result; `echo`: the answer to an edit
 * or write; `written`: a whole file by the agent; `old` and `new`: the sides of an edit, `new` also
 * any other long parameter; `failed`: the parameters of a failed call.
 */
export type LineSourceKind = 'read' | 'result' | 'echo' | 'written' | 'new' | 'old' | 'failed';

export interface LineSource {
  readonly kind: LineSourceKind;
  readonly content: PlacedContent;
  readonly exchange: ToolExchange;
  /** The file, as the call or the text itself names it. */
  readonly path: string | undefined;
  /** True if the call itself names the file. */
  readonly isNamed: boolean;
  readonly lines: TextLines;
}

export const areSameFile = (a: LineSource, b: LineSource): boolean =>
  a.path !== undefined && b.path !== undefined && (a.path === b.path || isSameFileCached(a.path, b.path));

const sameFileByPaths = new Map<string, Map<string, boolean>>();
const MAX_CACHED_COMPARISONS = 5_000;

function isSameFileCached(a: string, b: string): boolean {
  let results = sameFileByPaths.get(a);
  if (!results) {
    if (sameFileByPaths.size > MAX_CACHED_COMPARISONS) sameFileByPaths.clear();
    sameFileByPaths.set(a, (results = new Map<string, boolean>()));
  }
  let isSame = results.get(b);
  if (isSame === undefined) results.set(b, (isSame = isSameFile(a, b)));
  return isSame;
}

/**
 * Lines of a file may only be kept where that file is shown; other texts may refer to any source.
 */
export const mayReferToSource = (source: LineSource, keeper: LineSource): boolean =>
  source.path === undefined || areSameFile(source, keeper);

/**
 * Of equal lines, the copy with the higher rank stays; between equal ranks, {@link KeptCopy}
 * decides.
 */
export const RANK_BY_SOURCE_KIND: Readonly<Record<LineSourceKind, number>> = {
  read: 4,
  result: 4,
  written: 4,
  new: 3,
  echo: 2,
  old: 1,
  failed: 0,
};

const MIN_SOURCE_CHARS = 80;

const OLD_TEXT_PARAMETERS = new Set(['old_string', 'oldString', 'old_str', 'old_text', 'oldText', 'search']);

export class CurrentLineSources {
  private readonly processedExchanges = new ProcessedItems<ToolExchange>();
  private readonly cachedSources = new WeakMap<ToolExchange, readonly LineSource[]>();
  private readonly sourcesByExchange: (readonly LineSource[])[] = [];
  private readonly sourcesByMessage: (readonly LineSource[])[] = [];

  constructor(
    private readonly lineCache: LineCache,
    private readonly textOrigin: 'original' | 'view' = 'view',
  ) {}

  /**
   * In the order in which the model sees them. Equal exchanges yield identical objects.
   * @param task index of the last message that no operation changes
   */
  getCurrentSources(exchanges: readonly ToolExchange[], task: number): LineSource[] {
    this.lineCache.addExchanges(exchanges, this.textOrigin);
    const changedExchanges: { readonly at: number; readonly sources: readonly LineSource[] }[] = [];
    for (const exchangeIndex of this.processedExchanges.listUnprocessedIndexes(exchanges)) {
      changedExchanges.push({ at: exchangeIndex, sources: this.getSources(exchanges[exchangeIndex] as ToolExchange) });
    }
    const removedSources = this.sourcesByExchange.splice(exchanges.length);
    for (const { at: exchangeIndex, sources } of changedExchanges) {
      removedSources.push(this.sourcesByExchange[exchangeIndex] ?? []);
      this.sourcesByExchange[exchangeIndex] = sources;
    }
    this.replaceSources(
      new Set(removedSources.flat()),
      changedExchanges.flatMap(({ sources }) => sources),
    );
    this.processedExchanges.markProcessed(exchanges);
    const sources: LineSource[] = [];
    for (const sourcesOfMessage of this.sourcesByMessage.slice(task + 1))
      for (const source of sourcesOfMessage) sources.push(source);
    return sources;
  }

  private replaceSources(removedSources: ReadonlySet<LineSource>, addedSources: readonly LineSource[]): void {
    const sourcesByMessage = new Map<number, LineSource[]>();
    const listSourcesAt = (message: number): LineSource[] => {
      const list =
        sourcesByMessage.get(message) ??
        (this.sourcesByMessage[message] ?? []).filter((source) => !removedSources.has(source));
      sourcesByMessage.set(message, list);
      return list;
    };
    for (const { content } of removedSources) listSourcesAt(content.message);
    for (const source of addedSources) listSourcesAt(source.content.message).push(source);
    for (const message of sourcesByMessage.keys())
      while (this.sourcesByMessage.length <= message) this.sourcesByMessage.push(copyWithoutSpareCapacity([]));
    for (const [message, list] of sourcesByMessage)
      this.sourcesByMessage[message] = copyWithoutSpareCapacity(list.sort(compareSourcePosition));
  }

  private getSources(exchange: ToolExchange): readonly LineSource[] {
    const sources =
      this.cachedSources.get(exchange) ?? copyWithoutSpareCapacity(createLineSources(exchange, this.lineCache));
    this.cachedSources.set(exchange, sources);
    return sources;
  }
}

function createLineSources(exchange: ToolExchange, lineCache: LineCache): readonly LineSource[] {
  const toolKind = getToolRule(lineCache.tools, exchange)?.kind;
  // Plans have an operation of their own.
  if (toolKind === 'plan') return [];
  const path = getFilePath(lineCache.tools, exchange);
  const listSources = (content: PlacedContent, kind: LineSourceKind): LineSource[] => {
    if (content.text.length < MIN_SOURCE_CHARS) return [];
    const { parts } = lineCache.getTextLayout(content);
    const lines = lineCache.getLines(content);
    const [firstPart] = parts;
    const pathOfFirstPart = firstPart?.path ?? (toolKind === 'command' ? undefined : path);
    const isNamed =
      !firstPart ||
      parts.every((part) => part.path === pathOfFirstPart && (part.linePrefix !== 'search' || part.path === path));
    const wholeSource: LineSource = { kind, content, exchange, path: pathOfFirstPart, isNamed, lines };
    const isOneSource =
      !firstPart || (parts.length === 1 && firstPart.start === 0 && firstPart.end === content.text.length);
    return isOneSource ? [wholeSource] : splitSourceIntoFileParts({ ...wholeSource, path: undefined }, parts);
  };
  // Markers identify a read or search by its request, so the request stays.
  const isQueryTool = toolKind === 'read' || toolKind === 'list' || toolKind === 'search';
  return [
    ...(isQueryTool ? [] : exchange.parameters)
      .filter((content) => !isFileNameParameter(content))
      .flatMap((content) => listSources(content, getSourceKindOfParameter(exchange, toolKind, content))),
    // Failed results stay whole.
    ...(exchange.isError
      ? []
      : exchange.results.flatMap((content) => listSources(content, getSourceKindOfResult(toolKind)))),
  ];
}

function splitSourceIntoFileParts(wholeSource: LineSource, parts: readonly FilePart[]): LineSource[] {
  const { lines, kind, content } = wholeSource;
  const sources: LineSource[] = [];
  let line = 0;
  const addSource = (endOffset: number, source: Omit<LineSource, 'lines'>): void => {
    const firstLine = line;
    while (line < lines.count && lines.getStart(line) < endOffset) line++;
    const lastLine = line - 1;
    if (lastLine >= firstLine && lines.getEnd(lastLine) - lines.getStart(firstLine) >= MIN_SOURCE_CHARS)
      sources.push({ ...source, lines: lines.sliceLines(firstLine, lastLine) });
  };
  for (const { start, end, path, linePrefix } of parts) {
    addSource(start, { ...wholeSource, path: undefined });
    const isFilePart = linePrefix !== 'search' && linePrefix !== 'diff';
    const partKind =
      content.type === 'toolParameters'
        ? isFilePart && kind === 'new'
          ? 'written'
          : kind
        : isFilePart
          ? 'read'
          : kind;
    addSource(end, { ...wholeSource, kind: partKind, path });
  }
  addSource(Number.POSITIVE_INFINITY, { ...wholeSource, path: undefined });
  return sources;
}

const compareSourcePosition = (a: LineSource, b: LineSource): number =>
  Number(getContentPlace(a.content).path[1] ?? 0) - Number(getContentPlace(b.content).path[1] ?? 0) ||
  a.content.start - b.content.start;

function getSourceKindOfParameter(
  exchange: ToolExchange,
  kind: ToolKind | undefined,
  content: PlacedContent,
): LineSourceKind {
  if (exchange.isError) return 'failed';
  if (kind === 'write') return 'written';
  if (kind !== 'edit') return 'new';
  return OLD_TEXT_PARAMETERS.has(String(content.path.at(-1))) ? 'old' : 'new';
}

function getSourceKindOfResult(kind: ToolKind | undefined): LineSourceKind {
  if (kind === 'read') return 'read';
  return kind === 'edit' || kind === 'write' ? 'echo' : 'result';
}

/**
 * Which of equal copies stays: the `latest` (older zones are condensed further), the `first`
 * (better for the prompt cache), or the one `above`, which was already sent.
 */
export type KeptCopy = 'latest' | 'first' | 'above';
