import { hashText } from '../../hash';
import { getPlace, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { getPath, ruleFor, type ToolTable } from '../../messages/tools';
import type { ToolKind } from '../../agents/types';
import { memoizeByObject } from '../../memoizeByObject';
import type { Draft } from '../draft/draft';
import { isOneMarker } from '../../messages/markers';
import type { MechanicalStep } from '../draft/steps';
import { shortenPath } from '../../messages/filePath';
import type { Keep } from './sources';
import { takeKnownLines, stepMemory, type KnownLines } from './knownLines';
import type { Lines } from '../lines/lines';
import { Groups } from './settled';

/** Shorter texts are not worth a marker. */
const MIN_CHARS = 80;

interface Copy {
  readonly exchange: ToolExchange;
  /** Index among the exchanges with the same text. */
  readonly index: number;
  readonly content: PlacedContent;
}

export const duplicateReads = (tools: ToolTable, keep: Keep): MechanicalStep =>
  referToCopies('Duplicate file reads', tools, keep, copiedReads);

export const duplicateResults = (tools: ToolTable, keep: Keep): MechanicalStep =>
  referToCopies('Duplicate results', tools, keep, copiedResults);

const copies = (isMeant: (kind: ToolKind | undefined) => boolean) =>
  stepMemory(
    ({ tools }) =>
      new Groups<ToolExchange>((exchange) =>
        isMeant(ruleFor(tools, exchange)?.kind)
          ? [...new Set(copiesIn(exchange).map((content) => getCopyKey(exchange, content)))]
          : [],
      ),
  );
const copiedReads = copies((kind) => kind === 'read');
const copiedResults = copies((kind) => kind !== 'read');

const copiesIn = ({ results }: ToolExchange): readonly PlacedContent[] =>
  results.filter(({ text }) => text.length >= MIN_CHARS && !isOneMarker(text));

/** Errors never share a copy with results of successful calls. */
const getCopyKey = ({ isError }: ToolExchange, content: PlacedContent): string =>
  isError ? `error ${getTextHash(content)}` : getTextHash(content);

/** V8 hashes long strings by their length only, so that they make slow map keys. */
const getTextHash = memoizeByObject(({ text }: PlacedContent) => hashText(text));

function referToCopies(name: string, tools: ToolTable, keep: Keep, copied: ReturnType<typeof copies>): MechanicalStep {
  return {
    name,
    run(draft) {
      const known = takeKnownLines(draft, tools);
      const exchanges = draft.exchanges;
      known.learn(exchanges, 'view');
      copied(known, keep).each(exchanges, function* ({ items, key }) {
        const same = items.flatMap((exchange, index) =>
          copiesIn(exchange)
            .filter((content) => content.message > draft.task && getCopyKey(exchange, content) === key)
            .map((content): Copy => ({ exchange, content, index })),
        );
        if (same.length < 2) return;
        for (const copies of groupByLayout(same, known)) yield* replaceWithReferences(draft, name, tools, keep, copies);
      });
    },
  };
}

/**
 * Groups copies that are split into the same lines. One tool's line prefix is text in another's
 * result, so equal texts may still have different lines.
 */
function groupByLayout(same: readonly Copy[], known: KnownLines): Copy[][] {
  const groups: { readonly lines: Lines; readonly copies: Copy[] }[] = [];
  for (const copy of same) {
    const lines = known.linesOf(copy.content);
    const group = groups.find((each) => hasSameLines(each.lines, lines));
    if (group) group.copies.push(copy);
    else groups.push({ lines, copies: [copy] });
  }
  return groups.map(({ copies }) => copies);
}

function hasSameLines(a: Lines, b: Lines): boolean {
  if (a.count !== b.count) return false;
  for (let line = 0; line < a.count; line++) if (a.textId(line) !== b.textId(line)) return false;
  return true;
}

/** Yields the index of each copy that was cut, and undefined for each that was not. */
function* replaceWithReferences(
  draft: Draft,
  step: string,
  tools: ToolTable,
  keep: Keep,
  same: readonly Copy[],
): Generator<number | undefined> {
  const kept = keep === 'latest' ? same.at(-1) : same[0];
  if (!kept) return;
  const marker = `same ${kept.exchange.isError ? 'error ' : ''}as ${describe(tools, keep, kept.exchange)}`;
  for (const { content, index } of same) {
    if (content === kept.content) continue;
    const { start, end } = content;
    const saved = draft.cut(step, getPlace(content), [{ start, end, marker }], {
      contentType: 'toolResults',
      operation: 'reference',
      reason: 'the same text appears in another result',
      strict: true,
    });
    yield saved > 0 ? index : undefined;
  }
}

/** Names the kept copy by what the model itself asked for. */
export function describe(tools: ToolTable, keep: Keep, exchange: ToolExchange): string {
  const when = keep === 'latest' ? 'later' : 'earlier';
  const path = getPath(tools, exchange);
  return path === undefined ? `${when} ${exchange.tool}` : `${when} ${exchange.tool} of ${shortenPath(path)}`;
}
