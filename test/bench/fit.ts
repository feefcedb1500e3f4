/**
 * `npm run fit`: fits the weights of relevance to sessions and writes src/core/condense/relevance/weights.ts.
 * `-- FOLDER…` takes the transcripts of folders instead of the corpora beside the project; `--cache FILE` keeps their features there,
 * for they take the longest; `--dry` writes nothing; `--ablation` says what each group of features is worth.
 * What is printed is cross-validated: each project is judged by weights that were fitted without it, then each agent.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { leastFor } from '../../src/core/condense/relevance/choice';
import { FEATURE_GROUPS, FEATURE_NAMES, FEATURES, type FeatureName } from '../../src/core/condense/relevance/features';
import { loadAllSessions } from './corpus';
import { fitCutsOf, type FitCut } from './fitCuts';
import { fitWeights } from './fitWeights';
import { WINDOWS, needRows, needTable, type NeedTally } from './needBench';

const FILE = 'src/core/condense/relevance/weights.ts';
/** Chosen by cross-validation (docs/decisions/0028-fitted-relevance.md). */
const PENALTY = 0.03;

type Scores = (cut: FitCut) => readonly number[];

/** Weights for each cut that were fitted without those that share a key with it. */
function leavingOut(
  cuts: readonly FitCut[],
  keyOf: (cut: FitCut) => string,
  isUsed: (feature: number) => boolean = () => true,
): Scores {
  const byKey = new Map<string, readonly number[]>();
  for (const key of new Set(cuts.map(keyOf))) {
    const others = cuts.filter((cut) => keyOf(cut) !== key);
    byKey.set(key, fitWeights(others, { isUsed, penalty: PENALTY }));
  }
  return (cut) => scoresOf(cut, byKey.get(keyOf(cut)) ?? []);
}

const scoresOf = ({ features }: FitCut, weights: readonly number[]): number[] =>
  features.map((row) => weights.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), 0));

/** What is lost at the rules' sizes if the blocks of the lowest scores go; tokens are estimates. */
function simulated(cuts: readonly FitCut[], scores: Scores): NeedTally[] {
  return cuts.flatMap((cut) => {
    const own = scores(cut);
    const order = [...own.keys()].sort((a, b) => (own[a] ?? 0) - (own[b] ?? 0));
    return cut.rules.flatMap(({ rule, tokens, lost }) => {
      const gone = leastFor(cut.afterLossless - tokens, order, cut.tokens, cut.follows);
      const left = cut.tokens.reduce((sum, own, block) => sum - (gone.has(block) ? own : 0), cut.afterLossless);
      return WINDOWS.map((turns, at): NeedTally => {
        const needed = cut.lines.filter(({ windows }) => windows[at]);
        const isLost = ({ isSafe, blocks }: FitCut['lines'][number]): boolean =>
          !isSafe && blocks.every((block) => gone.has(block));
        return {
          agent: cut.agent,
          project: cut.project,
          rule,
          turns,
          needed: needed.length,
          lostByRule: lost[at] ?? 0,
          lostByUs: needed.filter(isLost).length,
          before: cut.before,
          afterRule: tokens,
          afterUs: left,
        };
      });
    });
  });
}

const show = (title: string, cuts: readonly FitCut[], scores: Scores): void => {
  console.log(`\n## ${title}\n\n${needTable(needRows(simulated(cuts, scores)))}`);
};

/** In short: what is lost over all agents at each rule's size. */
const inShort = (cuts: readonly FitCut[], scores: Scores): string =>
  needRows(simulated(cuts, scores))
    .filter(({ agent }) => agent === 'all')
    .map(({ lostByUs }) => (lostByUs * 100).toFixed(1))
    .join(' / ');

function weightsFile(weights: readonly number[]): string {
  const rows = FEATURE_NAMES.flatMap((name, at) => {
    const weight = Number((weights[at] ?? 0).toPrecision(3));
    return weight === 0
      ? []
      : [`  /** ${weight > 0 ? 'More' : 'Less'} needed: ${FEATURES[name]}. */`, `  ${name}: ${weight},`];
  });
  return [
    '/**',
    ' * Written by `npm run fit`; do not edit. A weight is what one unit of its feature adds to the logarithm of how likely a token is to be',
    ' * needed, beside all others: what two features say alike is shared between them.',
    ' */',
    "import type { FeatureName } from './features';",
    '',
    'export const WEIGHTS: Readonly<Partial<Record<FeatureName, number>>> = {',
    ...rows,
    '};',
    '',
  ].join('\n');
}

async function cutsFrom(folders: readonly string[], cache: string | undefined): Promise<FitCut[]> {
  if (cache !== undefined && existsSync(cache)) return deserialize(readFileSync(cache)) as FitCut[];
  const sessions = loadAllSessions(
    (text) => {
      console.error(`!! ${text}`);
    },
    ...(folders.length > 0 ? [folders] : []),
  );
  const cuts: FitCut[] = [];
  for (const session of sessions) cuts.push(...(await fitCutsOf(session)));
  if (cache !== undefined) writeFileSync(cache, serialize(cuts));
  return cuts;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      cache: { type: 'string' },
      dry: { type: 'boolean', default: false },
      ablation: { type: 'boolean', default: false },
    },
  });
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
  show(
    'Each project by weights fitted without it',
    cuts,
    leavingOut(cuts, ({ project }) => project),
  );
  show(
    'Each agent by weights fitted without it',
    cuts,
    leavingOut(cuts, ({ agent }) => agent),
  );
  const results = FEATURE_NAMES.indexOf('results');
  show('By recency alone', cuts, ({ features }) => features.map((row) => -(row[results] ?? 0)));
  if (values.ablation) {
    console.log('\n## Lost over all agents at the sizes of the rules, without a group of features\n');
    for (const [group, names] of Object.entries<readonly FeatureName[]>(FEATURE_GROUPS)) {
      const left = new Set(names.map((name) => FEATURE_NAMES.indexOf(name)));
      const scores = leavingOut(
        cuts,
        ({ project }) => project,
        (at) => !left.has(at),
      );
      console.log(`${group.padEnd(20)} ${inShort(cuts, scores)}`);
    }
  }
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
