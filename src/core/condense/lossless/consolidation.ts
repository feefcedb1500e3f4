import { getPlace, type ToolExchange } from '../../messages/exchanges';
import { getCommand, ruleFor, listTexts, type ToolTable } from '../../messages/tools';
import type { CutRequest } from '../draft/cuts';
import type { Draft } from '../draft/draft';
import { findMarkers } from '../../messages/markers';
import type { MechanicalStep } from '../draft/steps';
import { protectedFrom } from '../draft/exchanges';
import { describe } from './duplicates';
import type { Keep } from './sources';
import { takeKnownLines, stepMemory } from './knownLines';
import { Groups, type Group } from './settled';
import { toLineSet, findSharedRuns } from './standing';

/** Later results to compare an older one with: repeated requests mostly come soon. */
const MAX_KEPT = 6;

/**
 * Repeated listings of a folder and searches for a pattern, wherever they look: the latest stays
 * whole; an older one keeps the lines that no kept result has, and refers to the one that has most
 * of the rest.
 */
export const repeatedListings = (tools: ToolTable, keep: Keep): MechanicalStep => {
  const name = 'Repeated listings and searches';
  return {
    name,
    run(draft) {
      listed(takeKnownLines(draft, tools), keep).each(draft.exchanges, function* ({ items }) {
        const whole: { readonly exchange: ToolExchange; readonly lines: ReadonlySet<string> }[] = [];
        const inOrder = [...items.entries()];
        for (const [index, exchange] of keep === 'latest' ? inOrder.toReversed() : inOrder) {
          const lines = toLineSet(exchange.resultText);
          const nearest = findMostShared(lines, whole);
          if (nearest) {
            const where = describe(tools, keep, nearest.exchange);
            const isCut = replaceSharedLines(draft, name, exchange, nearest.lines, where);
            yield isCut ? index : undefined;
            if (isCut) continue;
          }
          if (whole.length < MAX_KEPT) whole.push({ exchange, lines });
        }
      });
    },
  };
};

function findMostShared<T extends { readonly lines: ReadonlySet<string> }>(
  lines: ReadonlySet<string>,
  results: readonly T[],
): T | undefined {
  const shared = results.map((result) => [...lines].filter((line) => result.lines.has(line)).length);
  const most = Math.max(0, ...shared);
  return most === 0 ? undefined : results[shared.indexOf(most)];
}

const listed = stepMemory(({ tools }) =>
  groupAnswers((exchange) => {
    const rule = ruleFor(tools, exchange);
    if (rule?.kind === 'search') {
      const patterns = listTexts(exchange.input, rule.pattern);
      return patterns.length === 0 ? callKey(exchange) : `${exchange.tool} ${JSON.stringify(patterns)}`;
    }
    return rule?.kind === 'list' ? callKey(exchange) : undefined;
  }),
);

const callKey = ({ tool, input }: ToolExchange): string => `${tool} ${JSON.stringify(input)}`;

/** Words for a failed command; agents do not always mark the result as an error. */
const FAILED = /\bexit(?:ed with)? code:? [1-9]/i;

/** Undefined for failed calls and calls that are not commands. */
function getCommandKey(exchange: ToolExchange): string | undefined {
  const command = getCommand(exchange);
  if (command === undefined || FAILED.test(exchange.resultText)) return undefined;
  const { cwd, workdir } = exchange.input;
  return JSON.stringify([exchange.tool, command, cwd, workdir]);
}

/** Repeated runs of a command line: the latest output stays. A failed output always stays. */
export const repeatedCommands = (tools: ToolTable): MechanicalStep => {
  const name = 'Repeated commands';
  return {
    name,
    run(draft) {
      ran(takeKnownLines(draft, tools)).each(draft.exchanges, (group) =>
        removeOlderAnswers(
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

const ran = stepMemory(({ tools }) =>
  groupAnswers((exchange) => (ruleFor(tools, exchange)?.kind === 'command' ? getCommandKey(exchange) : undefined)),
);

const SMALL_CHARS = 600;
const MIN_ALIKE = 3;

/**
 * Confirmations of one tool that differ only in numbers and names ("file x updated"): the latest
 * stays.
 */
export const similarResults = (tools: ToolTable): MechanicalStep => {
  const name = 'Small similar results';
  return {
    name,
    run(draft) {
      confirmed(takeKnownLines(draft, tools)).each(draft.exchanges, (group) => {
        const what = `done, 1 of ${group.items.length} alike`;
        return removeOlderAnswers(draft, name, group, MIN_ALIKE, what, 'a later result says the same');
      });
    },
  };
};

const confirmed = stepMemory(({ tools }) =>
  groupAnswers((exchange) => {
    // Only tools that write confirm something; in other results, numbers and names are the answer.
    const kind = ruleFor(tools, exchange)?.kind;
    return kind === 'write' || kind === 'edit' || kind === 'plan' ? getConfirmationKey(exchange) : undefined;
  }),
);

/** Undefined for results that are not confirmations. */
const getConfirmationKey = ({ tool, resultText }: ToolExchange): string | undefined =>
  resultText.length > SMALL_CHARS || findMarkers(resultText).length > 0
    ? undefined
    : `${tool} ${toTemplate(resultText)}`;

/** The text without paths, numbers and quoted names. */
const toTemplate = (text: string): string =>
  text
    .replace(/[\w.@~-]*[\\/][\w.@~\\/-]*/g, 'P')
    .replace(/\d+/g, '0')
    .replace(/"[^"\n]*"|'[^'\n]*'|`[^`\n]*`/g, 'Q');

const groupAnswers = (keyOf: (exchange: ToolExchange) => string | undefined): Groups<ToolExchange> =>
  new Groups((exchange) => {
    const key = exchange.isError || exchange.results.length === 0 ? undefined : keyOf(exchange);
    return key === undefined ? [] : [key];
  });

/** @returns true if anything was cut */
function replaceSharedLines(
  draft: Draft,
  step: string,
  exchange: ToolExchange,
  standing: ReadonlySet<string>,
  where: string,
): boolean {
  let saved = 0;
  for (const content of exchange.results.toReversed()) {
    if (protectedFrom(draft, content)) continue;
    const requests: CutRequest[] = findSharedRuns(content.text, standing).map((run) => ({
      start: content.start + run.start,
      end: content.start + run.end,
      marker: `${run.lines} lines as in ${where}`,
    }));
    saved += draft.cut(step, getPlace(content), requests, {
      contentType: 'toolResults',
      operation: 'reference',
      reason: 'the same lines appear in another result of the same call',
      strict: true,
    });
  }
  return saved > 0;
}

/**
 * Removes all answers of a group but the last, if it has enough of them. Yields the index of each
 * answer that was cut, and undefined for each that was not.
 */
function* removeOlderAnswers(
  draft: Draft,
  step: string,
  { items, firstOpen }: Group<ToolExchange>,
  atLeast: number,
  what: string,
  reason: string,
): Generator<number | undefined> {
  if (items.length < atLeast) return;
  // The answer that used to be the last one is now an older one.
  const from = firstOpen < atLeast ? 0 : firstOpen - 1;
  for (const [offset, exchange] of items.slice(from, -1).entries())
    yield removeResult(draft, step, exchange, what, reason) ? from + offset : undefined;
}

/** @returns true if anything was cut */
function removeResult(draft: Draft, step: string, exchange: ToolExchange, what: string, reason: string): boolean {
  let saved = 0;
  for (const content of exchange.results.toReversed()) {
    if (protectedFrom(draft, content)) continue;
    const { start, end } = content;
    saved += draft.cut(step, getPlace(content), [{ start, end, marker: what }], {
      contentType: 'toolResults',
      operation: 'cut',
      reason,
      strict: false,
    });
  }
  return saved > 0;
}
