import { hashText, type Hash } from '../../hash';
import { placeOf, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { pathOf, ruleFor, type ToolTable } from '../../messages/tools';
import type { Path } from '../../messages/types';
import type { Draft } from '../draft';
import type { DraftStep } from '../steps';
import { exchangesOf } from './draftExchanges';
import { protectedFrom } from './protect';

/** Which of several equal copies stays: the latest (the default: older zones are condensed further) or the first (cache). */
export type Keep = 'latest' | 'first';

/** Shorter texts are not worth a marker. */
const MIN_CHARS = 80;

interface Copy {
  readonly exchange: ToolExchange;
  readonly content: PlacedContent;
}

/** Reads of one file that gave the same text: one copy stays, the others refer to it. */
export const duplicateReads = (tools: ToolTable, keep: Keep): DraftStep =>
  duplicates('Duplicate file reads', tools, keep, (exchange) => ruleFor(tools, exchange.tool)?.kind === 'read');

/** Any other results with the same text. */
export const duplicateResults = (tools: ToolTable, keep: Keep): DraftStep =>
  duplicates('Duplicate results', tools, keep, (exchange) => ruleFor(tools, exchange.tool)?.kind !== 'read');

function duplicates(
  name: string,
  tools: ToolTable,
  keep: Keep,
  isMeant: (exchange: ToolExchange) => boolean,
): DraftStep {
  return {
    name,
    async run(draft, pace) {
      const groups = new Map<string, Copy[]>();
      for (const exchange of exchangesOf(draft)) {
        // Errors are always kept apart.
        if (exchange.isError || !isMeant(exchange)) continue;
        for (const content of exchange.results) {
          if (content.text.length < MIN_CHARS || protectedFrom(draft, content)) continue;
          // By hash: V8 hashes long strings by their length alone.
          const key = hashOf(content);
          const copies = groups.get(key);
          if (copies) copies.push({ exchange, content });
          else groups.set(key, [{ exchange, content }]);
        }
        await pace.breathe();
      }
      for (const copies of groups.values()) {
        if (copies.length > 1) refer(draft, name, tools, keep, copies);
        await pace.breathe();
      }
    },
  };
}

const remembered = new WeakMap<Path, Map<number, Hash>>();

/** A content's path lives as long as its message. */
function hashOf({ path, start, text }: PlacedContent): Hash {
  let byStart = remembered.get(path);
  if (!byStart) remembered.set(path, (byStart = new Map<number, Hash>()));
  let hash = byStart.get(start);
  if (hash === undefined) byStart.set(start, (hash = hashText(text)));
  return hash;
}

function refer(draft: Draft, step: string, tools: ToolTable, keep: Keep, copies: readonly Copy[]): void {
  const kept = keep === 'latest' ? copies.at(-1) : copies[0];
  for (const copy of copies) {
    if (copy === kept || !kept) continue;
    const { start, end } = copy.content;
    draft.cut(
      step,
      placeOf(copy.content),
      [{ start, end, marker: `same as ${describe(tools, keep, kept.exchange)}` }],
      {
        contentType: 'toolResults',
        reason: 'the same text stands in another result',
        strict: true,
      },
    );
  }
}

/** How a marker names the kept copy: by what the model itself asked for. */
export function describe(tools: ToolTable, keep: Keep, exchange: ToolExchange): string {
  const when = keep === 'latest' ? 'later' : 'earlier';
  const path = pathOf(tools, exchange);
  return path === undefined ? `${when} ${exchange.tool}` : `${when} ${exchange.tool} of ${shortPath(path)}`;
}

/** The end of a path, enough to know the file by. */
export const shortPath = (path: string): string => path.split(/[\\/]/).filter(Boolean).slice(-2).join('/');
