import type { Content } from '../../messages/content';
import { ruleFor, type ToolTable } from '../../messages/tools';
import type { ToolExchange } from '../../messages/exchanges';
import type { ApiMessage, Path } from '../../messages/types';
import type { MessageCounter } from '../../tokens/messageCounter';
import { memoizeByObject } from '../../memoizeByObject';
import type { Draft } from '../draft/draft';
import { LineIds } from './lineIds';
import { splitLines, type Lines } from './lines';
import { resultHint, type PrefixHint } from './prefixes';
import { Settled } from './settled';

/**
 * What is known of a conversation's lines, from step to step and from run to run: messages never change, so that a run
 * over a conversation that has grown reads what is new. It changes no outcome, only the time it takes.
 */
export class KnownLines {
  readonly ids = new LineIds();
  private readonly hints = new WeakMap<Path, PrefixHint>();
  /** Exchanges whose results' hints are known. */
  private readonly learnt = { original: new Settled<ToolExchange>(), view: new Settled<ToolExchange>() };
  /** A path lives as long as its message's contents, which are remembered, too. */
  private readonly lines = new WeakMap<Path, KnownText[]>();

  /** @param counter undefined where nothing is planned. */
  constructor(
    readonly tools: ToolTable,
    readonly counter?: MessageCounter,
  ) {}

  /** Learns how the results of these calls are to be read; must be called before their lines are asked for. */
  learn(exchanges: readonly ToolExchange[], of: 'original' | 'view'): void {
    for (const at of this.learnt[of].open(exchanges)) {
      const exchange = exchanges[at] as ToolExchange;
      const hint = resultHint(ruleFor(this.tools, exchange)?.kind);
      for (const { path } of exchange.results) this.hints.set(path, hint);
    }
    this.learnt[of].settle(exchanges);
  }

  /** The lines of a content. */
  linesOf({ path, start, text }: Content): Lines {
    let known = this.lines.get(path);
    if (!known) this.lines.set(path, (known = []));
    const hint = this.hints.get(path) ?? 'other';
    const found = known.find((each) => each.start === start && each.hint === hint);
    if (found) return found.lines;
    const lines = splitLines(text, hint, this.ids);
    known.push({ start, hint, lines });
    return lines;
  }
}

/**
 * What a step remembers of a conversation from run to run: one memory for each conversation and each setting of the
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

/** One of several texts may stand in one string. */
interface KnownText {
  readonly start: number;
  readonly hint: PrefixHint;
  readonly lines: Lines;
}

interface OfConversation {
  readonly rules: string;
  /** What comes before is left alone. */
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
