import { placeOf, type ToolExchange } from '../../messages/exchanges';
import { commandOf, ruleFor, type ToolTable } from '../../messages/tools';
import { perObject } from '../../perObject';
import type { CutRequest, Draft } from '../draft';
import { findMarkers } from '../markers';
import type { DraftStep } from '../steps';
import { exchangesOf } from './draftExchanges';
import { describe, type Keep } from './duplicates';
import { protectedFrom } from './protect';
import { linesOf, standingRuns } from './standingLines';

/**
 * Listings of one folder and searches for one pattern (FR-LC-002): the latest stays whole; an older one keeps what is
 * not in it and refers to the rest.
 */
export const repeatedListings = (tools: ToolTable, keep: Keep): DraftStep => {
  const name = 'Repeated listings and searches';
  return {
    name,
    async run(draft, pace) {
      const groups = groupBy(draft, (exchange) => {
        const kind = ruleFor(tools, exchange.tool)?.kind;
        return kind === 'list' || kind === 'search' ? callKey(exchange) : undefined;
      });
      for (const group of groups) {
        const kept = keep === 'latest' ? group.at(-1) : group[0];
        const others = group.filter((exchange) => exchange !== kept && inVain.get(exchange) !== kept);
        if (others.length === 0) continue;
        const standing = linesOf(kept?.resultText ?? '');
        for (const exchange of others) {
          if (!kept) continue;
          if (!referLines(draft, name, exchange, standing, describe(tools, keep, kept))) inVain.set(exchange, kept);
        }
        await pace.breathe();
      }
    },
  };
};

/** Which results were compared in vain: they have no line of the kept one. */
const inVain = new WeakMap<ToolExchange, ToolExchange>();

const callKey = perObject(({ tool, input }: ToolExchange) => `${tool} ${JSON.stringify(input)}`);

/** What agents write about a command that failed, also where the result is not marked as an error. */
const FAILED = /\bexit(?:ed with)? code:? [1-9]/i;

/** What runs of one command line share; undefined for what is none, or failed. */
const commandKey = perObject((exchange: ToolExchange) => {
  const command = commandOf(exchange);
  if (command === undefined || FAILED.test(exchange.resultText)) return undefined;
  const { cwd, workdir } = exchange.input;
  return JSON.stringify([exchange.tool, command, cwd, workdir]);
});

/** Runs of one command line: the latest output stays, an older one is taken out. An output that failed always stays. */
export const repeatedCommands = (tools: ToolTable): DraftStep => {
  const name = 'Repeated commands';
  return {
    name,
    async run(draft, pace) {
      const groups = groupBy(draft, (exchange) => {
        return ruleFor(tools, exchange.tool)?.kind === 'command' ? commandKey(exchange) : undefined;
      });
      for (const group of groups) {
        for (const exchange of group.slice(0, -1)) {
          takeOut(draft, name, exchange, 'older output, this command ran again later', 'the command ran again later');
        }
        await pace.breathe();
      }
    },
  };
};

/** Shorter than this is small. */
const SMALL_CHARS = 600;
const MIN_ALIKE = 3;

/** Confirmations of one tool that differ in numbers and names only ("file x updated"): the latest stays, with the count. */
export const similarResults = (tools: ToolTable): DraftStep => {
  const name = 'Small similar results';
  return {
    name,
    async run(draft, pace) {
      const groups = groupBy(draft, (exchange) => {
        // Only what writes gives confirmations; the numbers and names in other answers are the answer.
        const kind = ruleFor(tools, exchange.tool)?.kind;
        return kind === 'write' || kind === 'edit' || kind === 'plan' ? confirmationKey(exchange) : undefined;
      });
      for (const group of groups) {
        if (group.length < MIN_ALIKE) continue;
        for (const exchange of group.slice(0, -1)) {
          const what = `done, as ${group.length - 1} others; the last says it below`;
          takeOut(draft, name, exchange, what, 'a later result says the same');
        }
        await pace.breathe();
      }
    },
  };
};

/** What alike confirmations share; undefined for what is none. */
const confirmationKey = perObject(({ tool, resultText }: ToolExchange) =>
  resultText.length > SMALL_CHARS || findMarkers(resultText).length > 0 ? undefined : `${tool} ${shapeOf(resultText)}`,
);

/** The text with what differs between alike results left out: paths, numbers, quoted names. */
const shapeOf = (text: string): string =>
  text
    .replace(/[\w.@~-]*[\\/][\w.@~\\/-]*/g, 'P')
    .replace(/\d+/g, '0')
    .replace(/"[^"\n]*"|'[^'\n]*'|`[^`\n]*`/g, 'Q');

/** Exchanges with the same key, answered and without error, in order; only groups of two and more. */
function groupBy(draft: Draft, keyOf: (exchange: ToolExchange) => string | undefined): ToolExchange[][] {
  const groups = new Map<string, ToolExchange[]>();
  for (const exchange of exchangesOf(draft)) {
    const key = exchange.isError || exchange.results.length === 0 ? undefined : keyOf(exchange);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(exchange);
    else groups.set(key, [exchange]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/** @returns whether there was a line to refer. */
function referLines(
  draft: Draft,
  step: string,
  exchange: ToolExchange,
  standing: ReadonlySet<string>,
  where: string,
): boolean {
  let found = false;
  for (const content of exchange.results.toReversed()) {
    if (protectedFrom(draft, content)) continue;
    const requests: CutRequest[] = standingRuns(content.text, standing).map((run) => ({
      start: content.start + run.start,
      end: content.start + run.end,
      marker: `${run.lines} lines as in ${where}`,
    }));
    if (requests.length === 0) continue;
    found = true;
    draft.cut(step, placeOf(content), requests, {
      contentType: 'toolResults',
      reason: 'the same lines stand in another result of the same call',
      strict: true,
    });
  }
  return found;
}

function takeOut(draft: Draft, step: string, exchange: ToolExchange, what: string, reason: string): void {
  for (const content of exchange.results.toReversed()) {
    if (protectedFrom(draft, content)) continue;
    const { start, end } = content;
    draft.cut(step, placeOf(content), [{ start, end, marker: what }], {
      contentType: 'toolResults',
      reason,
      strict: false,
    });
  }
}
