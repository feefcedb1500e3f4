/**
 * `npm run fit` fits the weights of relevance to sessions, and writes
 * src/core/condense/relevance/weights.ts.
 * - `-- --product` runs File-Aware itself on each project with weights that were fitted without it,
 *   at the sizes of three rules, and writes nothing.
 * - `-- --losses` prints losses other than lines, what File-Aware's markers say of lost lines, and
 *   what that costs, and writes nothing.
 * - `-- FOLDER…` uses the transcripts in these folders instead of the corpora next to the project.
 * - `--cache FILE` keeps the features in a file, because computing them takes longest.
 * - `--dry` writes nothing.
 * - `--ablation` prints what each group of features is worth, and writes nothing.
 * The printed figures are cross-validated: each project, and then each agent, is judged with
 * weights that were fitted without it.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { FEATURE_NAMES, FEATURE_DESCRIPTIONS, type FeatureName } from '../../src/core/condense/relevance/featureNames';
import { fitWeights } from './fitWeights';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import type { BenchConversation } from './corpus';
import { cutsFrom, loadSessions, type FitCut } from './fitCuts';
import { makeCandidate } from './measure';
import {
  getProjectKey,
  createScorerLeavingOut,
  PENALTY,
  simulateRemoval,
  fitWeightsLeavingOut,
  type ScoreBlocks,
} from './crossValidation';
import { lossTable, measureLosses } from './lossBench';
import { measureNeed, needRows, needTable } from './needBench';

/** Groups of features, to measure what each group is worth. */
const FEATURE_GROUPS = {
  'how long ago': ['results', 'lately', 'putTurns'],
  'the file’s past': ['touchedLately', 'changedLately', 'open', 'shows'],
  'what came after it': ['changesAfter', 'stale'],
  'lines that edits quoted': ['near'],
  'what is talked about': ['people', 'prose', 'calls', 'declared', 'textProse', 'named', 'namedLately', 'putOut'],
  'what it is': ['block', 'document', 'file', 'printed', 'found', 'unsolved'],
} as const satisfies Readonly<Record<string, readonly FeatureName[]>>;

const FILE = 'src/core/condense/relevance/weights.ts';
const printTable = (title: string, cuts: readonly FitCut[], scores: ScoreBlocks): void => {
  console.log(`\n## ${title}\n\n${needTable(needRows(simulateRemoval(cuts, scores)))}`);
};

/** Formats the losses over all agents, at each rule's size. */
const formatTotalLosses = (cuts: readonly FitCut[], scores: ScoreBlocks): string =>
  needRows(simulateRemoval(cuts, scores))
    .filter(({ agent }) => agent === 'all')
    .map(({ lostByUs }) => (lostByUs * 100).toFixed(1))
    .join(' / ');

/** Number of folds. All subsets of features are judged with the same folds of projects. */
const FOLDS = 6;

function showAblation(cuts: readonly FitCut[]): void {
  const projects = [...new Set(cuts.map(getProjectKey))];
  const getFold = ({ project }: FitCut): string => String(projects.indexOf(project) % FOLDS);
  const printLosses = (group: string, without: readonly FeatureName[]): void => {
    const leftOutFeatures = new Set(without.map((name) => FEATURE_NAMES.indexOf(name)));
    console.log(
      `${group.padEnd(24)} ${formatTotalLosses(
        cuts,
        createScorerLeavingOut(cuts, getFold, (at) => !leftOutFeatures.has(at)),
      )}`,
    );
  };
  console.log(
    `\n## Lost over all agents at the sizes of the rules, without a group of features; ${FOLDS} folds of projects\n`,
  );
  printLosses('with all', []);
  for (const [group, names] of Object.entries<readonly FeatureName[]>(FEATURE_GROUPS)) printLosses(group, names);
}

function weightsFile(weights: readonly number[]): string {
  const weightLines = FEATURE_NAMES.flatMap((name, at) => {
    const weight = Number((weights[at] ?? 0).toPrecision(3));
    return weight === 0
      ? []
      : [`  /** ${weight > 0 ? 'More' : 'Less'} needed: ${FEATURE_DESCRIPTIONS[name]}. */`, `  ${name}: ${weight},`];
  });
  return [
    '/**',
    ' * Written by `npm run fit`; do not edit. A weight is what one unit of its feature adds to the',
    ' * logarithm of how likely a token is to be needed. The weights were fitted together, so features',
    ' * that overlap share their effect.',
    ' */',
    "import type { FeatureName } from './featureNames';",
    '',
    'export const FEATURE_WEIGHTS: Readonly<Partial<Record<FeatureName, number>>> = {',
    ...weightLines,
    '};',
    '',
  ].join('\n');
}

/** Measures the losses of File-Aware itself, which runs once per cut and rule. This is slow. */
async function showProduct(
  sessions: readonly BenchConversation[],
  weights: ReadonlyMap<string, readonly number[]>,
): Promise<void> {
  const tallies = await measureNeed(
    sessions,
    ({ project }) => {
      const projectWeights = weights.get(project) ?? [];
      const weightByName = Object.fromEntries(FEATURE_NAMES.map((name, at) => [name, projectWeights[at] ?? 0]));
      return makeCandidate('file-aware', createSmartProvider({ weights: weightByName }), 'file-aware');
    },
    { rules: ['mask 20', 'mask 10', 'newest half'], cuts: [0.3, 0.6, 0.9] },
  );
  console.log(needTable(needRows(tallies)));
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      cache: { type: 'string' },
      dry: { type: 'boolean', default: false },
      ablation: { type: 'boolean', default: false },
      product: { type: 'boolean', default: false },
      losses: { type: 'boolean', default: false },
    },
  });
  if (values.losses) {
    console.log(lossTable(await measureLosses(loadSessions(positionals))));
    return 0;
  }
  const cuts = await cutsFrom(positionals, values.cache);
  const projects = new Set(cuts.map(({ project }) => project));
  if (projects.size < 2) {
    console.error(
      `Found needed lines in sessions of ${projects.size} projects; weights need at least two, to be judged on one.`,
    );
    return 1;
  }
  const neededLineCount = cuts.reduce((sum, cut) => sum + cut.lines.length, 0);
  console.log(`${cuts.length} cuts of ${projects.size} projects, ${neededLineCount} needed lines`);
  if (values.product) {
    await showProduct(loadSessions(positionals), fitWeightsLeavingOut(cuts, getProjectKey));
    return 0;
  }
  if (values.ablation) {
    showAblation(cuts);
    return 0;
  }
  printTable('Each project by weights fitted without it', cuts, createScorerLeavingOut(cuts, getProjectKey));
  printTable(
    'Each agent by weights fitted without it',
    cuts,
    createScorerLeavingOut(cuts, ({ agent }) => agent),
  );
  const resultsFeatureIndex = FEATURE_NAMES.indexOf('results');
  printTable('By recency alone', cuts, ({ features }) => features.map((row) => -(row[resultsFeatureIndex] ?? 0)));
  if (values.dry) return 0;
  writeFileSync(FILE, weightsFile(fitWeights(cuts, { isUsed: () => true, penalty: PENALTY })));
  console.log(`\n${FILE} written.`);
  return 0;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
