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
interface WeightedSample {
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
const MIN_LINES_FOR_FULL_WEIGHT = 10;

/**
 * Fits the weights, and may be interrupted after each sample.
 * @returns weights in the features' own units
 */
export function fitWeights(cuts: readonly FitSample[], { isUsed, penalty, start = [] }: FitOptions): number[] {
  const size = cuts[0]?.features[0]?.length ?? 0;
  const fixedWeights = FEATURE_NAMES.map((name) => FIXED_WEIGHTS[name]);
  const fittedFeatures = Array.from({ length: size }, (_, at) => at).filter(
    (at) => fixedWeights[at] === undefined && isUsed(at),
  );
  const samples = makeSamples(cuts);
  const featureSpread = computeSpread(samples, fittedFeatures);
  const scaledSamples = samples.map((sample): ScaledSample => ({
    ...sample,
    matrix: scaleFeatures(sample, fittedFeatures, featureSpread),
  }));
  const scaledStart = Float64Array.from(
    fittedFeatures,
    (feature, at) => (start[feature] ?? 0) * (featureSpread[at] ?? 1),
  );
  const scaledWeights = minimize((weights) => computeLoss(scaledSamples, weights, scaledStart, penalty), scaledStart);
  const weights = Array.from({ length: size }, (_, at) => fixedWeights[at] ?? 0);
  for (const [at, feature] of fittedFeatures.entries())
    weights[feature] = (scaledWeights[at] ?? 0) / (featureSpread[at] ?? 1);
  return weights;
}

/**
 * Gives each agent equal weight, each project within it, and each needed line within the project.
 */
function makeSamples(cuts: readonly FitSample[]): WeightedSample[] {
  const neededByCut = cuts.map(sumNeededByBlock);
  const projectKeys = cuts.map(({ agent, project }) => `${agent}\n${project}`);
  const linesByProject = new Map<string, number>();
  for (const [at, key] of projectKeys.entries())
    linesByProject.set(key, (linesByProject.get(key) ?? 0) + (neededByCut[at]?.sum ?? 0));
  const projectsByAgent = new Map<string, number>();
  for (const [key, count] of linesByProject) {
    const agent = key.slice(0, key.indexOf('\n'));
    if (count > 0) projectsByAgent.set(agent, (projectsByAgent.get(agent) ?? 0) + 1);
  }
  const samples = cuts.flatMap((cut, at): WeightedSample[] => {
    const neededInCut = neededByCut[at];
    if (!neededInCut || neededInCut.sum === 0) return [];
    const projectLines = linesByProject.get(projectKeys[at] ?? '') ?? 1;
    const weight =
      ((neededInCut.sum / projectLines) * Math.min(1, projectLines / MIN_LINES_FOR_FULL_WEIGHT)) /
      (projectsByAgent.get(cut.agent) ?? 1);
    const neededShares = neededInCut.blocks.map((value) => value / neededInCut.sum);
    const logTokens = Float64Array.from(cut.tokens, (tokens) => Math.log(Math.max(1, tokens)));
    return [{ features: cut.features, logTokens, needed: neededShares, weight }];
  });
  const totalWeight = samples.reduce((sum, { weight }) => sum + weight, 0);
  return samples.map((sample) => ({ ...sample, weight: sample.weight / totalWeight }));
}

/**
 * A line in several blocks is split among them, and a line that is needed soon counts in more
 * windows.
 */
function sumNeededByBlock({ tokens, lines }: FitSample): { readonly blocks: Float64Array; readonly sum: number } {
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

function computeSpread(samples: readonly WeightedSample[], used: readonly number[]): number[] {
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
interface ScaledSample extends WeightedSample {
  readonly matrix: Float32Array;
}

function scaleFeatures({ features }: WeightedSample, used: readonly number[], spread: readonly number[]): Float32Array {
  const matrix = new Float32Array(features.length * used.length);
  let next = 0;
  for (const row of features)
    for (const [at, feature] of used.entries()) matrix[next++] = (row[feature] ?? 0) / (spread[at] ?? 1);
  return matrix;
}

interface LossWithGradient {
  readonly value: number;
  readonly gradient: Float64Array;
}

function computeLoss(
  samples: readonly ScaledSample[],
  weights: Float64Array,
  start: Float64Array,
  penalty: number,
): LossWithGradient {
  const size = weights.length;
  const distances = weights.map((weight, at) => weight - (start[at] as number));
  const gradient = distances.map((distance) => 2 * penalty * distance);
  let value = penalty * computeDotProduct(distances, distances);
  for (const { matrix, logTokens, needed, weight } of samples) {
    const blockCount = logTokens.length;
    const shares = new Float64Array(blockCount);
    let most = -Infinity;
    for (let block = 0, matrixIndex = 0; block < blockCount; block++) {
      let score = 0;
      for (let feature = 0; feature < size; feature++)
        score += (weights[feature] as number) * (matrix[matrixIndex++] as number);
      value -= weight * (needed[block] as number) * score;
      shares[block] = score + (logTokens[block] as number);
      most = Math.max(most, shares[block] as number);
    }
    let sum = 0;
    for (let block = 0; block < blockCount; block++) sum += shares[block] = Math.exp((shares[block] as number) - most);
    value += weight * (most + Math.log(sum));
    for (let block = 0, at = 0; block < blockCount; block++) {
      const residual = weight * ((shares[block] as number) / sum - (needed[block] as number));
      for (let feature = 0; feature < size; feature++)
        gradient[feature] = (gradient[feature] as number) + residual * (matrix[at++] as number);
    }
  }
  return { value, gradient };
}

function computeDotProduct(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
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
function minimize(of: (at: Float64Array) => LossWithGradient, start: Float64Array): Float64Array {
  let point = start;
  let currentLoss = of(point);
  const memory: { readonly step: Float64Array; readonly change: Float64Array }[] = [];
  for (let count = 0; count < STEPS; count++) {
    const direction = computeDirection(currentLoss.gradient, memory);
    let length =
      memory.length > 0 ? 1 : Math.min(1, 1 / currentLoss.gradient.reduce((sum, one) => sum + Math.abs(one), 0));
    const slope = computeDotProduct(currentLoss.gradient, direction);
    let nextLoss = currentLoss;
    let nextPoint = point;
    for (let attempts = 0; attempts < 30; attempts++, length /= 2) {
      nextPoint = point.map((value, index) => value - length * (direction[index] ?? 0));
      nextLoss = of(nextPoint);
      if (nextLoss.value < currentLoss.value - 1e-4 * length * slope) break;
    }
    if (nextLoss.value >= currentLoss.value) break;
    const step = nextPoint.map((value, index) => value - (point[index] ?? 0));
    const gradientChange = nextLoss.gradient.map((value, index) => value - (currentLoss.gradient[index] ?? 0));
    if (computeDotProduct(step, gradientChange) > 1e-12) memory.push({ step, change: gradientChange });
    if (memory.length > REMEMBERED_STEPS) memory.shift();
    const gain = currentLoss.value - nextLoss.value;
    [point, currentLoss] = [nextPoint, nextLoss];
    if (gain < SMALLEST_GAIN * Math.max(1, Math.abs(currentLoss.value))) break;
  }
  return point;
}

function computeDirection(
  gradient: Float64Array,
  memory: readonly { readonly step: Float64Array; readonly change: Float64Array }[],
): Float64Array {
  const direction = gradient.slice();
  const shares: number[] = [];
  const addScaled = (other: Float64Array, factor: number): void => {
    for (let index = 0; index < direction.length; index++)
      direction[index] = (direction[index] ?? 0) + factor * (other[index] ?? 0);
  };
  for (const { step, change } of memory.toReversed()) {
    const share = computeDotProduct(step, direction) / computeDotProduct(step, change);
    shares.unshift(share);
    addScaled(change, -share);
  }
  const lastStep = memory.at(-1);
  if (lastStep) {
    const scale =
      computeDotProduct(lastStep.step, lastStep.change) / computeDotProduct(lastStep.change, lastStep.change);
    for (let index = 0; index < direction.length; index++) direction[index] = (direction[index] ?? 0) * scale;
  }
  for (const [index, { step, change }] of memory.entries())
    addScaled(step, (shares[index] ?? 0) - computeDotProduct(change, direction) / computeDotProduct(step, change));
  return direction;
}
