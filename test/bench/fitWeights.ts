/**
 * Fits the weights of features. Each needed line of a cut is assumed to come from block b with a
 * probability proportional to its tokens times exp(w·x_b). The fit maximizes the likelihood minus a
 * penalty for the distance from the initial weights. This is McFadden's conditional logit (1974),
 * which compares only blocks of the same cut.
 */
import { FEATURE_NAMES, type FeatureName } from '../../src/core/condense/relevance/featureNames';

/**
 * Weights that are not fitted. Errors contain no lines of files, so a fit to needed lines can't
 * value them. With the weight 2, no project or agent outside the fitted data loses more of its
 * lines (docs/decisions/0028-fitted-relevance.md).
 */
export const FIXED_WEIGHTS: Readonly<Partial<Record<FeatureName, number>>> = { unsolved: 2 };

/** A needed line in a prefix. */
export interface FitLine {
  /** Blocks that contain the line; one of them is enough. */
  readonly blocks: readonly number[];
  /** True if the line is in content that can't be removed. */
  readonly isSafe: boolean;
  /** For each window after the cut, whether the line is needed in it. */
  readonly windows: readonly boolean[];
}

/** A prefix that is split into blocks, with its needed lines. */
export interface FitSample {
  readonly agent: string;
  readonly project: string;
  readonly features: readonly Float32Array[];
  /** Number of o200k tokens of each block. */
  readonly tokens: readonly number[];
  readonly lines: readonly FitLine[];
}

/** Input of the fit. */
interface Sample {
  readonly features: readonly Float32Array[];
  readonly logTokens: Float64Array;
  /** Share of the needed lines in each block. */
  readonly needed: Float64Array;
  /** Weight of the cut; the weights of all cuts add up to 1. */
  readonly weight: number;
}

export interface FitOptions {
  /** Selects the features to fit. */
  readonly isUsed: (feature: number) => boolean;
  /** Strength of the penalty, for features that are scaled to a spread of 1. */
  readonly penalty: number;
  /** Initial weights. Default: 0. */
  readonly start?: readonly number[];
}

/** Projects with fewer needed lines than this have less weight. */
const SURE_LINES = 10;

/**
 * Fits the weights, and may be interrupted after each sample.
 * @returns weights in the features' own units
 */
export function fitWeights(cuts: readonly FitSample[], { isUsed, penalty, start = [] }: FitOptions): number[] {
  const size = cuts[0]?.features[0]?.length ?? 0;
  const fixed = FEATURE_NAMES.map((name) => FIXED_WEIGHTS[name]);
  const used = Array.from({ length: size }, (_, at) => at).filter((at) => fixed[at] === undefined && isUsed(at));
  const samples = makeSamples(cuts);
  const spread = computeSpread(samples, used);
  const scaled = samples.map((sample): ScaledSample => ({ ...sample, matrix: scaleFeatures(sample, used, spread) }));
  const from = Float64Array.from(used, (feature, at) => (start[feature] ?? 0) * (spread[at] ?? 1));
  const found = minimize((weights) => computeLoss(scaled, weights, from, penalty), from);
  const weights = Array.from({ length: size }, (_, at) => fixed[at] ?? 0);
  for (const [at, feature] of used.entries()) weights[feature] = (found[at] ?? 0) / (spread[at] ?? 1);
  return weights;
}

/**
 * Gives each agent equal weight, each project within it, and each needed line within the project.
 */
function makeSamples(cuts: readonly FitSample[]): Sample[] {
  const needed = cuts.map(neededByBlock);
  const keys = cuts.map(({ agent, project }) => `${agent}\n${project}`);
  const lines = new Map<string, number>();
  for (const [at, key] of keys.entries()) lines.set(key, (lines.get(key) ?? 0) + (needed[at]?.sum ?? 0));
  const projects = new Map<string, number>();
  for (const [key, count] of lines) {
    const agent = key.slice(0, key.indexOf('\n'));
    if (count > 0) projects.set(agent, (projects.get(agent) ?? 0) + 1);
  }
  const samples = cuts.flatMap((cut, at): Sample[] => {
    const own = needed[at];
    if (!own || own.sum === 0) return [];
    const all = lines.get(keys[at] ?? '') ?? 1;
    const weight = ((own.sum / all) * Math.min(1, all / SURE_LINES)) / (projects.get(cut.agent) ?? 1);
    const shares = own.blocks.map((value) => value / own.sum);
    const logTokens = Float64Array.from(cut.tokens, (tokens) => Math.log(Math.max(1, tokens)));
    return [{ features: cut.features, logTokens, needed: shares, weight }];
  });
  const all = samples.reduce((sum, { weight }) => sum + weight, 0);
  return samples.map((sample) => ({ ...sample, weight: sample.weight / all }));
}

/**
 * A line in several blocks is split among them, and a line that is needed soon counts in more
 * windows.
 */
function neededByBlock({ tokens, lines }: FitSample): { readonly blocks: Float64Array; readonly sum: number } {
  const blocks = new Float64Array(tokens.length);
  let sum = 0;
  for (const line of lines) {
    if (line.isSafe || line.blocks.length === 0) continue;
    const weight = line.windows.filter(Boolean).length / line.windows.length;
    for (const block of line.blocks) blocks[block] = (blocks[block] ?? 0) + weight / line.blocks.length;
    sum += weight;
  }
  return { blocks, sum };
}

function computeSpread(samples: readonly Sample[], used: readonly number[]): number[] {
  const rows = samples.flatMap(({ features }) => features);
  return used.map((feature) => {
    let [sum, squares] = [0, 0];
    for (const row of rows) {
      const value = row[feature] ?? 0;
      sum += value;
      squares += value * value;
    }
    const mean = sum / rows.length;
    return Math.sqrt(Math.max(0, squares / rows.length - mean * mean)) + 1e-6;
  });
}

/** A sample with features scaled to a spread of 1. */
interface ScaledSample extends Sample {
  readonly matrix: Float32Array;
}

function scaleFeatures({ features }: Sample, used: readonly number[], spread: readonly number[]): Float32Array {
  const matrix = new Float32Array(features.length * used.length);
  let next = 0;
  for (const row of features)
    for (const [at, feature] of used.entries()) matrix[next++] = (row[feature] ?? 0) / (spread[at] ?? 1);
  return matrix;
}

interface Loss {
  readonly value: number;
  readonly gradient: Float64Array;
}

function computeLoss(
  samples: readonly ScaledSample[],
  weights: Float64Array,
  start: Float64Array,
  penalty: number,
): Loss {
  const size = weights.length;
  const away = weights.map((weight, at) => weight - (start[at] as number));
  const gradient = away.map((distance) => 2 * penalty * distance);
  let value = penalty * dot(away, away);
  for (const { matrix, logTokens, needed, weight } of samples) {
    const count = logTokens.length;
    const shares = new Float64Array(count);
    let most = -Infinity;
    for (let block = 0, at = 0; block < count; block++) {
      let score = 0;
      for (let feature = 0; feature < size; feature++) score += (weights[feature] as number) * (matrix[at++] as number);
      value -= weight * (needed[block] as number) * score;
      shares[block] = score + (logTokens[block] as number);
      most = Math.max(most, shares[block] as number);
    }
    let sum = 0;
    for (let block = 0; block < count; block++) sum += shares[block] = Math.exp((shares[block] as number) - most);
    value += weight * (most + Math.log(sum));
    for (let block = 0, at = 0; block < count; block++) {
      const pull = weight * ((shares[block] as number) / sum - (needed[block] as number));
      for (let feature = 0; feature < size; feature++)
        gradient[feature] = (gradient[feature] as number) + pull * (matrix[at++] as number);
    }
  }
  return { value, gradient };
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number);
  return sum;
}

const STEPS = 150;
/** Number of steps that L-BFGS remembers. */
const REMEMBERED_STEPS = 10;
const SMALLEST_GAIN = 1e-8;

/**
 * Minimizes a convex function with L-BFGS (Nocedal and Wright, Numerical Optimization, algorithm
 * 7.5).
 */
function minimize(of: (at: Float64Array) => Loss, start: Float64Array): Float64Array {
  let at = start;
  let now = of(at);
  const memory: { readonly step: Float64Array; readonly change: Float64Array }[] = [];
  for (let count = 0; count < STEPS; count++) {
    const direction = computeDirection(now.gradient, memory);
    let length = memory.length > 0 ? 1 : Math.min(1, 1 / now.gradient.reduce((sum, one) => sum + Math.abs(one), 0));
    const slope = dot(now.gradient, direction);
    let next = now;
    let to = at;
    for (let tries = 0; tries < 30; tries++, length /= 2) {
      to = at.map((value, index) => value - length * (direction[index] ?? 0));
      next = of(to);
      if (next.value < now.value - 1e-4 * length * slope) break;
    }
    if (next.value >= now.value) break;
    const step = to.map((value, index) => value - (at[index] ?? 0));
    const change = next.gradient.map((value, index) => value - (now.gradient[index] ?? 0));
    if (dot(step, change) > 1e-12) memory.push({ step, change });
    if (memory.length > REMEMBERED_STEPS) memory.shift();
    const gain = now.value - next.value;
    [at, now] = [to, next];
    if (gain < SMALLEST_GAIN * Math.max(1, Math.abs(now.value))) break;
  }
  return at;
}

function computeDirection(
  gradient: Float64Array,
  memory: readonly { readonly step: Float64Array; readonly change: Float64Array }[],
): Float64Array {
  const direction = gradient.slice();
  const shares: number[] = [];
  const add = (other: Float64Array, factor: number): void => {
    for (let at = 0; at < direction.length; at++) direction[at] = (direction[at] ?? 0) + factor * (other[at] ?? 0);
  };
  for (const { step, change } of memory.toReversed()) {
    const share = dot(step, direction) / dot(step, change);
    shares.unshift(share);
    add(change, -share);
  }
  const last = memory.at(-1);
  if (last) {
    const scale = dot(last.step, last.change) / dot(last.change, last.change);
    for (let at = 0; at < direction.length; at++) direction[at] = (direction[at] ?? 0) * scale;
  }
  for (const [index, { step, change }] of memory.entries())
    add(step, (shares[index] ?? 0) - dot(change, direction) / dot(step, change));
  return direction;
}
