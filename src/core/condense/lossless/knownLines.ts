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
import { resultHint } from '../lines/prefixes';
import { Settled } from './settled';
import { isEqual } from '../../isEqual';

/**
 * A memory of a conversation's lines, from step to step and from run to run: messages never change, so that a run
 * over a conversation that has grown reads what is new. It changes no outcome, only the time it takes.
 */
export class KnownLines {
  readonly ids = new LineIds();
  private readonly tables = new LineTables();
  /** By the path of a string, which lives as long as its message's contents: the texts in it, the latest first. */
  private readonly texts = new WeakMap<Path, KnownText>();
  /** The layouts of texts that show no file: few, for many texts. */
  private readonly plain: TextLayout[] = [PLAIN];
  /** How often a text came to be read in another way: the call that it answers was replaced. */
  relaid = 0;
  /** Exchanges whose results' hints are known. */
  private readonly learnt = { original: new Settled<ToolExchange>(), view: new Settled<ToolExchange>() };

  /** @param counter undefined where nothing is planned. */
  constructor(
    readonly tools: ToolTable,
    readonly counter?: MessageCounter,
  ) {}

  /** Learns how the results of these calls are to be read, exchange by exchange; must be over before their lines are asked for. */
  learn(exchanges: readonly ToolExchange[], of: 'original' | 'view'): void {
    for (const at of this.learnt[of].open(exchanges)) {
      const exchange = exchanges[at] as ToolExchange;
      const rule = ruleFor(this.tools, exchange);
      const hint = resultHint(rule?.kind);
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

  /** How a content is to be read. */
  layoutOf(content: Content): TextLayout {
    return this.textAt(content).layout;
  }

  /** The lines of a content. */
  linesOf(content: Content): Lines {
    const known = this.textAt(content);
    return (known.lines ??= splitLines(content.text, known.layout, this.ids, this.tables));
  }
}

/**
 * Gives a step its memory of a conversation from run to run: one for each conversation and each setting of the
 * step.
 */
export function stepMemory<M>(make: (known: KnownLines) => M): (known: KnownLines, setting?: string) => M {
  const bySetting = memoizeByObject<KnownLines, Map<string, M>>(() => new Map());
  return (known, setting = '') => {
    const memories = bySetting(known);
    const found = memories.get(setting) ?? make(known);
    memories.set(setting, found);
    return found;
  };
}

/** A text of which nothing is known. */
const PLAIN: TextLayout = { hint: 'other', forms: undefined, parts: [] };

/** A text of a string, and what is known of it. */
interface KnownText {
  /** Where in the string it begins. */
  readonly start: number;
  layout: TextLayout;
  /** Whether its exchange has told the layout. */
  isLaid: boolean;
  /** By its layout. */
  lines: Lines | undefined;
  /** Another text of the string; most strings are one. */
  readonly next: KnownText | undefined;
}

/** A conversation's lines while no draft uses them. */
interface FreeLines {
  known?: KnownLines | undefined;
  /** Messages before it are left alone. */
  task: number;
}

const newFreeLines = (): FreeLines => ({ task: -1 });
const byDraft = new WeakMap<Draft, KnownLines>();
const rulesOf = memoizeByObject((tools: ToolTable) => JSON.stringify(tools));

/**
 * Takes what is known of a draft's conversation. Until the draft is released, other drafts of the conversation begin without: several
 * may run at a time.
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
