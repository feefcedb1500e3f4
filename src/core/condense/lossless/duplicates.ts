import { hashText } from '../../hash';
import { getContentPlace, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { getToolPath, getToolRule, type ToolTable } from '../../messages/tools';
import type { ToolKind } from '../../agents/types';
import { memoizeByObject } from '../../memoizeByObject';
import type { Draft } from '../draft/draft';
import { isSingleMarker } from '../../messages/markers';
import type { MechanicalStep } from '../draft/steps';
import { shortenPath } from '../../messages/filePath';
import type { KeptCopy } from './sources';
import { getLineCache, createMemoryPerLineCache, type LineCache } from './knownLines';
import type { TextLines } from '../lines/lines';
import { ProcessedGroups } from './settled';

const MIN_DUPLICATE_CHARS = 80;

interface CopyOfResult {
  readonly exchange: ToolExchange;
  readonly index: number;
  readonly content: PlacedContent;
}

export const createDuplicateReadsStep = (tools: ToolTable, keep: KeptCopy): MechanicalStep =>
  createStepReplacingCopies('Duplicate file reads', tools, keep, getGroupsOfEqualFileReads);

export const createDuplicateResultsStep = (tools: ToolTable, keep: KeptCopy): MechanicalStep =>
  createStepReplacingCopies('Duplicate results', tools, keep, getGroupsOfEqualOtherResults);

const createMemoryOfEqualResults = (includesKind: (kind: ToolKind | undefined) => boolean) =>
  createMemoryPerLineCache(
    ({ tools }) =>
      new ProcessedGroups<ToolExchange>((exchange) =>
        includesKind(getToolRule(tools, exchange)?.kind)
          ? [...new Set(listComparableResults(exchange).map((content) => makeResultKey(exchange, content)))]
          : [],
      ),
  );
const getGroupsOfEqualFileReads = createMemoryOfEqualResults((kind) => kind === 'read');
const getGroupsOfEqualOtherResults = createMemoryOfEqualResults((kind) => kind !== 'read');

const listComparableResults = ({ results }: ToolExchange): readonly PlacedContent[] =>
  results.filter(({ text }) => text.length >= MIN_DUPLICATE_CHARS && !isSingleMarker(text));

/** Errors never share a copy with results of successful calls. */
const makeResultKey = ({ isError }: ToolExchange, content: PlacedContent): string =>
  isError ? `error ${getTextHash(content)}` : getTextHash(content);

/** V8 hashes long strings by their length only, which makes them slow map keys. */
const getTextHash = memoizeByObject(({ text }: PlacedContent) => hashText(text));

function createStepReplacingCopies(
  name: string,
  tools: ToolTable,
  keep: KeptCopy,
  copied: ReturnType<typeof createMemoryOfEqualResults>,
): MechanicalStep {
  return {
    name,
    run(draft) {
      const lineCache = getLineCache(draft, tools);
      const exchanges = draft.exchanges;
      lineCache.addExchanges(exchanges, 'view');
      copied(lineCache, keep).forEachUnprocessedGroup(exchanges, function* ({ items, key }) {
        const equalCopies = items.flatMap((exchange, index) =>
          listComparableResults(exchange)
            .filter((content) => content.message > draft.task && makeResultKey(exchange, content) === key)
            .map((content): CopyOfResult => ({ exchange, content, index })),
        );
        if (equalCopies.length < 2) return;
        for (const copies of groupCopiesByLayout(equalCopies, lineCache))
          yield* replaceCopiesWithReferences(draft, name, tools, keep, copies);
      });
    },
  };
}

/**
 * What is a line prefix in one tool's results is text in another's, so equal texts may have
 * different lines.
 */
function groupCopiesByLayout(equalCopies: readonly CopyOfResult[], lineCache: LineCache): CopyOfResult[][] {
  const groups: { readonly lines: TextLines; readonly copies: CopyOfResult[] }[] = [];
  for (const copy of equalCopies) {
    const lines = lineCache.getLines(copy.content);
    const group = groups.find((each) => haveSameLines(each.lines, lines));
    if (group) group.copies.push(copy);
    else groups.push({ lines, copies: [copy] });
  }
  return groups.map(({ copies }) => copies);
}

function haveSameLines(a: TextLines, b: TextLines): boolean {
  if (a.count !== b.count) return false;
  for (let line = 0; line < a.count; line++)
    if (a.getIdIncludingBlankLines(line) !== b.getIdIncludingBlankLines(line)) return false;
  return true;
}

function* replaceCopiesWithReferences(
  draft: Draft,
  step: string,
  tools: ToolTable,
  keep: KeptCopy,
  equalCopies: readonly CopyOfResult[],
): Generator<number | undefined> {
  const keptCopy = keep === 'latest' ? equalCopies.at(-1) : equalCopies[0];
  if (!keptCopy) return;
  const marker = `same ${keptCopy.exchange.isError ? 'error ' : ''}as ${describeKeptCopy(tools, keep, keptCopy.exchange)}`;
  for (const { content, index } of equalCopies) {
    if (content === keptCopy.content) continue;
    const { start, end } = content;
    const savedTokens = draft.cutText(step, getContentPlace(content), [{ start, end, marker }], {
      contentType: 'toolResults',
      operation: 'reference',
      reason: 'the same text appears in another result',
      strict: true,
    });
    yield savedTokens > 0 ? index : undefined;
  }
}

export function describeKeptCopy(tools: ToolTable, keep: KeptCopy, exchange: ToolExchange): string {
  const laterOrEarlier = keep === 'latest' ? 'later' : 'earlier';
  const path = getToolPath(tools, exchange);
  return path === undefined
    ? `${laterOrEarlier} ${exchange.tool}`
    : `${laterOrEarlier} ${exchange.tool} of ${shortenPath(path)}`;
}
