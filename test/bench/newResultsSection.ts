/**
 * Shows what condensing new results saves, in tables and in a section of
 * docs/research/benchmarks.md.
 */
import { sumBy, type NewResultsPoint } from './newResultsBench';
import type { ReplayedRun } from './liveReplay';
import { formatMarkdownTable, percent, table, type Cell } from './table';

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
  const formatTable = ({ head, rows }: Table): string => formatMarkdownTable(head, rows);
  return `${NEW_RESULTS_TITLE}

Written by \`npm run bench -- --only new-results\`: each recorded session again, request by request through the live engine, with new results
condensed before they are first sent and without ([decision 30](../decisions/0030-condensing-on-arrival.md)). Sizes in o200k tokens; cost of
the input with 1.25 for writing and 0.1 for reading Anthropic's cache (20 blocks of lookback, 1,024 tokens at least, always warm). For
every request it was asserted that it begins with the one before byte for byte, unless a condensation came in between, and that each line
which was left out stands in the request itself.

${formatTable(makeWindowTable(points))}

${aimsText(points)}

The rule beside others, where no condensation comes in between: without the caution about what an agent reads again, and with the noise
of terminals left out.

${formatTable(makeRuleTable(points))}

Brute force, with the shortest marker that there is, in characters:

${formatTable(makeBoundTable(points))}
`;
}

/** Changes in cost that condensing new results should reach, by agent and window. */
const COST_AIMS = [
  { agent: 'claude-code', window: Infinity, cost: -0.1 },
  { agent: 'claude-code', window: 128_000, cost: -0.06 },
] as const;
const MAX_COST_INCREASE = 0.01;

function aimsText(points: readonly NewResultsPoint[]): string {
  const aims = COST_AIMS.flatMap(({ agent, window, cost }) => {
    const pointsOfAim = points.filter((point) => point.window === window && point.agent === agent);
    if (pointsOfAim.length === 0) return [];
    const costChange = computeTotalCostChange(pointsOfAim, (point) => point.with);
    return `The aim for Claude Code ${describeWindow(window)}, ${formatSignedShare(cost, 0)} of the cost, is ${costChange <= cost ? 'reached' : 'not reached'}: ${formatSignedShare(costChange)}.`;
  });
  const dearerPoints = points.filter((point) => computeCostChange(point) > MAX_COST_INCREASE);
  const dearerSessions = dearerPoints.map(
    (point) =>
      `${point.name.split(/[\\/]/).at(-1) ?? ''} ${describeWindow(point.window)} (${formatSignedShare(computeCostChange(point))})`,
  );
  const dearerText =
    dearerPoints.length === 0
      ? 'No session is dearer than 1 % for it.'
      : `Dearer than 1 % for it, by the timing of condensations: ${dearerSessions.join(', ')}.`;
  return [...aims, dearerText].join(' ');
}

const nameWindow = (window: number): string => (window === Infinity ? 'no limit' : `${window / 1_000}K`);
const describeWindow = (window: number): string =>
  window === Infinity ? 'without a limit' : `in ${nameWindow(window)}`;
const formatSignedShare = (share: number, digits = 1): string => percent(share, digits).replace('-', '−');
const computeCostChange = (point: NewResultsPoint): number => point.with.cost / point.without.cost - 1;

const computeTotalCostChange = (
  points: readonly NewResultsPoint[],
  run: (point: NewResultsPoint) => ReplayedRun | undefined,
): number => sumBy(points, (point) => run(point)?.cost ?? 0) / sumBy(points, (point) => point.without.cost) - 1;

const listAgents = (points: readonly NewResultsPoint[]): string[] =>
  [...new Set(points.map(({ agent }) => agent))].sort();

function makeWindowTable(points: readonly NewResultsPoint[]): Table {
  const windows = [...new Set(points.map(({ window }) => window))];
  const rows = windows.flatMap((window) =>
    [...listAgents(points), 'all'].map((agent) => {
      const pointsOfRow = points.filter(
        (point) => point.window === window && (agent === 'all' || point.agent === agent),
      );
      return [
        `${agent}, ${nameWindow(window)}`,
        pointsOfRow.length,
        sumBy(pointsOfRow, (point) => point.with.requests),
        percent(sumBy(pointsOfRow, (point) => point.with.leftOut) / sumBy(pointsOfRow, (point) => point.with.received)),
        formatSignedShare(computeTotalCostChange(pointsOfRow, (point) => point.with)),
        `${sumBy(pointsOfRow, (point) => point.without.condensations)} → ${sumBy(pointsOfRow, (point) => point.with.condensations)}`,
        pointsOfRow.filter((point) => computeCostChange(point) > MAX_COST_INCREASE).length,
        formatSignedShare(Math.max(...pointsOfRow.map(computeCostChange))),
      ];
    }),
  );
  const head = ['', 'sessions', 'requests', 'left out', 'input cost', 'condensations', 'dearer than 1 %', 'dearest'];
  return { head, rows };
}

/** Compares the shipped rule with others, without condensations. */
function makeRuleTable(points: readonly NewResultsPoint[]): Table {
  const unlimitedPoints = points.filter(({ window }) => window === Infinity);
  const rows = [...listAgents(unlimitedPoints), 'all'].map((agent) => {
    const agentPoints = unlimitedPoints.filter((point) => agent === 'all' || point.agent === agent);
    const formatCostChange = (run: (point: NewResultsPoint) => ReplayedRun | undefined): string =>
      formatSignedShare(computeTotalCostChange(agentPoints, run));
    return [
      agent,
      formatCostChange((point) => point.with),
      formatCostChange((point) => point.withoutProtection),
      formatCostChange((point) => point.withoutNoise),
    ];
  });
  return { head: ['input cost, no limit', 'as it ships', 'without caution', 'and without noise'], rows };
}

function makeBoundTable(points: readonly NewResultsPoint[]): Table {
  const own = points.filter(({ window }) => window === Infinity);
  const rows = [...listAgents(own), 'all'].map((agent) => {
    const agentBounds = own.filter((point) => agent === 'all' || point.agent === agent).map(({ bound }) => bound);
    const [chars, cost] = [sumBy(agentBounds, (bound) => bound.chars), sumBy(agentBounds, (bound) => bound.cost)];
    const shares = (['sameFile', 'anywhere'] as const).flatMap((where) => [
      percent(sumBy(agentBounds, (bound) => bound[where][0]) / chars),
      formatSignedShare(-sumBy(agentBounds, (bound) => bound[where][1]) / cost),
    ]);
    return [agent, ...shares];
  });
  return { head: ['bound in characters, no limit', 'left out', 'input cost', 'across files', 'input cost'], rows };
}

function makeTimeTable(points: readonly NewResultsPoint[]): Table {
  const formatQuantile = (times: readonly number[], share: number): string => {
    const sorted = times.toSorted((a, b) => a - b);
    return `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2)} ms`;
  };
  const own = points.filter(({ window }) => window === Infinity);
  const rows = (['without', 'with'] as const).map((which) => {
    const times = own.flatMap((point) => point[which].times);
    return [
      `${which}, no limit`,
      times.length,
      formatQuantile(times, 0.5),
      formatQuantile(times, 0.9),
      formatQuantile(times, 0.99),
    ];
  });
  return { head: ['time of a request', 'requests', 'median', '90th', '99th'], rows };
}
