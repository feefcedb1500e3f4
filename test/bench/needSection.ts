/**
 * Writes the section of docs/research/benchmarks.md on projects that were not used for fitting,
 * with its picture.
 */
import { FEATURE_NAMES } from '../../src/core/condense/relevance/featureNames';
import { createScorerLeavingOut, getProjectKey, simulateRemoval, type ScoreBlocks } from './crossValidation';
import type { FitCut } from './fitCuts';
import type { LosslessRow } from './losslessBench';
import { needCells, needRows, NEED_COLUMNS, type NeedRow } from './needBench';
import { formatMarkdownTable, percent } from './table';

/** First line of the section. */
export const NEED_TITLE = '## File-Aware on projects that it was not fitted on';
/** The path is relative to the page. */
export const NEED_PICTURE = 'images/needed-lines.svg';

/** Shares of tokens that remain, for the points of the picture's lines. */
const REMAINING_SHARES = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2];

export interface NeedSection {
  readonly text: string;
  readonly picture: string;
}

/**
 * @param cuts cuts of at least two projects.
 * @param lossless what Lossless removes from the same sessions; empty if it was not measured.
 */
export function needSection(cuts: readonly FitCut[], lossless: readonly LosslessRow[]): NeedSection {
  const results = FEATURE_NAMES.indexOf('results');
  const scoreByUnseenProject = createScorerLeavingOut(cuts, getProjectKey);
  const scorers: readonly (readonly [string, ScoreBlocks])[] = [
    ['File-Aware, an unseen project', scoreByUnseenProject],
    ['File-Aware, an unseen agent', createScorerLeavingOut(cuts, ({ agent }) => agent)],
    ['the newest results stay', ({ features }) => features.map((row) => -(row[results] ?? 0))],
  ];
  const rows = needRows(simulateRemoval(cuts, scoreByUnseenProject));
  const pictureLines = scorers.map(([name, scores]) => ({ name, points: computeLine(cuts, scores) }));
  const rulePoints = rows
    .filter(({ agent }) => agent === 'all')
    .map((row) => ({ name: row.rule, left: 1 - row.removedByRule, kept: 1 - row.lostByRule }));
  return {
    text: sectionText(cuts, rows, agentsText(lossless, cuts, rows)),
    picture: drawPicture(pictureLines, rulePoints),
  };
}

function computeLine(cuts: readonly FitCut[], scores: ScoreBlocks): { left: number; kept: number }[] {
  const listTargetSizes = (cut: FitCut): FitCut['rules'] =>
    REMAINING_SHARES.map((left) => ({ rule: String(left), tokens: left * cut.before, lost: [] }));
  return needRows(simulateRemoval(cuts, scores, listTargetSizes))
    .filter(({ agent }) => agent === 'all')
    .map(({ removedByUs, lostByUs }) => ({ left: 1 - removedByUs, kept: 1 - lostByUs }));
}

/** Rules that other tools use; the rule `newest half` is missing, because it is only a baseline. */
const RULES_OF_TOOLS = ['mask 40', 'mask 20', 'mask 10', 'head and tail 8,000'];

/** Shows a table by agent; empty if Lossless wasn't measured. */
export function agentsText(
  lossless: readonly LosslessRow[],
  cuts: readonly Pick<FitCut, 'agent'>[],
  rows: readonly NeedRow[],
): string {
  if (lossless.length === 0) return '';
  const formatKeptLines = (agent: string, rule: string): string => {
    const row = rows.find((one) => one.agent === agent && one.rule === rule);
    if (!row) return '–';
    return `${percent(row.removedByRule, 0)}: ${percent(1 - row.lostByRule)} / ${percent(1 - row.lostByUs)}`;
  };
  const cells = [...Map.groupBy(lossless, ({ agent }) => agent)].map(([agent, own]) => {
    const formatRemovedShare = (part: 'strict' | 'all'): string =>
      percent(own.reduce((sum, row) => sum + row[part], 0) / own.reduce((sum, { chars }) => sum + chars, 0));
    return [
      agent,
      own.length,
      cuts.filter((cut) => cut.agent === agent).length,
      formatRemovedShare('strict'),
      formatRemovedShare('all'),
      rows.find((row) => row.agent === agent)?.lines ?? '–',
      ...RULES_OF_TOOLS.map((rule) => formatKeptLines(agent, rule)),
    ];
  });
  return `All by agent: what Lossless takes out of the text of whole sessions; then for each rule what it removes, and the needed lines that
the rule / File-Aware keeps at that size. A dash: fewer than ten needed lines.

${formatMarkdownTable(['agent', 'sessions', 'cuts', 'Lossless, strict', 'Lossless, all', 'needed lines', ...RULES_OF_TOOLS], cells)}

`;
}

/** @param agents the table by agent, followed by an empty line. */
function sectionText(cuts: readonly FitCut[], rows: readonly NeedRow[], agents: string): string {
  const countDistinct = (key: (cut: FitCut) => string): number => new Set(cuts.map(key)).size;
  const rowsWorseThanRule = rows.filter(
    ({ agent, lostByUs, lostByRule }) => agent !== 'all' && lostByUs - lostByRule >= 0.0005,
  );
  return `${NEED_TITLE}

Written by \`npm run bench:quality -- --only need\`. Each project is judged by weights that were fitted without it
([decision 28](../decisions/0028-fitted-relevance.md) has the model and the measure): ${cuts.length} cuts in ${countDistinct(({ session }) => session)} sessions of ${countDistinct(getProjectKey)} projects and
${countDistinct(({ agent }) => agent)} agents. Needed are the lines that edits and patches in the next 10, 20 and 40 turns quote from a file, that stood before the cut
as lines of that file, and that nothing showed again before. Each agent weighs the same, in it each project. A rule is compared at the very
size that it leaves of each prefix; blocks go by their scores, and tokens are estimates. Projects with fewer than ten needed
lines are left out of the tables. \`npm run fit -- --product\` runs File-Aware itself at the sizes of three rules.

![Needed lines that are kept at each size](${NEED_PICTURE})

${formatMarkdownTable(NEED_COLUMNS, needCells(rows.filter(({ agent }) => agent === 'all')))}

${agents}By agent and rule. Where there is one project, nothing is known of the spread; of two or three, next to nothing.

${formatMarkdownTable(NEED_COLUMNS, needCells(rows.filter(({ agent }) => agent !== 'all')))}

${
  rowsWorseThanRule.length === 0
    ? 'File-Aware loses no more than any of the rules for any agent.'
    : `File-Aware loses more than the rule here: ${rowsWorseThanRule.map(({ agent, rule, lostByUs, lostByRule }) => `${agent} at the size of ${rule} (${percent(lostByUs)} against ${percent(lostByRule)})`).join(', ')}.`
}
`;
}

interface PicturePoint {
  readonly left: number;
  readonly kept: number;
}

const [WIDTH, HEIGHT] = [720, 420];
const [LEFT_EDGE, TOP, RIGHT, BOTTOM] = [64, 24, 700, 360];
const COLOURS = ['#0072b2', '#56b4e9', '#d55e00'];

/**
 * Draws the picture. The x axis shows the remaining tokens in descending order, and the y axis the
 * needed lines that are kept.
 */
function drawPicture(
  lines: readonly { readonly name: string; readonly points: readonly PicturePoint[] }[],
  points: readonly (PicturePoint & { readonly name: string })[],
): string {
  const getX = (left: number): string => (LEFT_EDGE + ((1 - left) / 0.85) * (RIGHT - LEFT_EDGE)).toFixed(1);
  const getY = (kept: number): string => (BOTTOM - kept * (BOTTOM - TOP)).toFixed(1);
  const makeTextElement = (
    at: { readonly x: string | number; readonly y: string | number },
    words: string,
    more = '',
  ): string => `<text x="${at.x}" y="${at.y}" ${more}>${words}</text>`;
  const axisShares = [0, 0.2, 0.4, 0.6, 0.8, 1];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="sans-serif" font-size="12" fill="#333">`,
    '<title>Needed lines that are kept, by the tokens that are left</title>',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    ...axisShares.map(
      (share) =>
        `<path d="M${LEFT_EDGE} ${getY(share)}H${RIGHT}" stroke="#ddd"/>${makeTextElement({ x: LEFT_EDGE - 8, y: Number(getY(share)) + 4 }, percent(share, 0), 'text-anchor="end"')}`,
    ),
    ...axisShares
      .filter((share) => share >= 0.2)
      .map((share) => makeTextElement({ x: getX(share), y: BOTTOM + 18 }, percent(share, 0), 'text-anchor="middle"')),
    makeTextElement(
      { x: (LEFT_EDGE + RIGHT) / 2, y: BOTTOM + 40 },
      'tokens left of what stood before the cut',
      'text-anchor="middle"',
    ),
    makeTextElement(
      { x: 16, y: (TOP + BOTTOM) / 2 },
      'needed lines kept',
      `text-anchor="middle" transform="rotate(-90 16 ${(TOP + BOTTOM) / 2})"`,
    ),
    ...lines.flatMap(({ name, points: own }, at) => [
      `<path d="M${[{ left: 1, kept: 1 }, ...own].map(({ left, kept }) => `${getX(left)} ${getY(kept)}`).join('L')}" fill="none" stroke="${COLOURS[at] ?? '#333'}" stroke-width="2"/>`,
      makeTextElement(
        { x: LEFT_EDGE + 20, y: BOTTOM - 20 - 18 * (lines.length - 1 - at) },
        name,
        `fill="${COLOURS[at] ?? '#333'}"`,
      ),
    ]),
    ...spaceLabels(points, getY).map(
      ({ name, left, kept, label }) =>
        `<circle cx="${getX(left)}" cy="${getY(kept)}" r="4" fill="#333"/>${makeTextElement({ x: Number(getX(left)) + 8, y: label }, name)}`,
    ),
    '</svg>',
    '',
  ].join('\n');
}

const LINE_HEIGHT = 13;

/** Sorts points from top to bottom, and places their labels without overlaps. */
function spaceLabels<P extends PicturePoint>(
  points: readonly P[],
  y: (kept: number) => string,
): (P & { readonly label: string })[] {
  let lastLabelY = -Infinity;
  return points
    .toSorted((a, b) => b.kept - a.kept)
    .map((point) => {
      lastLabelY = Math.max(Number(y(point.kept)) + 4, lastLabelY + LINE_HEIGHT);
      return { ...point, label: lastLabelY.toFixed(1) };
    });
}
