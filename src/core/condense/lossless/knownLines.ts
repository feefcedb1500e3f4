import type { Content } from '../../messages/content';
import { filePartsOf } from '../../messages/fileParts';
import { ruleFor, type ToolTable } from '../../messages/tools';
import type { ToolExchange } from '../../messages/exchanges';
import type { ApiMessage, Path } from '../../messages/types';
import type { MessageCounter } from '../../tokens/messageCounter';
import { memoizeByObject } from '../../memoizeByObject';
import type { Steps } from '../../pace';
import type { Draft } from '../draft/draft';
import { LineIds } from './lineIds';
import { splitLines, type Lines, type TextLayout } from './lines';
import { resultHint } from './prefixes';
import { Settled } from './settled';

/**
 * A memory of a conversation's lines, from step to step and from run to run: messages never change, so that a run
 * over a conversation that has grown reads what is new. It changes no outcome, only the time it takes.
 */
export class KnownLines {
  readonly ids = new LineIds();
  /** By the path of a string, then by where in the string a text begins. */
  private readonly layouts = new WeakMap<Path, Map<number, TextLayout>>();
  /** Exchanges whose results' hints are known. */
  private readonly learnt = { original: new Settled<ToolExchange>(), view: new Settled<ToolExchange>() };
  /** A path lives as long as its message's contents, which are remembered, too. */
  private readonly lines = new WeakMap<Path, KnownText[]>();

  /** @param counter undefined where nothing is planned. */
  constructor(
    readonly tools: ToolTable,
    readonly counter?: MessageCounter,
  ) {}

  /** Learns how the results of these calls are to be read, exchange by exchange; must be over before their lines are asked for. */
  *learn(exchanges: readonly ToolExchange[], of: 'original' | 'view'): Steps<void> {
    for (const at of this.learnt[of].open(exchanges)) {
      const exchange = exchanges[at] as ToolExchange;
      const rule = ruleFor(this.tools, exchange);
      const read = { hint: resultHint(rule?.kind), forms: rule?.numbers };
      for (const content of exchange.results) this.lay(exchange, content, read);
      for (const content of exchange.parameters) this.lay(exchange, content, { hint: 'other', forms: undefined });
      yield;
    }
    this.learnt[of].settle(exchanges);
  }

  private lay(exchange: ToolExchange, content: Content, read: Pick<TextLayout, 'hint' | 'forms'>): void {
    const layout = { ...read, parts: filePartsOf(this.tools, exchange, content) };
    const known = this.layouts.get(content.path);
    if (known) known.set(content.start, layout);
    else this.layouts.set(content.path, new Map([[content.start, layout]]));
  }

  /** How a content is to be read. */
  layoutOf({ path, start }: Content): TextLayout {
    return this.layouts.get(path)?.get(start) ?? PLAIN;
  }

  /** The lines of a content. */
  linesOf(content: Content): Lines {
    const { path, start, text } = content;
    let known = this.lines.get(path);
    if (!known) this.lines.set(path, (known = []));
    const layout = this.layoutOf(content);
    const found = known.find((each) => each.start === start && each.layout === layout);
    if (found) return found.lines;
    const lines = splitLines(text, layout, this.ids);
    known.push({ start, layout, lines });
    return lines;
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

/** One of several texts may stand in one string. */
interface KnownText {
  readonly start: number;
  readonly layout: TextLayout;
  readonly lines: Lines;
}

interface OfConversation {
  readonly rules: string;
  /** Messages before it are left alone. */
  readonly task: number;
  readonly known: KnownLines;
}

/** By a conversation's first message. */
const byConversation = new WeakMap<ApiMessage, OfConversation>();
const byDraft = new WeakMap<Draft, KnownLines>();
const rulesOf = memoizeByObject((tools: ToolTable) => JSON.stringify(tools));

/**
 * Takes what is known of a draft's conversation. Until {@link giveBackLines}, other drafts of the conversation start
 * anew: several may run at a time.
 */
export function knownLinesOf(draft: Draft, tools: ToolTable): KnownLines {
  const own = byDraft.get(draft);
  if (own) return own;
  const [first] = draft.original;
  const before = first && byConversation.get(first);
  if (first) byConversation.delete(first);
  const fits = before?.rules === rulesOf(tools) && before.task === draft.task && before.known.counter === draft.counter;
  const known = fits ? before.known : new KnownLines(tools, draft.counter);
  byDraft.set(draft, known);
  return known;
}

/** Gives it back for the next run. */
export function giveBackLines(draft: Draft): void {
  const known = byDraft.get(draft);
  const [first] = draft.original;
  byDraft.delete(draft);
  if (known && first) byConversation.set(first, { rules: rulesOf(known.tools), task: draft.task, known });
}
