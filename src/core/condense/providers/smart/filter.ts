import { fileMatcher, toolMatcher, type Matcher } from '../../../glob';
import { ruleFor, type ToolTable } from '../../../messages/tools';
import { pathsOf } from '../../summary/filesTouched';
import type { Filter } from './selectionSchema';
import type { Item } from './items';

export type ItemTest = (item: Item) => boolean;

/**
 * A filter as a test of items.
 * @param messages how many the conversation has: ages are counted from its end.
 */
export function filterTest(filter: Filter, messages: number, tools: ToolTable): ItemTest {
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
      holds(kinds, (list) => exchange !== undefined && list.includes(ruleFor(tools, exchange.tool)?.kind ?? 'other')) &&
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
  return ({ exchange }) => exchange !== undefined && pathsOf(tools, exchange).some(isOne);
}
