import { getToolRule, type ToolTable } from '../../../messages/tools';
import type { Draft } from '../../draft/draft';
import type { MessageRange } from '../../../messages/messageRange';
import { findStartsOfInseparableMessages } from '../../summary/range';
import { findOldMessages } from '../../../messages/zones';
import type { ContentFilter, MessageSelection } from './passSchema';
import type { ContentItem } from './items';
import { createFileMatcher, createToolMatcher, type TextMatcher } from '../../../glob';
import { listTouchedPaths } from '../../../messages/filesTouched';

export interface SelectedContent {
  /** The messages after the task and, if selected by age, before the newest. */
  readonly zone: MessageRange;
  readonly isSelected: ItemTest;
}

/** The zone's end never separates a call from its results. */
export function selectContentOfPass(draft: Draft, selection: MessageSelection, tools: ToolTable): SelectedContent {
  const { messages } = draft;
  switch (selection.type) {
    case 'preserve_recent':
      return { zone: findOldMessages(messages, selection.count), isSelected: () => true };
    case 'preserve_percent': {
      const keptCount = Math.round((messages.length * selection.percentage) / 100);
      return { zone: findOldMessages(messages, keptCount), isSelected: () => true };
    }
    case 'custom': {
      const { filter, selector } = selection;
      const passesFilter = filter ? createFilterTest(filter, messages.length, tools) : () => true;
      const selectedMessages = selector
        ? new Set(messages.flatMap((message, index) => (selector(message, index, messages) ? [index] : [])))
        : undefined;
      return {
        zone: findOldMessages(messages, 0),
        isSelected: (item) => (selectedMessages?.has(item.message) ?? true) && passesFilter(item),
      };
    }
  }
}

export interface SummarizableRange {
  readonly first: number;
  readonly count: number;
  readonly tokens: number;
}

/**
 * Returns the range of consecutive units with the most tokens. Messages of a unit must stay
 * together. Each unit has selected content, and none has protected content.
 */
export function findLargestSummarizableRange(
  draft: Draft,
  starts: readonly number[],
  { zone, isSelected }: SelectedContent,
  getItems: (message: number) => readonly ContentItem[],
  isProtected: (message: number) => boolean,
): SummarizableRange | undefined {
  let longestRange: SummarizableRange | undefined;
  let openRange: SummarizableRange | undefined;
  for (const [unit, start] of starts.entries()) {
    const end = starts[unit + 1] ?? draft.messages.length;
    const messageIndexes = Array.from({ length: end - start }, (_, at) => start + at);
    const items = messageIndexes.flatMap(getItems);
    // A unit without text, such as an image, is treated like its neighbors.
    const isChosen = items.length === 0 || items.some(isSelected);
    const isSummarizable = start >= zone.start && end <= zone.end && isChosen && !messageIndexes.some(isProtected);
    const tokens = draft.messages
      .slice(start, end)
      .reduce((sum, message) => sum + draft.counter.countMessage(message), 0);
    openRange = !isSummarizable
      ? undefined
      : openRange
        ? { ...openRange, count: openRange.count + 1, tokens: openRange.tokens + tokens }
        : { first: unit, count: 1, tokens };
    if (openRange && (!longestRange || openRange.tokens > longestRange.tokens)) longestRange = openRange;
  }
  return longestRange;
}

/** Skips units that an earlier summary replaced. */
export const listStartsOfInseparableMessagesAfterTask = (draft: Draft): number[] =>
  findStartsOfInseparableMessages(draft.messages).filter(
    (index) => index > draft.task && draft.messages[index]?.content.length !== 0,
  );

export type ItemTest = (item: ContentItem) => boolean;

/** @param messages number of messages, since ages are counted from the end */
function createFilterTest(filter: ContentFilter, messages: number, tools: ToolTable): ItemTest {
  const { roles, contentTypes, kinds, isError, minTokens, age } = filter;
  const createNestedTest = (part: ContentFilter): ItemTest => createFilterTest(part, messages, tools);
  const toolTest = filter.tools && createToolNameTest(filter.tools);
  const fileTest = filter.files && createFileTest(filter.files, tools);
  const searchText = filter.contains?.toLowerCase();
  const andTests = filter.and?.map(createNestedTest);
  const orTests = filter.or?.map(createNestedTest);
  const notTest = filter.not && createNestedTest(filter.not);
  return (item) => {
    const { role, type, exchange, tokens, contents } = item;
    const newerCount = messages - 1 - item.message;
    return (
      isUndefinedOr(roles, (list) => list.includes(role)) &&
      isUndefinedOr(contentTypes, (list) => list.includes(type)) &&
      isUndefinedOr(toolTest, (test) => test(item)) &&
      isUndefinedOr(
        kinds,
        (list) => exchange !== undefined && list.includes(getToolRule(tools, exchange)?.kind ?? 'other'),
      ) &&
      isUndefinedOr(fileTest, (test) => test(item)) &&
      isUndefinedOr(isError, (failed) => exchange?.isError === failed) &&
      isUndefinedOr(minTokens, (least) => tokens >= least) &&
      isUndefinedOr(age?.min, (least) => newerCount >= least) &&
      isUndefinedOr(age?.max, (most) => newerCount <= most) &&
      isUndefinedOr(searchText, (part) => contents.some(({ text }) => text.toLowerCase().includes(part))) &&
      isUndefinedOr(andTests, (tests) => tests.every((test) => test(item))) &&
      isUndefinedOr(orTests, (tests) => tests.some((test) => test(item))) &&
      isUndefinedOr(notTest, (test) => !test(item))
    );
  };
}

const isUndefinedOr = <T>(field: T | undefined, testField: (field: T) => boolean): boolean =>
  field === undefined || testField(field);

export function createToolNameTest(patterns: readonly string[]): ItemTest {
  const matchesTool = createToolMatcher(patterns);
  return ({ exchange }) => exchange !== undefined && matchesTool(exchange.tool);
}

export function createFileTest(patterns: readonly string[], tools: ToolTable): ItemTest {
  const matchesFile: TextMatcher = createFileMatcher(patterns);
  return ({ exchange }) => exchange !== undefined && listTouchedPaths(tools, exchange).some(matchesFile);
}
