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
import { cutsFrom, sessionsIn, type FitCut } from './fitCuts';
import { candidate } from './measure';
import {
  keyOfProject,
  scoreLeavingOut,
  PENALTY,
  simulateRemoval,
  weightsLeavingOut,
  type Scores,
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
const show = (title: string, cuts: readonly FitCut[], scores: Scores): void => {
  console.log(`\n## ${title}\n\n${needTable(needRows(simulateRemoval(cuts, scores)))}`);
};

/** Formats the losses over all agents, at each rule's size. */
const inShort = (cuts: readonly FitCut[], scores: Scores): string =>
  needRows(simulateRemoval(cuts, scores))
    .filter(({ agent }) => agent === 'all')
    .map(({ lostByUs }) => (lostByUs * 100).toFixed(1))
    .join(' / ');

/** Number of folds. All subsets of features are judged with the same folds of projects. */
const FOLDS = 6;

function showAblation(cuts: readonly FitCut[]): void {
  const projects = [...new Set(cuts.map(keyOfProject))];
  const fold = ({ project }: FitCut): string => String(projects.indexOf(project) % FOLDS);
  const show = (group: string, without: readonly FeatureName[]): void => {
    const left = new Set(without.map((name) => FEATURE_NAMES.indexOf(name)));
    console.log(
      `${group.padEnd(24)} ${inShort(
        cuts,
        scoreLeavingOut(cuts, fold, (at) => !left.has(at)),
      )}`,
    );
  };
  console.log(
    `\n## Lost over all agents at the sizes of the rules, without a group of features; ${FOLDS} folds of projects\n`,
  );
  show('with all', []);
  for (const [group, names] of Object.entries<readonly FeatureName[]>(FEATURE_GROUPS)) show(group, names);
}

function weightsFile(weights: readonly number[]): string {
  const rows = FEATURE_NAMES.flatMap((name, at) => {
    const weight = Number((weights[at] ?? 0).toPrecision(3));
    return weight === 0
      ? []
      : [`  /** ${weight > 0 ? 'More' : 'Less'} needed: ${FEATURE_DESCRIPTIONS[name]}. */`, `  ${name}: ${weight},`];
  });
  return [
    '/**',
    ' * Written by `npm run fit`; do not edit. A weight is what one unit of its feature adds to the logarithm of how likely a token is to be',
    ' * needed, beside all others: what two features say alike is shared between them.',
    ' */',
    "import type { FeatureName } from './featureNames';",
    '',
    'export const WEIGHTS: Readonly<Partial<Record<FeatureName, number>>> = {',
    ...rows,
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
      const own = weights.get(project) ?? [];
      const named = Object.fromEntries(FEATURE_NAMES.map((name, at) => [name, own[at] ?? 0]));
      return candidate('file-aware', createSmartProvider({ weights: named }), 'file-aware');
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
    console.log(lossTable(await measureLosses(sessionsIn(positionals))));
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
  const lines = cuts.reduce((sum, cut) => sum + cut.lines.length, 0);
  console.log(`${cuts.length} cuts of ${projects.size} projects, ${lines} needed lines`);
  if (values.product) {
    await showProduct(sessionsIn(positionals), weightsLeavingOut(cuts, keyOfProject));
    return 0;
  }
  if (values.ablation) {
    showAblation(cuts);
    return 0;
  }
  show('Each project by weights fitted without it', cuts, scoreLeavingOut(cuts, keyOfProject));
  show(
    'Each agent by weights fitted without it',
    cuts,
    scoreLeavingOut(cuts, ({ agent }) => agent),
  );
  const results = FEATURE_NAMES.indexOf('results');
  show('By recency alone', cuts, ({ features }) => features.map((row) => -(row[results] ?? 0)));
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
