/**
 * Weights of relevance that are fitted to a user's own sessions: learnt from one half, judged on the other, and given only if they surely
 * lose less there than the weights that ship.
 */
import { Pace } from '../../pace';
import { formatPercent } from '../../percent';
import { MessageCounter } from '../../tokens/messageCounter';
import type { TokenCounter } from '../../tokens/types';
import type { ApiMessage } from '../../messages/types';
import { FILE_AWARE, type Preset } from '../presets';
import { FEATURE_NAMES } from '../relevance/featureNames';
import { fitWeights, type FitSample } from '../relevance/fitWeights';
import type { Weights } from '../relevance/relevance';
import { WEIGHTS } from '../relevance/weights';
import {
  comparison,
  judgedCuts,
  MIN_LINES,
  MIN_SESSIONS,
  tallySession,
  type Estimate,
  type JudgedWay,
  type SessionTally,
} from './judge';
import { prefixBlocks, sampleOf } from './prefixBlocks';

/** Shares of the tokens that may stay: without a target nothing is pruned. */
const TARGETS = [0.7, 0.5, 0.35] as const;
/** How hard own weights are held to those that ship (docs/decisions/0028-fitted-relevance.md). */
const PENALTY = 1;
/** Digits of a weight that say anything. */
const DIGITS = 3;

/** How many needed lines a session has from before its cuts. */
export const neededIn = (messages: readonly ApiMessage[], tokens: TokenCounter): number =>
  [...judgedCuts(messages, new MessageCounter(tokens))].reduce((sum, { needed }) => sum + needed.length, 0);

/** What is split: a session, and the folder that its agent worked in, where that is known. */
export interface Splittable {
  /** Of what it says: the halves are the same wherever the sessions lie, and in whatever order. */
  readonly key: string;
  readonly project: string | undefined;
}

/** Two halves: by whole projects, or by sessions where one project has more than half of them. */
export function halvesOf<T extends Splittable>(sessions: readonly T[]): readonly [readonly T[], readonly T[]] {
  const ordered = sessions.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const largest = Math.max(0, ...groups(ordered, ({ project, key }) => project ?? key).map(({ length }) => length));
  const isByProject = 2 * largest <= sessions.length;
  const units = groups(ordered, ({ project, key }) => (isByProject ? (project ?? key) : key));
  const halves: readonly [T[], T[]] = [[], []];
  for (const unit of units.toSorted((a, b) => b.length - a.length))
    (halves[0].length <= halves[1].length ? halves[0] : halves[1]).push(...unit);
  return halves;
}

/** In the order of their first. */
function groups<T>(list: readonly T[], keyOf: (one: T) => string): T[][] {
  const found = new Map<string, T[]>();
  for (const one of list) found.set(keyOf(one), [...(found.get(keyOf(one)) ?? []), one]);
  return [...found.values()];
}

/**
 * What weights can learn from a session.
 * @throws the signal's reason where it was aborted.
 */
export async function samplesIn(
  messages: readonly ApiMessage[],
  source: Pick<FitSample, 'agent' | 'project'>,
  tokens: TokenCounter,
  signal?: AbortSignal,
): Promise<FitSample[]> {
  const pace = new Pace(signal);
  const counter = new MessageCounter(tokens);
  const samples: FitSample[] = [];
  for (const { prefix, needed } of judgedCuts(messages, counter)) {
    await pace.yieldNow();
    const blocks = await prefixBlocks(prefix, counter, pace);
    const { agent, project } = source;
    samples.push({
      agent,
      project,
      ...sampleOf(
        blocks,
        needed.map((line) => ({ line, windows: [true] })),
      ),
    });
  }
  return samples;
}

/** Weights for samples, no farther from those that ship than the samples ask for. @throws the signal's reason where it was aborted. */
export async function ownWeights(samples: readonly FitSample[], signal?: AbortSignal): Promise<Weights> {
  const start = FEATURE_NAMES.map((name) => WEIGHTS[name] ?? 0);
  const fitted = await new Pace(signal).through(fitWeights(samples, { isUsed: () => true, penalty: PENALTY, start }));
  const rounded = FEATURE_NAMES.map((name, at) => [name, Number((fitted[at] ?? start[at] ?? 0).toPrecision(DIGITS))]);
  return Object.fromEntries(rounded) as Weights;
}

const SHIPPED_WAY: JudgedWay = { id: 'shipped', name: FILE_AWARE.name, provider: 'smart', config: FILE_AWARE.id };
const OWN_WAY: Omit<JudgedWay, 'config'> = { id: 'own', name: FILE_AWARE.name, provider: 'smart' };
const configWith = (weights: Weights): Preset['config'] => ({ version: 1, ...FILE_AWARE.config, weights });

/** What a session that the weights never saw says of them. @throws the signal's reason where it was aborted. */
export const tallyOwn = (
  messages: readonly ApiMessage[],
  weights: Weights,
  tokens: TokenCounter,
  signal?: AbortSignal,
): Promise<SessionTally | undefined> =>
  tallySession(messages, [SHIPPED_WAY, { ...OWN_WAY, config: configWith(weights) }], tokens, {
    signal,
    targets: TARGETS,
  });

/** A half: sessions in which something was needed, and the needed lines. */
export interface Half {
  readonly sessions: number;
  readonly lines: number;
}

/** What own weights and those that ship lose of the needed lines of the half that was kept apart. */
export interface OwnLosses {
  readonly own: Estimate;
  readonly shipped: Estimate;
  /** Own less shipped. */
  readonly difference: Estimate;
}

/**
 * `too-little`: one of the halves has fewer sessions or lines than tell anything. `keep`: it does not pay, as far as the half that was
 * kept apart can tell. `pays`: they surely lose less there.
 */
export type OwnVerdict =
  | { readonly kind: 'too-little' }
  | ({ readonly kind: 'keep' } & OwnLosses)
  | ({ readonly kind: 'pays'; readonly preset: Preset } & OwnLosses);

export interface OwnFit {
  readonly learnt: Half;
  readonly judged: Half;
  readonly verdict: OwnVerdict;
}

/** Whether halves tell anything. */
export const isEnough = (...halves: readonly Half[]): boolean =>
  halves.every(({ sessions, lines }) => sessions >= MIN_SESSIONS && lines >= MIN_LINES);

/** @param tallies of the half that was kept apart. */
export function verdictOn(weights: Weights, tallies: readonly SessionTally[]): OwnVerdict {
  const { way, other, difference } = comparison(
    tallies,
    { ...OWN_WAY, config: configWith(weights) },
    SHIPPED_WAY,
    TARGETS,
  );
  const losses: OwnLosses = { own: way, shipped: other, difference };
  return difference.high < 0
    ? { kind: 'pays', preset: presetOf(weights, losses), ...losses }
    : { kind: 'keep', ...losses };
}

const percent = (share: number): string => formatPercent(100 * share, 1);

const presetOf = (weights: Weights, { own, shipped }: OwnLosses): Preset => ({
  id: 'file-aware-own',
  name: 'File-Aware, fitted to my conversations',
  description: `File-Aware with weights fitted to one half of your conversations. On the other half they lost ${percent(own.share)} of the needed lines, the built-in weights ${percent(shipped.share)}.`,
  config: configWith(weights),
});
