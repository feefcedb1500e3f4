/**
 * Condenses the beginning of recorded sessions in several ways and counts lost lines that later
 * edits quote. Calls no model.
 */
import type { ApiMessage } from '../../messages/types';
import { MessageCounter } from '../../tokens/messageCounter';
import type { TokenCounter } from '../../tokens/types';
import { CondensationManager } from '../manager';
import { createProviders } from '../providers/createProviders';
import { applyEdits } from '../edits/applyEdits';
import { chooseSessionCuts } from './cuts';
import { CURRENT_CHOICE_ID, type JudgedChoice } from './judgedChoices';
import { NeededLineChecker } from './kept';
import { findNeededLines, type NeededLine } from './neededLater';

/** Shares of the tokens that may stay; undefined for no target. */
export const JUDGED_TARGET_SHARES = [undefined, 0.7, 0.5, 0.35] as const;

const CUT_POSITION_SHARES = [0.35, 0.6, 0.85];
const TURNS_AFTER_CUT = 20;
/** In o200k tokens; in practice, shorter prefixes are not condensed. */
const MIN_PREFIX_TOKENS = 8_000;

export interface EvaluationCut {
  readonly cut: number;
  readonly prefix: readonly ApiMessage[];
  readonly needed: readonly NeededLine[];
  /** o200k tokens of the prefix. */
  readonly tokens: number;
}

function* createEvaluationCuts(messages: readonly ApiMessage[], counter: MessageCounter): Generator<EvaluationCut> {
  for (const { cut, end } of chooseSessionCuts(messages, { cuts: CUT_POSITION_SHARES, turns: TURNS_AFTER_CUT })) {
    const neededLines = findNeededLines(messages, cut, end);
    if (neededLines.length === 0) continue;
    const prefix = messages.slice(0, cut);
    const tokens = counter.countMessages(prefix);
    if (tokens >= MIN_PREFIX_TOKENS) yield { cut, prefix, needed: neededLines, tokens };
  }
}

interface NeededLinesTally {
  readonly needed: number;
  readonly lost: number;
  /** Lost lines that no reference restores. */
  readonly gone: number;
  readonly before: number;
  readonly after: number;
}

export type SessionTally = ReadonlyMap<string, NeededLinesTally>;

const makeTallyKey = (choice: Pick<JudgedChoice, 'id'>, target: number | undefined): string =>
  `${choice.id} ${target ?? ''}`;

export interface TallyOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default {@link JUDGED_TARGET_SHARES}. */
  readonly targets?: readonly (number | undefined)[];
}

/**
 * @returns undefined if no turn after a cut needed anything from before it
 * @throws the signal's reason if it was aborted
 */
export async function tallyNeededLinesOfSession(
  messages: readonly ApiMessage[],
  choices: readonly JudgedChoice[],
  tokens: TokenCounter,
  { signal, targets = JUDGED_TARGET_SHARES }: TallyOptions = {},
): Promise<SessionTally | undefined> {
  // The counter and the manager cache what they have seen, so each session gets new ones.
  const counter = new MessageCounter(tokens);
  const manager = new CondensationManager(counter, createProviders());
  const tallies = new Map<string, NeededLinesTally>();
  for (const { cut, prefix, needed: neededLines, tokens: prefixTokens } of createEvaluationCuts(messages, counter)) {
    for (const choice of choices) {
      for (const target of targets) {
        const outcome = await manager.condense({
          conversation: `${cut} ${makeTallyKey(choice, target)}`,
          messages: prefix,
          provider: choice.provider,
          config: choice.config,
          trigger: 'manual',
          ...(target !== undefined && { targetTokens: Math.floor(prefixTokens * target) }),
          ...(signal && { signal }),
        });
        signal?.throwIfAborted();
        const edits = outcome.kind === 'condensed' ? outcome.edits : [];
        const view = applyEdits(prefix, edits);
        const lineChecker = new NeededLineChecker(view);
        const lineOutcomes = neededLines.map((line) => lineChecker.checkLine(line));
        const key = makeTallyKey(choice, target);
        const tallySum = tallies.get(key) ?? { needed: 0, lost: 0, gone: 0, before: 0, after: 0 };
        tallies.set(key, {
          needed: tallySum.needed + lineOutcomes.length,
          lost: tallySum.lost + lineOutcomes.filter((line) => line !== 'verbatim').length,
          gone: tallySum.gone + lineOutcomes.filter((line) => line === 'lost').length,
          before: tallySum.before + prefixTokens,
          after: tallySum.after + counter.countMessages(view.messages),
        });
      }
    }
  }
  return tallies.size === 0 ? undefined : tallies;
}

/** A share with its 95 % confidence interval. */
export interface ShareWithInterval {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface JudgedPoint {
  readonly choice: string;
  /** Share of the tokens that may stay; absent for no target. */
  readonly target?: number;
  /** Share of the tokens that stayed. */
  readonly left: number;
  /** `lost` lines are not in the view; `gone` lines cannot be recalled either. */
  readonly lost: ShareWithInterval;
  readonly gone: number;
}

/**
 * `keep`: no other choice keeps more lines at the current size. `change`: another choice is no
 * larger and keeps more lines.
 */
export type JudgmentVerdict =
  | { readonly kind: 'too-little' }
  | { readonly kind: 'keep' }
  | {
      readonly kind: 'change';
      readonly choice: string;
      readonly target?: number;
      readonly difference: ShareWithInterval;
    };

export interface ChoiceComparison {
  /** Sessions without needed lines do not count. */
  readonly sessions: number;
  readonly lines: number;
  readonly points: readonly JudgedPoint[];
  readonly verdict: JudgmentVerdict;
}

/** With fewer sessions or lines, the confidence interval is too wide to decide anything. */
export const MIN_JUDGED_SESSIONS = 5;
export const MIN_NEEDED_LINES = 50;
const MAX_EQUAL_SIZE_DIFFERENCE = 0.01;

/** @param choices must begin with the user's settings, as {@link CURRENT_CHOICE_ID} */
export function compareChoices(tallies: readonly SessionTally[], choices: readonly JudgedChoice[]): ChoiceComparison {
  const [current] = choices;
  const neededLineCount = current ? sumTallies(tallies, makeTallyKey(current, undefined), ({ needed }) => needed) : 0;
  const points = choices.flatMap((choice) =>
    JUDGED_TARGET_SHARES.map((target) => makeJudgedPoint(tallies, choice, target)),
  );
  return {
    sessions: tallies.length,
    lines: neededLineCount,
    points,
    verdict: decideJudgmentVerdict(tallies, choices, points, neededLineCount),
  };
}

function makeJudgedPoint(
  tallies: readonly SessionTally[],
  choice: JudgedChoice,
  target: number | undefined,
): JudgedPoint {
  const key = makeTallyKey(choice, target);
  const ownTallies = tallies.flatMap((tally) => tally.get(key) ?? []);
  const neededCount = Math.max(
    1,
    sumTallies(tallies, key, (tally) => tally.needed),
  );
  return {
    choice: choice.id,
    ...(target !== undefined && { target }),
    left:
      sumTallies(tallies, key, ({ after }) => after) /
      Math.max(
        1,
        sumTallies(tallies, key, ({ before }) => before),
      ),
    lost: estimateRatioWithInterval(ownTallies.map((tally) => ({ part: tally.lost, whole: tally.needed }))),
    gone: sumTallies(tallies, key, ({ gone }) => gone) / neededCount,
  };
}

const sumTallies = (
  tallies: readonly SessionTally[],
  key: string,
  getCount: (tally: NeededLinesTally) => number,
): number =>
  tallies.reduce((sum, session) => sum + (session.has(key) ? getCount(session.get(key) as NeededLinesTally) : 0), 0);

function decideJudgmentVerdict(
  tallies: readonly SessionTally[],
  choices: readonly JudgedChoice[],
  points: readonly JudgedPoint[],
  lines: number,
): JudgmentVerdict {
  const currentPoint = points.find(({ choice, target }) => choice === CURRENT_CHOICE_ID && target === undefined);
  if (!currentPoint || tallies.length < MIN_JUDGED_SESSIONS || lines < MIN_NEEDED_LINES) return { kind: 'too-little' };
  const betterChoices = points.flatMap((point) => {
    const choice = choices.find(({ id }) => id === point.choice);
    if (!choice || point.choice === CURRENT_CHOICE_ID || point.left > currentPoint.left + MAX_EQUAL_SIZE_DIFFERENCE)
      return [];
    const difference = estimateRatioWithInterval(
      tallies.map((session) => ({
        part:
          (session.get(makeTallyKey(choice, point.target))?.lost ?? 0) -
          (session.get(`${CURRENT_CHOICE_ID} `)?.lost ?? 0),
        whole: session.get(`${CURRENT_CHOICE_ID} `)?.needed ?? 0,
      })),
    );
    return difference.high < 0 ? [{ point, difference }] : [];
  });
  const [bestChoice] = betterChoices.toSorted(
    (a, b) => a.difference.share - b.difference.share || a.point.left - b.point.left,
  );
  if (!bestChoice) return { kind: 'keep' };
  const { choice, target } = bestChoice.point;
  return { kind: 'change', choice, ...(target !== undefined && { target }), difference: bestChoice.difference };
}

/** 95 % quantiles by degrees of freedom. */
const STUDENT_T_QUANTILES = [
  NaN,
  12.71,
  4.3,
  3.18,
  2.78,
  2.57,
  2.45,
  2.36,
  2.31,
  2.26,
  2.23,
  2.2,
  2.18,
  2.16,
  2.14,
  2.13,
  2.12,
  2.11,
  2.1,
  2.09,
];

/**
 * The ratio estimator of Cochran, Sampling Techniques, 6.4, because the sample consists of
 * sessions, not lines.
 */
function estimateRatioWithInterval(
  sessions: readonly { readonly part: number; readonly whole: number }[],
): ShareWithInterval {
  const sessionCount = sessions.length;
  const totalWhole = sessions.reduce((sum, session) => sum + session.whole, 0);
  const share = sessions.reduce((sum, session) => sum + session.part, 0) / Math.max(1, totalWhole);
  const squareSum = sessions.reduce((sum, session) => sum + (session.part - share * session.whole) ** 2, 0);
  const halfWidth =
    ((STUDENT_T_QUANTILES[sessionCount - 1] ?? 2.04) * Math.sqrt((sessionCount / (sessionCount - 1)) * squareSum)) /
    Math.max(1, totalWhole);
  return { share, low: share - halfWidth, high: share + halfWidth };
}
