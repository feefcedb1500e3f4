/**
 * Of the lines that later edits and patches need, measures the share that File-Aware loses,
 * compared with other tools' rules at the same size for each prefix. Each agent has the same
 * weight, and so has each project of an agent.
 */
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { chooseSessionCuts } from '../../src/core/condense/futureNeed/cuts';
import { NeededLineChecker } from '../../src/core/condense/futureNeed/kept';
import { findNeededLines } from '../../src/core/condense/futureNeed/neededLater';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { isAnyThinking } from '../../src/core/messages/blocks';
import type { ApiMessage } from '../../src/core/messages/types';
import { Random } from '../generators/random';
import type { BenchConversation } from './corpus';
import { makeCandidate, condense, freshCounter, type Candidate } from './measure';
import { headTail, maskResults, slidingWindow } from './policies';
import type { CondensingPolicy } from './retention';
import { percent, table } from './table';

/** Other tools' rules, reimplemented from their descriptions. */
export const RULES: Readonly<Record<string, CondensingPolicy>> = {
  'mask 40': maskResults(40),
  'mask 20': maskResults(20),
  'mask 10': maskResults(10),
  'head and tail 8,000': headTail(8_000),
  'newest half': slidingWindow(0.5),
};

/** Numbers of turns that are examined after a cut. */
export const TURN_WINDOWS = [10, 20, 40] as const;
export const CUT_SHARES = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/** Projects with fewer needed lines are ignored. */
export const MIN_LINES = 10;

/** Counts for one session, rule and window. */
export interface NeedTally {
  readonly agent: string;
  readonly project: string;
  readonly rule: string;
  readonly turns: number;
  readonly needed: number;
  readonly lostByRule: number;
  readonly lostByUs: number;
  /** Number of tokens of the prefixes, of the rule's views, and of ours. */
  readonly before: number;
  readonly afterRule: number;
  readonly afterUs: number;
}

export interface NeedOptions {
  /** Names of the rules to measure. Default: all. */
  readonly rules?: readonly string[];
  /** Shares of a session's turns at which it is cut. Default: {@link CUT_SHARES}. */
  readonly cuts?: readonly number[];
}

/**
 * Measures all conversations without thinking, because rules and agents each treat it in their own
 * way, and it contains no lines of files.
 * @param fileAwareFor returns the provider to measure for a conversation.
 */
export async function measureNeed(
  conversations: readonly BenchConversation[],
  fileAwareFor: (conversation: BenchConversation) => Candidate = () =>
    makeCandidate('file-aware', createSmartProvider(), 'file-aware'),
  { rules = Object.keys(RULES), cuts = CUT_SHARES }: NeedOptions = {},
): Promise<NeedTally[]> {
  const tallies: NeedTally[] = [];
  for (const conversation of conversations) {
    const { agent, project } = conversation;
    const messages = withoutThinking(conversation.messages);
    const counter = freshCounter();
    const size = counter.countMessages.bind(counter);
    const tallyByKey = new Map<string, { -readonly [Key in keyof NeedTally]: NeedTally[Key] }>();
    for (const { cut } of chooseSessionCuts(messages, { cuts })) {
      const neededByWindow = TURN_WINDOWS.map((turns) => ({
        turns,
        lines: findNeededLines(messages, cut, findEnd(messages, cut, turns)),
      }));
      if (neededByWindow.every(({ lines }) => lines.length === 0)) continue;
      const prefix = messages.slice(0, cut);
      for (const [rule, policy] of Object.entries(RULES).filter(([name]) => rules.includes(name))) {
        const ruleView = await policy(prefix);
        const targetTokens = size(ruleView.messages);
        const { edits } = await condense(prefix, fileAwareFor(conversation), counter, { targetTokens });
        const ownView = applyEdits(prefix, edits);
        const [keptByRule, keptByUs] = [new NeededLineChecker(ruleView), new NeededLineChecker(ownView)];
        const sizes = [size(prefix), targetTokens, size(ownView.messages)] as const;
        for (const { turns, lines } of neededByWindow) {
          const key = `${rule} ${turns}`;
          const emptyCounts = { needed: 0, lostByRule: 0, lostByUs: 0, before: 0, afterRule: 0, afterUs: 0 };
          const tally = tallyByKey.get(key) ?? { agent, project, rule, turns, ...emptyCounts };
          tallyByKey.set(key, tally);
          tally.needed += lines.length;
          tally.lostByRule += lines.filter((line) => keptByRule.checkLine(line) !== 'verbatim').length;
          tally.lostByUs += lines.filter((line) => keptByUs.checkLine(line) !== 'verbatim').length;
          tally.before += sizes[0];
          tally.afterRule += sizes[1];
          tally.afterUs += sizes[2];
        }
      }
    }
    tallies.push(...tallyByKey.values());
  }
  return tallies;
}

/** Returns the index after the last message of this many turns from a cut. */
export function findEnd(messages: readonly ApiMessage[], cut: number, turns: number): number {
  let turnCount = 0;
  for (let index = cut; index < messages.length; index++) {
    const startsTurn = messages[index]?.role === 'assistant' && messages[index - 1]?.role !== 'assistant';
    if (startsTurn && ++turnCount > turns) return index;
  }
  return messages.length;
}

export const withoutThinking = (messages: readonly ApiMessage[]): ApiMessage[] =>
  messages.map((message) => {
    if (typeof message.content === 'string' || !message.content.some(isAnyThinking)) return message;
    const content = message.content.filter((block) => !isAnyThinking(block));
    return content.length === 0 ? message : { ...message, content };
  });

/** Means over agents of the means over their projects, with a 95 % interval over projects. */
export interface NeedRow {
  readonly agent: string;
  readonly rule: string;
  readonly projects: number;
  /** Number of lines needed within 20 turns. */
  readonly lines: number;
  readonly removedByRule: number;
  readonly removedByUs: number;
  readonly lostByRule: number;
  readonly lostByUs: number;
  /** Our loss minus the rule's; the interval is NaN for a single project. */
  readonly difference: { readonly mean: number; readonly low: number; readonly high: number };
}

interface ProjectShare {
  readonly agent: string;
  readonly project: string;
  readonly lines: number;
  readonly removedByRule: number;
  readonly removedByUs: number;
  readonly lostByRule: number;
  readonly lostByUs: number;
}

/** Returns a row for each rule, for each agent and in total. */
export function needRows(tallies: readonly NeedTally[]): NeedRow[] {
  const rules = [...new Set(tallies.map(({ rule }) => rule))];
  const agents = [...new Set(tallies.map(({ agent }) => agent))];
  return rules.flatMap((rule) => {
    const shares = computeShares(tallies.filter((tally) => tally.rule === rule));
    const rows = agents.map((agent) =>
      makeAgentRow(
        rule,
        agent,
        shares.filter((share) => share.agent === agent),
      ),
    );
    return [makeTotalRow(rule, shares), ...rows.filter(({ projects }) => projects > 0)];
  });
}

function computeShares(tallies: readonly NeedTally[]): ProjectShare[] {
  const talliesByProject = new Map<string, NeedTally[]>();
  for (const tally of tallies) {
    const key = `${tally.agent}\n${tally.project}`;
    talliesByProject.set(key, [...(talliesByProject.get(key) ?? []), tally]);
  }
  return [...talliesByProject.values()].flatMap((own) => {
    const sumTallies = (of: (tally: NeedTally) => number, turns?: number): number =>
      own.reduce((total, tally) => total + (turns === undefined || tally.turns === turns ? of(tally) : 0), 0);
    const [first] = own;
    const neededLineCount = sumTallies(({ needed }) => needed, 20);
    if (!first || neededLineCount < MIN_LINES) return [];
    const computeLostShare = (of: (tally: NeedTally) => number): number =>
      mean(
        TURN_WINDOWS.map(
          (turns) =>
            sumTallies(of, turns) /
            Math.max(
              1,
              sumTallies(({ needed }) => needed, turns),
            ),
        ),
      );
    const tokensBefore = sumTallies((tally) => tally.before);
    return [
      {
        agent: first.agent,
        project: first.project,
        lines: neededLineCount,
        removedByRule: 1 - sumTallies((tally) => tally.afterRule) / tokensBefore,
        removedByUs: 1 - sumTallies((tally) => tally.afterUs) / tokensBefore,
        lostByRule: computeLostShare((tally) => tally.lostByRule),
        lostByUs: computeLostShare((tally) => tally.lostByUs),
      },
    ];
  });
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const computeMeans = (shares: readonly ProjectShare[]) => ({
  projects: shares.length,
  lines: shares.reduce((sum, { lines }) => sum + lines, 0),
  removedByRule: mean(shares.map((share) => share.removedByRule)),
  removedByUs: mean(shares.map((share) => share.removedByUs)),
  lostByRule: mean(shares.map((share) => share.lostByRule)),
  lostByUs: mean(shares.map((share) => share.lostByUs)),
});

/** Quantiles of Student's t for 95 %, by degrees of freedom. */
const STUDENT_T_QUANTILES = [NaN, 12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];

function makeAgentRow(rule: string, agent: string, shares: readonly ProjectShare[]): NeedRow {
  const differences = shares.map((share) => share.lostByUs - share.lostByRule);
  const meanDifference = mean(differences);
  const count = differences.length;
  const variance = differences.reduce((sum, value) => sum + (value - meanDifference) ** 2, 0) / (count - 1);
  const halfInterval = (STUDENT_T_QUANTILES[count - 1] ?? 2.2) * Math.sqrt(variance / count);
  return {
    agent,
    rule,
    ...computeMeans(shares),
    difference: { mean: meanDifference, low: meanDifference - halfInterval, high: meanDifference + halfInterval },
  };
}

const RESAMPLES = 2_000;

/** Resamples projects across agents, with replacement. */
function makeTotalRow(rule: string, shares: readonly ProjectShare[]): NeedRow {
  const agents = [...new Set(shares.map(({ agent }) => agent))];
  const means = agents.map((agent) => computeMeans(shares.filter((share) => share.agent === agent)));
  const computeDifference = (drawn: readonly ProjectShare[]): number =>
    mean(
      [...new Set(drawn.map(({ agent }) => agent))].map((agent) =>
        mean(drawn.filter((share) => share.agent === agent).map((share) => share.lostByUs - share.lostByRule)),
      ),
    );
  const random = new Random(1);
  const projects = [...new Set(shares.map(({ project }) => project))];
  const sortedDifferences = Array.from({ length: RESAMPLES }, () => {
    const drawnProjects = projects.map(() => random.pick(projects));
    return computeDifference(drawnProjects.flatMap((project) => shares.filter((share) => share.project === project)));
  }).sort((a, b) => a - b);
  return {
    agent: 'all',
    rule,
    projects: projects.length,
    lines: means.reduce((sum, { lines }) => sum + lines, 0),
    removedByRule: mean(means.map((each) => each.removedByRule)),
    removedByUs: mean(means.map((each) => each.removedByUs)),
    lostByRule: mean(means.map((each) => each.lostByRule)),
    lostByUs: mean(means.map((each) => each.lostByUs)),
    difference: {
      mean: computeDifference(shares),
      low: sortedDifferences[Math.floor(0.025 * RESAMPLES)] ?? NaN,
      high: sortedDifferences[Math.floor(0.975 * RESAMPLES)] ?? NaN,
    },
  };
}

export const NEED_COLUMNS = [
  'rule',
  'agent',
  'projects',
  'lines',
  'removed by the rule',
  'by File-Aware',
  'lost by the rule',
  'lost by File-Aware',
  'difference [95 %]',
] as const;

const formatPoints = (share: number): string => (Number.isNaN(share) ? '–' : (share * 100).toFixed(1));

export const needCells = (rows: readonly NeedRow[]): (string | number)[][] =>
  rows.map(({ rule, agent, projects, lines, difference: { mean: middle, low, high }, ...row }) => [
    rule,
    agent,
    projects,
    lines,
    percent(row.removedByRule),
    percent(row.removedByUs),
    percent(row.lostByRule),
    percent(row.lostByUs),
    `${formatPoints(middle)} [${formatPoints(low)} to ${formatPoints(high)}]`,
  ]);

export const needTable = (rows: readonly NeedRow[]): string => table(NEED_COLUMNS, needCells(rows));
