/**
 * `npm run fit`: fits the weights of relevance to sessions and writes src/core/condense/relevance/weights.ts.
 * `-- --product` runs File-Aware itself on each project, by weights fitted without it, at the sizes of two rules, and writes nothing.
 * `-- FOLDER…` takes the transcripts of folders instead of the corpora beside the project; `--cache FILE` keeps their features there,
 * for they take the longest; `--dry` writes nothing; `--ablation` says what each group of features is worth.
 * What is printed is cross-validated: each project is judged by weights that were fitted without it, then each agent.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { leastFor } from '../../src/core/condense/relevance/choice';
import { FEATURE_GROUPS, FEATURE_NAMES, FEATURES, type FeatureName } from '../../src/core/condense/relevance/features';
import { smartProvider } from '../../src/core/condense/providers/smart';
import { loadAllSessions, type BenchConversation } from './corpus';
import { fitCutsOf, type FitCut } from './fitCuts';
import { fitWeights } from './fitWeights';
import { candidate } from './measure';
import { WINDOWS, measureNeed, needRows, needTable, type NeedTally } from './needBench';

const FILE = 'src/core/condense/relevance/weights.ts';
/** Chosen by cross-validation (docs/decisions/0028-fitted-relevance.md). */
const PENALTY = 0.03;

type Scores = (cut: FitCut) => readonly number[];

const keyOfProject = ({ project }: { readonly project: string }): string => project;

/** Weights by key, each fitted without the cuts that have the key. */
function weightsLeavingOut(
  cuts: readonly FitCut[],
  keyOf: (cut: FitCut) => string,
  isUsed: (feature: number) => boolean = () => true,
): Map<string, readonly number[]> {
  const byKey = new Map<string, readonly number[]>();
  for (const key of new Set(cuts.map(keyOf))) {
    const others = cuts.filter((cut) => keyOf(cut) !== key);
    byKey.set(key, fitWeights(others, { isUsed, penalty: PENALTY }));
  }
  return byKey;
}

/** Weights for each cut that were fitted without those that share a key with it. */
function leavingOut(
  cuts: readonly FitCut[],
  keyOf: (cut: FitCut) => string,
  isUsed: (feature: number) => boolean = () => true,
): Scores {
  const byKey = weightsLeavingOut(cuts, keyOf, isUsed);
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

const sessionsIn = (folders: readonly string[]): BenchConversation[] =>
  loadAllSessions(
    (text) => {
      console.error(`!! ${text}`);
    },
    ...(folders.length > 0 ? [folders] : []),
  );

/** What File-Aware itself loses; it runs once for each cut and rule, which takes long. */
async function showProduct(
  sessions: readonly BenchConversation[],
  weights: ReadonlyMap<string, readonly number[]>,
): Promise<void> {
  const tallies = await measureNeed(
    sessions,
    ({ project }) => {
      const own = weights.get(project) ?? [];
      const named = Object.fromEntries(FEATURE_NAMES.map((name, at) => [name, own[at] ?? 0]));
      return candidate('file-aware', smartProvider({ weights: named }), 'file-aware');
    },
    { rules: ['mask 20', 'mask 10'], cuts: [0.3, 0.6, 0.9] },
  );
  console.log(needTable(needRows(tallies)));
}

async function cutsFrom(folders: readonly string[], cache: string | undefined): Promise<FitCut[]> {
  if (cache !== undefined && existsSync(cache)) return deserialize(readFileSync(cache)) as FitCut[];
  const sessions = sessionsIn(folders);
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
      product: { type: 'boolean', default: false },
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
  if (values.product) {
    await showProduct(sessionsIn(positionals), weightsLeavingOut(cuts, keyOfProject));
    return 0;
  }
  show('Each project by weights fitted without it', cuts, leavingOut(cuts, keyOfProject));
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
