/** Which messages and contents a pass may touch. */
import type { ToolTable } from '../../../messages/tools';
import type { Draft } from '../../draft/draft';
import type { MessageRange } from '../../../messages/messageRange';
import { unitStarts } from '../../summary/range';
import { oldZone } from '../../../messages/zones';
import type { Selection } from './selectionSchema';
import { filterTest, type ItemTest } from './filter';
import type { Item } from './items';

export interface Selected {
  /** The messages that are looked at: behind the task, and of a selection by age before the newest. */
  readonly zone: MessageRange;
  readonly has: ItemTest;
}

/** What a selection takes of a draft. The zone's end never parts a call from its results. */
export function select(draft: Draft, selection: Selection, tools: ToolTable): Selected {
  const { messages } = draft;
  switch (selection.type) {
    case 'preserve_recent':
      return { zone: oldZone(messages, selection.count), has: () => true };
    case 'preserve_percent': {
      const kept = Math.round((messages.length * selection.percentage) / 100);
      return { zone: oldZone(messages, kept), has: () => true };
    }
    case 'custom': {
      const { filter, selector } = selection;
      const passes = filter ? filterTest(filter, messages.length, tools) : () => true;
      const chosen = selector
        ? new Set(messages.flatMap((message, index) => (selector(message, index, messages) ? [index] : [])))
        : undefined;
      return {
        zone: oldZone(messages, 0),
        has: (item) => (chosen?.has(item.message) ?? true) && passes(item),
      };
    }
  }
}

/** Consecutive units, by the index of their first among all units. */
export interface UnitRun {
  /** Index of the first unit. */
  readonly first: number;
  /** How many units. */
  readonly count: number;
  readonly tokens: number;
}

/**
 * The run of units with the most tokens that a summary may take in: of each something is selected, nothing protected.
 * @returns undefined where there is none.
 */
export function longestRun(
  draft: Draft,
  starts: readonly number[],
  { zone, has }: Selected,
  itemsAt: (message: number) => readonly Item[],
  isProtected: (message: number) => boolean,
): UnitRun | undefined {
  let best: UnitRun | undefined;
  let run: UnitRun | undefined;
  for (const [unit, start] of starts.entries()) {
    const end = starts[unit + 1] ?? draft.messages.length;
    const indexes = Array.from({ length: end - start }, (_, at) => start + at);
    const items = indexes.flatMap(itemsAt);
    // A unit without text (an image) goes with those around it.
    const isChosen = items.length === 0 || items.some(has);
    const isIn = start >= zone.start && end <= zone.end && isChosen && !indexes.some(isProtected);
    const tokens = draft.messages.slice(start, end).reduce((sum, message) => sum + draft.counter.message(message), 0);
    run = !isIn
      ? undefined
      : run
        ? { ...run, count: run.count + 1, tokens: run.tokens + tokens }
        : { first: unit, count: 1, tokens };
    if (run && (!best || run.tokens > best.tokens)) best = run;
  }
  return best;
}

/** Where the units behind the task begin that an earlier summary has not taken in. */
export const unitsBehindTask = (draft: Draft): number[] =>
  unitStarts(draft.messages).filter((index) => index > draft.task && draft.messages[index]?.content.length !== 0);
