import type { Content } from '../../messages/content';
import { listFileParts } from '../../messages/fileParts';
import { ruleFor, type ToolTable } from '../../messages/tools';
import type { ToolExchange } from '../../messages/exchanges';
import type { Path } from '../../messages/types';
import type { MessageCounter } from '../../tokens/messageCounter';
import { memoizeByObject } from '../../memoizeByObject';
import type { Draft } from '../draft/draft';
import { LineIds } from '../lines/lineIds';
import { LineTables } from '../lines/lineTables';
import { splitLines, type Lines, type TextLayout } from '../lines/lines';
import { getPrefixHint } from '../lines/prefixes';
import { Settled } from './settled';
import { isEqual } from '../../isEqual';

/**
 * A cache of a conversation's lines across steps and runs, so that a run over a grown conversation
 * reads only new messages. Affects speed only.
 */
export class KnownLines {
  readonly ids = new LineIds();
  private readonly tables = new LineTables();
  /** Texts by the path of their string, the latest first; the path lives as long as its message. */
  private readonly texts = new WeakMap<Path, KnownText>();
  /** Layouts of texts that show no file; many texts share a few. */
  private readonly plain: TextLayout[] = [PLAIN];
  /** How often a text's layout changed because its call was replaced. */
  relaid = 0;
  /** Exchanges whose results' layouts are known. */
  private readonly learnt = { original: new Settled<ToolExchange>(), view: new Settled<ToolExchange>() };

  /** @param counter undefined if no cuts are planned */
  constructor(
    readonly tools: ToolTable,
    readonly counter?: MessageCounter,
  ) {}

  /**
   * Learns the layouts of these calls' results. Must be complete before their lines are requested.
   */
  learn(exchanges: readonly ToolExchange[], of: 'original' | 'view'): void {
    for (const at of this.learnt[of].open(exchanges)) {
      const exchange = exchanges[at] as ToolExchange;
      const rule = ruleFor(this.tools, exchange);
      const hint = getPrefixHint(rule?.kind);
      for (const content of exchange.results) this.lay(exchange, content, hint, rule?.numbers);
      for (const content of exchange.parameters) this.lay(exchange, content, 'other', undefined);
    }
    this.learnt[of].settle(exchanges);
  }

  private lay(exchange: ToolExchange, content: Content, hint: TextLayout['hint'], forms: TextLayout['forms']): void {
    const parts = listFileParts(this.tools, exchange, content);
    const known = this.textAt(content);
    const { layout } = known;
    const wasLaid = known.isLaid;
    known.isLaid = true;
    if (layout.hint === hint && layout.forms === forms && isEqual(layout.parts, parts)) return;
    known.layout = parts.length === 0 ? this.plainLayout(hint, forms) : { hint, forms, parts };
    if (known.layout === layout) return;
    known.lines = undefined;
    if (wasLaid) this.relaid++;
  }

  private plainLayout(hint: TextLayout['hint'], forms: TextLayout['forms']): TextLayout {
    const known = this.plain.find((layout) => layout.hint === hint && layout.forms === forms);
    if (known) return known;
    const made = { hint, forms, parts: [] };
    this.plain.push(made);
    return made;
  }

  private textAt({ path, start }: Content): KnownText {
    const latest = this.texts.get(path);
    for (let known = latest; known; known = known.next) if (known.start === start) return known;
    const made: KnownText = { start, layout: PLAIN, isLaid: false, lines: undefined, next: latest };
    this.texts.set(path, made);
    return made;
  }

  layoutOf(content: Content): TextLayout {
    return this.textAt(content).layout;
  }

  linesOf(content: Content): Lines {
    const known = this.textAt(content);
    return (known.lines ??= splitLines(content.text, known.layout, this.ids, this.tables));
  }
}

/** Creates a step's cache, one per conversation and setting of the step. */
export function stepMemory<M>(make: (known: KnownLines) => M): (known: KnownLines, setting?: string) => M {
  const bySetting = memoizeByObject<KnownLines, Map<string, M>>(() => new Map());
  return (known, setting = '') => {
    const memories = bySetting(known);
    const found = memories.get(setting) ?? make(known);
    memories.set(setting, found);
    return found;
  };
}

/** The layout of an unknown text. */
const PLAIN: TextLayout = { hint: 'other', forms: undefined, parts: [] };

/** A text of a string, with what is known about it. */
interface KnownText {
  /** Offset in the string. */
  readonly start: number;
  layout: TextLayout;
  /** True if its exchange has determined the layout. */
  isLaid: boolean;
  /** Split by its layout. */
  lines: Lines | undefined;
  /** Another text in the same string; most strings are one text. */
  readonly next: KnownText | undefined;
}

/** A conversation's lines while no draft uses them. */
interface FreeLines {
  known?: KnownLines | undefined;
  /** Index of the first message that may change. */
  task: number;
}

const newFreeLines = (): FreeLines => ({ task: -1 });
const byDraft = new WeakMap<Draft, KnownLines>();
const rulesOf = memoizeByObject((tools: ToolTable) => JSON.stringify(tools));

/**
 * Takes the known lines for a draft. Until it is released, other drafts of the conversation start
 * empty, because several may run at once.
 */
export function takeKnownLines(draft: Draft, tools: ToolTable): KnownLines {
  const own = byDraft.get(draft);
  if (own) return own;
  const { task, counter } = draft;
  const free = draft.memory.part(newFreeLines);
  const before = free.task === task && free.known?.counter === counter ? free.known : undefined;
  const known = before && rulesOf(before.tools) === rulesOf(tools) ? before : new KnownLines(tools, counter);
  free.known = undefined;
  byDraft.set(draft, known);
  draft.onRelease(() => {
    byDraft.delete(draft);
    Object.assign(free, { known, task });
  });
  return known;
}
