import { getContentPlace, type ToolExchange } from '../../messages/exchanges';
import { getCommandOfCall, getToolRule, listParameterTexts, type ToolTable } from '../../messages/tools';
import type { CutRequest } from '../draft/cuts';
import type { Draft } from '../draft/draft';
import { findMarkers } from '../../messages/markers';
import type { MechanicalStep } from '../draft/steps';
import { isProtectedContent } from '../draft/exchanges';
import { describeKeptCopy } from './duplicates';
import type { KeptCopy } from './sources';
import { getLineCache, createMemoryPerLineCache } from './knownLines';
import { ProcessedGroups, type GroupWithKey } from './settled';
import { splitToLineSet, findSharedLineRanges } from './standing';

/**
 * Number of whole results to compare another result with, because requests are mostly repeated
 * soon.
 */
const MAX_DIFFERING_LINES = 6;

/**
 * The listing or search that `keep` chooses stays whole. Others lose the lines that they share with
 * the most similar whole result.
 */
export const createRepeatedListingsStep = (tools: ToolTable, keep: KeptCopy): MechanicalStep => {
  const name = 'Repeated listings and searches';
  return {
    name,
    run(draft) {
      getGroupsOfEqualListings(getLineCache(draft, tools), keep).forEachUnprocessedGroup(
        draft.exchanges,
        function* ({ items }) {
          const comparedResults: { readonly exchange: ToolExchange; readonly lines: ReadonlySet<string> }[] = [];
          const orderedItems = [...items.entries()];
          for (const [index, exchange] of keep === 'latest' ? orderedItems.toReversed() : orderedItems) {
            const lines = splitToLineSet(exchange.resultText);
            const mostSimilar = findResultWithMostSharedLines(lines, comparedResults);
            if (mostSimilar) {
              const copyText = describeKeptCopy(tools, keep, mostSimilar.exchange);
              const isCut = replaceSharedLines(draft, name, exchange, mostSimilar.lines, copyText);
              yield isCut ? index : undefined;
              if (isCut) continue;
            }
            if (comparedResults.length < MAX_DIFFERING_LINES) comparedResults.push({ exchange, lines });
          }
        },
      );
    },
  };
};

function findResultWithMostSharedLines<T extends { readonly lines: ReadonlySet<string> }>(
  lines: ReadonlySet<string>,
  results: readonly T[],
): T | undefined {
  const sharedCounts = results.map((result) => [...lines].filter((line) => result.lines.has(line)).length);
  const maxShared = Math.max(0, ...sharedCounts);
  return maxShared === 0 ? undefined : results[sharedCounts.indexOf(maxShared)];
}

const getGroupsOfEqualListings = createMemoryPerLineCache(({ tools }) =>
  createExchangeGroupsByKey((exchange) => {
    const rule = getToolRule(tools, exchange);
    if (rule?.kind === 'search') {
      const patterns = listParameterTexts(exchange.input, rule.pattern);
      return patterns.length === 0 ? makeCallKey(exchange) : `${exchange.tool} ${JSON.stringify(patterns)}`;
    }
    return rule?.kind === 'list' ? makeCallKey(exchange) : undefined;
  }),
);

const makeCallKey = ({ tool, input }: ToolExchange): string => `${tool} ${JSON.stringify(input)}`;

/** Agents do not always mark the result of a failed command as an error. */
const FAILED_EXIT_TEXT = /\bexit(?:ed with)? code:? [1-9]/i;

function getCommandKey(exchange: ToolExchange): string | undefined {
  const command = getCommandOfCall(exchange);
  if (command === undefined || FAILED_EXIT_TEXT.test(exchange.resultText)) return undefined;
  const { cwd, workdir } = exchange.input;
  return JSON.stringify([exchange.tool, command, cwd, workdir]);
}

/** Of a repeated command, only the latest output and outputs of failures stay. */
export const createRepeatedCommandsStep = (tools: ToolTable): MechanicalStep => {
  const name = 'Repeated commands';
  return {
    name,
    run(draft) {
      getGroupsOfEqualCommands(getLineCache(draft, tools)).forEachUnprocessedGroup(draft.exchanges, (group) =>
        removeOlderResults(
          draft,
          name,
          group,
          2,
          'older output, this command ran again later',
          'the command ran again later',
        ),
      );
    },
  };
};

const getGroupsOfEqualCommands = createMemoryPerLineCache(({ tools }) =>
  createExchangeGroupsByKey((exchange) =>
    getToolRule(tools, exchange)?.kind === 'command' ? getCommandKey(exchange) : undefined,
  ),
);

const SMALL_RESULT_CHARS = 600;
const MIN_SIMILAR_RESULTS = 3;

/**
 * Of a tool's confirmations that differ only in numbers and names ("file x updated"), only the
 * latest stays.
 */
export const createSimilarResultsStep = (tools: ToolTable): MechanicalStep => {
  const name = 'Small similar results';
  return {
    name,
    run(draft) {
      getGroupsOfSimilarConfirmations(getLineCache(draft, tools)).forEachUnprocessedGroup(draft.exchanges, (group) => {
        const marker = `done, 1 of ${group.items.length} alike`;
        return removeOlderResults(draft, name, group, MIN_SIMILAR_RESULTS, marker, 'a later result says the same');
      });
    },
  };
};

const getGroupsOfSimilarConfirmations = createMemoryPerLineCache(({ tools }) =>
  createExchangeGroupsByKey((exchange) => {
    // In results of tools that write nothing, numbers and names are the answer.
    const kind = getToolRule(tools, exchange)?.kind;
    return kind === 'write' || kind === 'edit' || kind === 'plan' ? getConfirmationKey(exchange) : undefined;
  }),
);

const getConfirmationKey = ({ tool, resultText }: ToolExchange): string | undefined =>
  resultText.length > SMALL_RESULT_CHARS || findMarkers(resultText).length > 0
    ? undefined
    : `${tool} ${replacePathsNumbersAndQuotes(resultText)}`;

const replacePathsNumbersAndQuotes = (text: string): string =>
  text
    .replace(/[\w.@~-]*[\\/][\w.@~\\/-]*/g, 'P')
    .replace(/\d+/g, '0')
    .replace(/"[^"\n]*"|'[^'\n]*'|`[^`\n]*`/g, 'Q');

const createExchangeGroupsByKey = (
  getKey: (exchange: ToolExchange) => string | undefined,
): ProcessedGroups<ToolExchange> =>
  new ProcessedGroups((exchange) => {
    const key = exchange.isError || exchange.results.length === 0 ? undefined : getKey(exchange);
    return key === undefined ? [] : [key];
  });

function replaceSharedLines(
  draft: Draft,
  step: string,
  exchange: ToolExchange,
  sharedLines: ReadonlySet<string>,
  copyText: string,
): boolean {
  let savedTokens = 0;
  for (const content of exchange.results.toReversed()) {
    if (isProtectedContent(draft, content)) continue;
    const cutRequests: CutRequest[] = findSharedLineRanges(content.text, sharedLines).map((run) => ({
      start: content.start + run.start,
      end: content.start + run.end,
      marker: `${run.lines} lines as in ${copyText}`,
    }));
    savedTokens += draft.cutText(step, getContentPlace(content), cutRequests, {
      contentType: 'toolResults',
      operation: 'reference',
      reason: 'the same lines appear in another result of the same call',
      strict: true,
    });
  }
  return savedTokens > 0;
}

function* removeOlderResults(
  draft: Draft,
  step: string,
  { items, firstUnprocessed }: GroupWithKey<ToolExchange>,
  minItems: number,
  marker: string,
  reason: string,
): Generator<number | undefined> {
  if (items.length < minItems) return;
  // The result that was the last one in an earlier run is now an older one.
  const firstItemIndex = firstUnprocessed < minItems ? 0 : firstUnprocessed - 1;
  for (const [offset, exchange] of items.slice(firstItemIndex, -1).entries())
    yield removeResultText(draft, step, exchange, marker, reason) ? firstItemIndex + offset : undefined;
}

function removeResultText(draft: Draft, step: string, exchange: ToolExchange, marker: string, reason: string): boolean {
  let savedTokens = 0;
  for (const content of exchange.results.toReversed()) {
    if (isProtectedContent(draft, content)) continue;
    const { start, end } = content;
    savedTokens += draft.cutText(step, getContentPlace(content), [{ start, end, marker }], {
      contentType: 'toolResults',
      operation: 'cut',
      reason,
      strict: false,
    });
  }
  return savedTokens > 0;
}
