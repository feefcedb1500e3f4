import type { Content } from '../../messages/content';
import { getPlace, type ToolExchange } from '../../messages/exchanges';
import { makeFileKey } from '../../messages/filePath';
import { getCommand, getPath, ruleFor, type ToolTable } from '../../messages/tools';
import type { Path } from '../../messages/types';
import { memoizeByObject } from '../../memoizeByObject';
import { findMarkers } from '../../messages/markers';
import type { MechanicalStep } from '../draft/steps';
import { protectedFrom } from '../draft/exchanges';
import { stripFolderChange } from './describe';
import { takeKnownLines, stepMemory } from './knownLines';
import { Settled } from './settled';

/** Shorter parameters stay, to show what was tried. */
const LONG_CHARS = 160;

/** A call this many calls later can still be a retry. */
const SOON = 20;

const settledOf = stepMemory(() => new Settled<ToolExchange>());

/** Removes long parameters of failed calls that were repeated successfully; the error stays. */
export const retriedErrors = (tools: ToolTable): MechanicalStep => {
  const name = 'Failed calls made again';
  return {
    name,
    run(draft) {
      const exchanges = draft.exchanges;
      const settled = settledOf(takeKnownLines(draft, tools));
      const acted: number[] = [];
      for (const at of addPrecedingPlaces(settled.open(exchanges))) {
        const exchange = exchanges[at];
        const target = exchange?.isError ? getTarget(tools, exchange) : undefined;
        if (!exchange || target === undefined) continue;
        const retries = exchanges.slice(at + 1, at + 1 + SOON).filter((later) => isRetry(tools, later, target));
        for (const content of exchange.parameters.toReversed()) {
          const { text, start, end } = content;
          if (text.length < LONG_CHARS || findMarkers(text).length > 0 || protectedFrom(draft, content)) continue;
          if (!retries.some((later) => repeatsParameter(later, content))) continue;
          const request = { start, end, marker: 'this call failed and was made again later' };
          const saved = draft.cut(name, getPlace(content), [request], {
            contentType: content.type,
            operation: 'cut',
            reason: 'the call failed and was retried successfully',
            strict: false,
          });
          if (saved > 0) acted.push(at);
        }
      }
      settled.settle(exchanges, acted);
    },
  };
};

/** Adds places that are soon followed by one of these: a new call may be their retry. */
function* addPrecedingPlaces(places: readonly number[]): Generator<number> {
  let next = 0;
  for (const place of places) {
    for (next = Math.max(next, place - SOON); next <= place; next++) yield next;
  }
}

const isRetry = (tools: ToolTable, later: ToolExchange, target: string): boolean =>
  !later.isError && later.results.length > 0 && getTarget(tools, later) === target;

/**
 * True if a call repeats at least half of a parameter's lines; for commands the beginning is
 * enough.
 */
function repeatsParameter(later: ToolExchange, { path, text }: Content): boolean {
  if (getCommand(later) !== undefined) return true;
  const again = linesByParameter(later).get(getParameterName(path));
  const lines = linesOf(text);
  return again !== undefined && 2 * [...lines].filter((line) => again.has(line)).length >= lines.size;
}

const linesByParameter = memoizeByObject(
  ({ parameters }: ToolExchange) =>
    new Map(parameters.map(({ path, text }) => [getParameterName(path), linesOf(text)])),
);

/** The parameter's name, or the keys that lead to it. */
const getParameterName = (path: Path): string => path.slice(2).join(' ');

const linesOf = (text: string): Set<string> => new Set(text.split('\n').map((line) => line.trim()));

const commandTarget = memoizeByObject((exchange: ToolExchange) => {
  const words = stripFolderChange(exchange)?.split(/\s+/, 3);
  return words?.length === 3 ? `command ${words.join(' ')}` : undefined;
});

/** Calls with the same target are attempts at the same thing. */
function getTarget(tools: ToolTable, exchange: ToolExchange): string | undefined {
  const kind = ruleFor(tools, exchange)?.kind;
  if (kind === 'edit' || kind === 'write') {
    const path = getPath(tools, exchange);
    return path === undefined ? undefined : `file ${makeFileKey(path)}`;
  }
  if (kind === 'command') {
    return commandTarget(exchange);
  }
  return kind === undefined || kind === 'fetch' || kind === 'agent' || kind === 'other'
    ? `tool ${exchange.tool}`
    : undefined;
}
