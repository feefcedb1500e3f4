/**
 * Shows what condensing new results saves, in tables and in a section of
 * docs/research/benchmarks.md.
 */
import { sum, type NewResultsPoint } from './newResultsBench';
import type { ReplayedRun } from './liveReplay';
import { markdown, percent, table, type Cell } from './table';

/** First line of the section. */
export const NEW_RESULTS_TITLE = '## New results';

interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Shows the tables for a terminal, with request times. */
export const newResultsTable = (points: readonly NewResultsPoint[]): string =>
  [makeWindowTable(points), makeRuleTable(points), makeBoundTable(points), makeTimeTable(points)]
    .map(({ head, rows }) => table(head, rows))
    .join('\n\n');

export function newResultsSection(points: readonly NewResultsPoint[]): string {
  const show = ({ head, rows }: Table): string => markdown(head, rows);
  return `${NEW_RESULTS_TITLE}

Written by \`npm run bench -- --only new-results\`: each recorded session again, request by request through the live engine, with new results
condensed before they are first sent and without ([decision 30](../decisions/0030-condensing-on-arrival.md)). Sizes in o200k tokens; cost of
the input with 1.25 for writing and 0.1 for reading Anthropic's cache (20 blocks of lookback, 1,024 tokens at least, always warm). For
every request it was asserted that it begins with the one before byte for byte, unless a condensation came in between, and that each line
which was left out stands in the request itself.

${show(makeWindowTable(points))}

${aimsText(points)}

The rule beside others, where no condensation comes in between: without the caution about what an agent reads again, and with the noise
of terminals left out.

${show(makeRuleTable(points))}

Brute force, with the shortest marker that there is, in characters:

${show(makeBoundTable(points))}
`;
}

/** Changes in cost that condensing new results should reach, by agent and window. */
const AIMS = [
  { agent: 'claude-code', window: Infinity, cost: -0.1 },
  { agent: 'claude-code', window: 128_000, cost: -0.06 },
] as const;
const DEAREST = 0.01;

function aimsText(points: readonly NewResultsPoint[]): string {
  const aims = AIMS.flatMap(({ agent, window, cost }) => {
    const own = points.filter((point) => point.window === window && point.agent === agent);
    if (own.length === 0) return [];
    const saved = savedIn(own, (point) => point.with);
    return `The aim for Claude Code ${inWindow(window)}, ${signed(cost, 0)} of the cost, is ${saved <= cost ? 'reached' : 'not reached'}: ${signed(saved)}.`;
  });
  const dearer = points.filter((point) => change(point) > DEAREST);
  const sessions = dearer.map(
    (point) => `${point.name.split(/[\\/]/).at(-1) ?? ''} ${inWindow(point.window)} (${signed(change(point))})`,
  );
  const dearest =
    dearer.length === 0
      ? 'No session is dearer than 1 % for it.'
      : `Dearer than 1 % for it, by the timing of condensations: ${sessions.join(', ')}.`;
  return [...aims, dearest].join(' ');
}

const nameWindow = (window: number): string => (window === Infinity ? 'no limit' : `${window / 1_000}K`);
const inWindow = (window: number): string => (window === Infinity ? 'without a limit' : `in ${nameWindow(window)}`);
const signed = (share: number, digits = 1): string => percent(share, digits).replace('-', '−');
const change = (point: NewResultsPoint): number => point.with.cost / point.without.cost - 1;

const savedIn = (
  points: readonly NewResultsPoint[],
  run: (point: NewResultsPoint) => ReplayedRun | undefined,
): number => sum(points, (point) => run(point)?.cost ?? 0) / sum(points, (point) => point.without.cost) - 1;

const listAgents = (points: readonly NewResultsPoint[]): string[] =>
  [...new Set(points.map(({ agent }) => agent))].sort();

function makeWindowTable(points: readonly NewResultsPoint[]): Table {
  const windows = [...new Set(points.map(({ window }) => window))];
  const rows = windows.flatMap((window) =>
    [...listAgents(points), 'all'].map((agent) => {
      const own = points.filter((point) => point.window === window && (agent === 'all' || point.agent === agent));
      return [
        `${agent}, ${nameWindow(window)}`,
        own.length,
        sum(own, (point) => point.with.requests),
        percent(sum(own, (point) => point.with.leftOut) / sum(own, (point) => point.with.received)),
        signed(savedIn(own, (point) => point.with)),
        `${sum(own, (point) => point.without.condensations)} → ${sum(own, (point) => point.with.condensations)}`,
        own.filter((point) => change(point) > DEAREST).length,
        signed(Math.max(...own.map(change))),
      ];
    }),
  );
  const head = ['', 'sessions', 'requests', 'left out', 'input cost', 'condensations', 'dearer than 1 %', 'dearest'];
  return { head, rows };
}

/** Compares the shipped rule with others, without condensations. */
function makeRuleTable(points: readonly NewResultsPoint[]): Table {
  const own = points.filter(({ window }) => window === Infinity);
  const rows = [...listAgents(own), 'all'].map((agent) => {
    const of = own.filter((point) => agent === 'all' || point.agent === agent);
    const cost = (run: (point: NewResultsPoint) => ReplayedRun | undefined): string => signed(savedIn(of, run));
    return [
      agent,
      cost((point) => point.with),
      cost((point) => point.withoutProtection),
      cost((point) => point.withoutNoise),
    ];
  });
  return { head: ['input cost, no limit', 'as it ships', 'without caution', 'and without noise'], rows };
}

function makeBoundTable(points: readonly NewResultsPoint[]): Table {
  const own = points.filter(({ window }) => window === Infinity);
  const rows = [...listAgents(own), 'all'].map((agent) => {
    const bounds = own.filter((point) => agent === 'all' || point.agent === agent).map(({ bound }) => bound);
    const [chars, cost] = [sum(bounds, (bound) => bound.chars), sum(bounds, (bound) => bound.cost)];
    const shares = (['sameFile', 'anywhere'] as const).flatMap((where) => [
      percent(sum(bounds, (bound) => bound[where][0]) / chars),
      signed(-sum(bounds, (bound) => bound[where][1]) / cost),
    ]);
    return [agent, ...shares];
  });
  return { head: ['bound in characters, no limit', 'left out', 'input cost', 'across files', 'input cost'], rows };
}

function makeTimeTable(points: readonly NewResultsPoint[]): Table {
  const at = (times: readonly number[], share: number): string => {
    const sorted = times.toSorted((a, b) => a - b);
    return `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2)} ms`;
  };
  const own = points.filter(({ window }) => window === Infinity);
  const rows = (['without', 'with'] as const).map((which) => {
    const times = own.flatMap((point) => point[which].times);
    return [`${which}, no limit`, times.length, at(times, 0.5), at(times, 0.9), at(times, 0.99)];
  });
  return { head: ['time of a request', 'requests', 'median', '90th', '99th'], rows };
}
