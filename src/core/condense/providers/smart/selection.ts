/** Which messages and contents a pass may touch. */
import { ruleFor, type ToolTable } from '../../../messages/tools';
import type { Draft } from '../../draft/draft';
import type { MessageRange } from '../../../messages/messageRange';
import { unitStarts } from '../../summary/range';
import { oldZone } from '../../../messages/zones';
import type { Filter, Selection } from './passSchema';
import type { Item } from './items';
import { fileMatcher, toolMatcher, type Matcher } from '../../../glob';
import { listTouchedPaths } from '../../../messages/filesTouched';

export interface Selected {
  /** The messages that are looked at: behind the task, and of a selection by age before the newest. */
  readonly zone: MessageRange;
  readonly has: ItemTest;
}

/** The part of a draft that a selection takes. The zone's end never separates a call from its results. */
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

export type ItemTest = (item: Item) => boolean;

/**
 * A filter as a test of items.
 * @param messages how many the conversation has: ages are counted from its end.
 */
function filterTest(filter: Filter, messages: number, tools: ToolTable): ItemTest {
  const { roles, contentTypes, kinds, isError, minTokens, age } = filter;
  const nested = (part: Filter): ItemTest => filterTest(part, messages, tools);
  const isTool = filter.tools && ofTools(filter.tools);
  const isFile = filter.files && ofFiles(filter.files, tools);
  const words = filter.contains?.toLowerCase();
  const all = filter.and?.map(nested);
  const any = filter.or?.map(nested);
  const none = filter.not && nested(filter.not);
  return (item) => {
    const { role, type, exchange, tokens, contents } = item;
    const newer = messages - 1 - item.message;
    return (
      holds(roles, (list) => list.includes(role)) &&
      holds(contentTypes, (list) => list.includes(type)) &&
      holds(isTool, (test) => test(item)) &&
      holds(kinds, (list) => exchange !== undefined && list.includes(ruleFor(tools, exchange)?.kind ?? 'other')) &&
      holds(isFile, (test) => test(item)) &&
      holds(isError, (failed) => exchange?.isError === failed) &&
      holds(minTokens, (least) => tokens >= least) &&
      holds(age?.min, (least) => newer >= least) &&
      holds(age?.max, (most) => newer <= most) &&
      holds(words, (part) => contents.some(({ text }) => text.toLowerCase().includes(part))) &&
      holds(all, (tests) => tests.every((test) => test(item))) &&
      holds(any, (tests) => tests.some((test) => test(item))) &&
      holds(none, (test) => !test(item))
    );
  };
}

/** Whether a field of the filter holds; one that isn't set tests nothing. */
const holds = <T>(field: T | undefined, test: (field: T) => boolean): boolean => field === undefined || test(field);

/** Calls and results of these tools. */
export function ofTools(patterns: readonly string[]): ItemTest {
  const isOne = toolMatcher(patterns);
  return ({ exchange }) => exchange !== undefined && isOne(exchange.tool);
}

/** Calls and results that are of these files. */
export function ofFiles(patterns: readonly string[], tools: ToolTable): ItemTest {
  const isOne: Matcher = fileMatcher(patterns);
  return ({ exchange }) => exchange !== undefined && listTouchedPaths(tools, exchange).some(isOne);
}
