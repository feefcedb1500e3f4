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
  const { roles, contentTypes, isError, minTokens, age, contains } = filter;
  const text = contains?.toLowerCase();
  const tests: ItemTest[] = [
    ...when(
      roles,
      (list) =>
        ({ role }) =>
          list.includes(role),
    ),
    ...when(
      contentTypes,
      (list) =>
        ({ type }) =>
          list.includes(type),
    ),
    ...when(filter.tools, ofTools),
    ...when(
      filter.kinds,
      (list) =>
        ({ exchange }) =>
          exchange !== undefined && list.includes(ruleFor(tools, exchange.tool)?.kind ?? 'other'),
    ),
    ...when(filter.files, (list) => ofFiles(list, tools)),
    ...when(
      isError,
      (failed) =>
        ({ exchange }) =>
          exchange !== undefined && exchange.isError === failed,
    ),
    ...when(
      minTokens,
      (least) =>
        ({ tokens }) =>
          tokens >= least,
    ),
    ...when(
      age?.min,
      (least) =>
        ({ message }) =>
          messages - 1 - message >= least,
    ),
    ...when(
      age?.max,
      (most) =>
        ({ message }) =>
          messages - 1 - message <= most,
    ),
    ...when(
      text,
      (part) =>
        ({ contents }) =>
          contents.some((content) => content.text.toLowerCase().includes(part)),
    ),
    ...(filter.and ?? []).map((part) => filterTest(part, messages, tools)),
    ...when(filter.or, (parts) => {
      const choices = parts.map((part) => filterTest(part, messages, tools));
      return (item) => choices.some((test) => test(item));
    }),
    ...when(filter.not, (part) => {
      const test = filterTest(part, messages, tools);
      return (item) => !test(item);
    }),
  ];
  return (item) => tests.every((test) => test(item));
}

/** A field that isn't set tests nothing. */
const when = <T>(field: T | undefined, test: (field: T) => ItemTest): ItemTest[] =>
  field === undefined ? [] : [test(field)];

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
