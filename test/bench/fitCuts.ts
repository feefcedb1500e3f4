/**
 * Makes the data for fitting relevance. Sessions are cut at many places; each prefix after Lossless
 * is split into blocks with features, and the blocks with needed lines are known.
 */
import { chooseSessionCuts } from '../../src/core/condense/futureNeed/cuts';
import { NeededLineChecker } from '../../src/core/condense/futureNeed/kept';
import { findNeededLines, type NeededLine } from '../../src/core/condense/futureNeed/neededLater';
import { findNeighbors, prefixBlocks, makeSample, type NeededAfterPrefix } from './prefixBlocks';
import { collectAgentTexts, type AgentTextsOfMessage } from '../../src/core/condense/providers/smart/candidates';
import { toGuardedBlock, type BlockToGuard } from '../../src/core/condense/relevance/guard';
import { chooseDeclaredNames } from '../../src/core/condense/providers/smart/declaredNames';
import type { FitSample } from './fitWeights';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { loadAllSessions, type BenchConversation } from './corpus';
import { freshCounter } from './measure';
import { CUT_SHARES, RULES, TURN_WINDOWS, findEnd, withoutThinking } from './needBench';

export interface FitCut extends FitSample {
  readonly session: string;
  /** Index of the first message after the prefix. */
  readonly cut: number;
  /** For each block, the tokens that names add to its marker. */
  readonly names: readonly number[];
  /** For each block, true if it directly follows the previous one. */
  readonly follows: readonly boolean[];
  /** The blocks, as the guard for recent results sees them. */
  readonly guarded: readonly BlockToGuard[];
  /** The agent's texts that may be removed, oldest first. */
  readonly words: readonly Pick<AgentTextsOfMessage, 'gain' | 'textAfter'>[];
  /** Number of o200k tokens of the prefix, before and after Lossless. */
  readonly before: number;
  readonly afterLossless: number;
  /** For each rule, the o200k tokens that it leaves, and the lines that it loses in each window. */
  readonly rules: readonly { readonly rule: string; readonly tokens: number; readonly lost: readonly number[] }[];
}

/** Loads the sessions in these folders. Default: the corpora. */
export const loadSessions = (folders: readonly string[]): BenchConversation[] =>
  loadAllSessions(
    (text) => {
      console.error(`!! ${text}`);
    },
    ...(folders.length > 0 ? [folders] : []),
  );

/**
 * Makes the cuts of the sessions in these folders.
 * @param cache a file from which cuts are read if it exists, and to which they are written
 *   otherwise, because making them takes long.
 */
export async function cutsFrom(folders: readonly string[], cache: string | undefined): Promise<FitCut[]> {
  if (cache !== undefined && existsSync(cache)) return deserialize(readFileSync(cache)) as FitCut[];
  const sessions = loadSessions(folders);
  const cuts: FitCut[] = [];
  for (const session of sessions) cuts.push(...(await makeFitCuts(session)));
  if (cache !== undefined) writeFileSync(cache, serialize(cuts));
  return cuts;
}

/**
 * Cuts a session at several turns, and returns the cuts after which lines from before are needed.
 */
export async function makeFitCuts({ agent, project, name, messages: all }: BenchConversation): Promise<FitCut[]> {
  const messages = withoutThinking(all);
  const counter = freshCounter();
  const fitCuts: FitCut[] = [];
  for (const { cut } of chooseSessionCuts(messages, { cuts: CUT_SHARES })) {
    const neededLines = listNeededLines(messages, cut);
    if (neededLines.length === 0) continue;
    const prefix = messages.slice(0, cut);
    const blocks = await prefixBlocks(prefix, counter);
    const { draft, candidates, isWanted } = blocks;
    const names = chooseDeclaredNames(candidates, counter);
    const rules = await Promise.all(
      Object.entries(RULES).map(async ([rule, policy]) => {
        const ruleView = await policy(prefix);
        const lineChecker = new NeededLineChecker(ruleView);
        const isLost = neededLines.map(({ line }) => lineChecker.checkLine(line) !== 'verbatim');
        const lostByWindow = TURN_WINDOWS.map(
          (_, at) => neededLines.filter(({ windows }, index) => windows[at] && isLost[index]).length,
        );
        return { rule, tokens: counter.countMessages(ruleView.messages), lost: lostByWindow };
      }),
    );
    fitCuts.push({
      agent,
      project,
      session: `${agent}/${name}`,
      cut,
      ...makeSample(blocks, neededLines),
      names: candidates.map(({ block }) => names.get(block)?.tokens ?? 0),
      follows: findNeighbors(candidates),
      guarded: candidates.map(toGuardedBlock),
      words: collectAgentTexts(draft, isWanted).map(({ gain, textAfter }) => ({ gain, textAfter })),
      before: counter.countMessages(prefix),
      afterLossless: draft.tokens,
      rules,
    });
  }
  return fitCuts;
}

function listNeededLines(messages: BenchConversation['messages'], cut: number): NeededAfterPrefix[] {
  const makeKeys = (lines: readonly NeededLine[]): Set<string> => new Set(lines.map(makeKey));
  const windows = TURN_WINDOWS.map((turns) => findNeededLines(messages, cut, findEnd(messages, cut, turns)));
  const keysByWindow = windows.map(makeKeys);
  const lineByKey = new Map(windows.flat().map((line) => [makeKey(line), line]));
  return [...lineByKey.values()].map((line) => ({ line, windows: keysByWindow.map((set) => set.has(makeKey(line))) }));
}

const makeKey = ({ file, line }: NeededLine): string => `${file}\n${line}`;
