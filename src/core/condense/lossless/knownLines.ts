import type { Content } from '../../messages/content';
import { listFileParts } from '../../messages/fileParts';
import { getToolRule, type ToolTable } from '../../messages/tools';
import type { ToolExchange } from '../../messages/exchanges';
import type { Path } from '../../messages/types';
import type { MessageCounter } from '../../tokens/messageCounter';
import { memoizeByObject } from '../../memoizeByObject';
import type { Draft } from '../draft/draft';
import { LineIds } from '../lines/lineIds';
import { SharedLineTables } from '../lines/lineTables';
import { splitLines, type TextLines, type TextLayout } from '../lines/lines';
import { getPrefixHintForToolKind } from '../lines/prefixes';
import { ProcessedItems } from './settled';
import { isEqual } from '../../isEqual';

/** Caches lines across steps and runs, so that a run reads only new messages. */
export class LineCache {
  readonly ids = new LineIds();
  private readonly tables = new SharedLineTables();
  /** Keyed by the path of a string, which lives as long as its message. */
  private readonly cachedTextByPath = new WeakMap<Path, CachedTextLines>();
  private readonly plainLayouts: TextLayout[] = [LAYOUT_WITHOUT_PREFIXES];
  /** How often a text's layout changed because its call was replaced. */
  layoutChanges = 0;
  private readonly processedExchanges = {
    original: new ProcessedItems<ToolExchange>(),
    view: new ProcessedItems<ToolExchange>(),
  };

  constructor(
    readonly tools: ToolTable,
    readonly counter?: MessageCounter,
  ) {}

  /** Call this before requesting the lines of these calls' results. */
  addExchanges(exchanges: readonly ToolExchange[], source: 'original' | 'view'): void {
    for (const exchangeIndex of this.processedExchanges[source].listUnprocessedIndexes(exchanges)) {
      const exchange = exchanges[exchangeIndex] as ToolExchange;
      const rule = getToolRule(this.tools, exchange);
      const hint = getPrefixHintForToolKind(rule?.kind);
      for (const content of exchange.results) this.addTextLayout(exchange, content, hint, rule?.numbers);
      for (const content of exchange.parameters) this.addTextLayout(exchange, content, 'other', undefined);
    }
    this.processedExchanges[source].markProcessed(exchanges);
  }

  private addTextLayout(
    exchange: ToolExchange,
    content: Content,
    hint: TextLayout['hint'],
    forms: TextLayout['forms'],
  ): void {
    const parts = listFileParts(this.tools, exchange, content);
    const cachedText = this.getCachedText(content);
    const { layout } = cachedText;
    const hadLayout = cachedText.hasLayout;
    cachedText.hasLayout = true;
    if (layout.hint === hint && layout.forms === forms && isEqual(layout.parts, parts)) return;
    cachedText.layout = parts.length === 0 ? this.getLayoutWithoutPrefixes(hint, forms) : { hint, forms, parts };
    if (cachedText.layout === layout) return;
    cachedText.lines = undefined;
    if (hadLayout) this.layoutChanges++;
  }

  private getLayoutWithoutPrefixes(hint: TextLayout['hint'], forms: TextLayout['forms']): TextLayout {
    const existingLayout = this.plainLayouts.find((layout) => layout.hint === hint && layout.forms === forms);
    if (existingLayout) return existingLayout;
    const newLayout = { hint, forms, parts: [] };
    this.plainLayouts.push(newLayout);
    return newLayout;
  }

  private getCachedText({ path, start }: Content): CachedTextLines {
    const latestText = this.cachedTextByPath.get(path);
    for (let text = latestText; text; text = text.next) if (text.start === start) return text;
    const newText: CachedTextLines = {
      start,
      layout: LAYOUT_WITHOUT_PREFIXES,
      hasLayout: false,
      lines: undefined,
      next: latestText,
    };
    this.cachedTextByPath.set(path, newText);
    return newText;
  }

  getTextLayout(content: Content): TextLayout {
    return this.getCachedText(content).layout;
  }

  getLines(content: Content): TextLines {
    const text = this.getCachedText(content);
    return (text.lines ??= splitLines(content.text, text.layout, this.ids, this.tables));
  }
}

/** Creates one cache per conversation and setting of the step. */
export function createMemoryPerLineCache<M>(
  createMemory: (lineCache: LineCache) => M,
): (lineCache: LineCache, setting?: string) => M {
  const memoryBySetting = memoizeByObject<LineCache, Map<string, M>>(() => new Map());
  return (lineCache, setting = '') => {
    const memories = memoryBySetting(lineCache);
    const memory = memories.get(setting) ?? createMemory(lineCache);
    memories.set(setting, memory);
    return memory;
  };
}

const LAYOUT_WITHOUT_PREFIXES: TextLayout = { hint: 'other', forms: undefined, parts: [] };

interface CachedTextLines {
  readonly start: number;
  layout: TextLayout;
  /** True if the call has determined the layout. */
  hasLayout: boolean;
  lines: TextLines | undefined;
  /** Another text in the same string. */
  readonly next: CachedTextLines | undefined;
}

interface ReusableLineCache {
  lineCache?: LineCache | undefined;
  /** Index of the task's message in the draft that used the lines. */
  task: number;
}

const createReusableLineCacheSlot = (): ReusableLineCache => ({ task: -1 });
const lineCacheByDraft = new WeakMap<Draft, LineCache>();
const serializeToolRules = memoizeByObject((tools: ToolTable) => JSON.stringify(tools));

/**
 * Until the draft is released, other drafts, which may run at the same time, start with an empty
 * cache.
 */
export function getLineCache(draft: Draft, tools: ToolTable): LineCache {
  const existingCache = lineCacheByDraft.get(draft);
  if (existingCache) return existingCache;
  const { task, counter } = draft;
  const reusableSlot = draft.memory.getOrCreate(createReusableLineCacheSlot);
  const previousCache =
    reusableSlot.task === task && reusableSlot.lineCache?.counter === counter ? reusableSlot.lineCache : undefined;
  const lineCache =
    previousCache && serializeToolRules(previousCache.tools) === serializeToolRules(tools)
      ? previousCache
      : new LineCache(tools, counter);
  reusableSlot.lineCache = undefined;
  lineCacheByDraft.set(draft, lineCache);
  draft.addReleaseListener(() => {
    lineCacheByDraft.delete(draft);
    reusableSlot.lineCache = lineCache;
    reusableSlot.task = task;
  });
  return lineCache;
}
