/**
 * The cuts that relevance is fitted on: sessions cut at many places, each prefix after Lossless as blocks with their features, and which of
 * the blocks hold lines that are needed later.
 */
import { Draft } from '../../src/core/condense/draft/draft';
import { runSteps } from '../../src/core/condense/draft/steps';
import { placeKey } from '../../src/core/condense/edits/edits';
import { cutsOf } from '../../src/core/condense/futureNeed/cuts';
import { KeptParts } from '../../src/core/condense/futureNeed/kept';
import { neededLinesOf, type NeededLine } from '../../src/core/condense/futureNeed/neededLater';
import type { ShownLine } from '../../src/core/condense/futureNeed/shownLines';
import { losslessConfigSchema, losslessSteps } from '../../src/core/condense/providers/lossless';
import {
  agentWordsOf,
  candidatesOf,
  type AgentWords,
  type Candidate,
} from '../../src/core/condense/providers/smart/candidates';
import { declaredNames } from '../../src/core/condense/providers/smart/declaredNames';
import type { Item } from '../../src/core/condense/providers/smart/items';
import { DEFAULT_TOOLS } from '../../src/core/messages/tools';
import { inOneGo, Pace } from '../../src/core/pace';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { loadAllSessions, type BenchConversation } from './corpus';
import { freshCounter } from './measure';
import { CUTS, RULES, WINDOWS, endOf, withoutThinking } from './needBench';

/** As File-Aware's pass has it. */
const MIN_TOKENS = 36;

/** A needed line in the prefix after Lossless. */
export interface FitLine {
  /** The blocks that show it, any of which is enough. */
  readonly blocks: readonly number[];
  /** It stands where nothing may be taken out. */
  readonly isSafe: boolean;
  /** By the place of a window in `WINDOWS`, whether it is needed in it. */
  readonly windows: readonly boolean[];
}

export interface FitCut {
  readonly agent: string;
  readonly project: string;
  readonly session: string;
  /** Index of the first message behind the prefix. */
  readonly cut: number;
  readonly features: readonly Float32Array[];
  /** o200k tokens of each block. */
  readonly tokens: readonly number[];
  /** What the name costs that the marker of each block says. */
  readonly names: readonly number[];
  /** For each block, whether the block before it is its neighbour in the same text. */
  readonly follows: readonly boolean[];
  /** The agent's own words that may go, the oldest first. */
  readonly words: readonly Pick<AgentWords, 'gain' | 'textAfter'>[];
  /** o200k tokens of the prefix before and after Lossless. */
  readonly before: number;
  readonly afterLossless: number;
  readonly lines: readonly FitLine[];
  /** The o200k tokens that each rule leaves, and how many lines it loses in each window. */
  readonly rules: readonly { readonly rule: string; readonly tokens: number; readonly lost: readonly number[] }[];
}

/** The sessions of folders; of the corpora where none is given. */
export const sessionsIn = (folders: readonly string[]): BenchConversation[] =>
  loadAllSessions(
    (text) => {
      console.error(`!! ${text}`);
    },
    ...(folders.length > 0 ? [folders] : []),
  );

/** Their cuts. @param cache a file that has them, or gets them, for they take long. */
export async function cutsFrom(folders: readonly string[], cache: string | undefined): Promise<FitCut[]> {
  if (cache !== undefined && existsSync(cache)) return deserialize(readFileSync(cache)) as FitCut[];
  const sessions = sessionsIn(folders);
  const cuts: FitCut[] = [];
  for (const session of sessions) cuts.push(...(await fitCutsOf(session)));
  if (cache !== undefined) writeFileSync(cache, serialize(cuts));
  return cuts;
}

/** The cuts of a session behind which something is needed. */
export async function fitCutsOf({ agent, project, name, messages: all }: BenchConversation): Promise<FitCut[]> {
  const messages = withoutThinking(all);
  const counter = freshCounter();
  const found: FitCut[] = [];
  for (const { cut } of cutsOf(messages, { cuts: CUTS })) {
    const lines = linesAt(messages, cut);
    if (lines.length === 0) continue;
    const prefix = messages.slice(0, cut);
    const draft = new Draft(prefix, counter);
    const before = draft.tokens;
    await runSteps(draft, losslessSteps(losslessConfigSchema.parse({})), {});
    // The newest messages are not thinned.
    const isWanted = ({ message, tokens }: Item): boolean => message < prefix.length - 2 && tokens >= MIN_TOKENS;
    const candidates = await candidatesOf(draft, new Pace(), DEFAULT_TOOLS, isWanted);
    const names = inOneGo(declaredNames(candidates, counter));
    const rules = await Promise.all(
      Object.entries(RULES).map(async ([rule, policy]) => {
        const condensed = await policy(prefix);
        const kept = new KeptParts(prefix, condensed);
        const isLost = lines.map(({ line }) => kept.line(line) !== 'verbatim');
        const lost = WINDOWS.map((_, at) => lines.filter(({ windows }, index) => windows[at] && isLost[index]).length);
        return { rule, tokens: counter.messages(condensed.view), lost };
      }),
    );
    found.push({
      agent,
      project,
      session: `${agent}/${name}`,
      cut,
      features: candidates.map(({ features }) => features),
      tokens: candidates.map(({ block }) => block.tokens),
      names: candidates.map(({ block }) => names.get(block)?.tokens ?? 0),
      follows: candidates.map(({ content, block }, at) => {
        const before = candidates[at - 1];
        return before?.content === content && before.block.index === block.index - 1;
      }),
      words: agentWordsOf(draft, isWanted).map(({ gain, textAfter }) => ({ gain, textAfter })),
      before,
      afterLossless: draft.tokens,
      lines: fitLines(lines, draft, candidates),
      rules,
    });
  }
  return found;
}

interface CutLine {
  readonly line: NeededLine;
  readonly windows: readonly boolean[];
}

function linesAt(messages: BenchConversation['messages'], cut: number): CutLine[] {
  const keys = (lines: readonly NeededLine[]): Set<string> => new Set(lines.map(keyOf));
  const windows = WINDOWS.map((turns) => neededLinesOf(messages, cut, endOf(messages, cut, turns)));
  const sets = windows.map(keys);
  const all = new Map(windows.flat().map((line) => [keyOf(line), line]));
  return [...all.values()].map((line) => ({ line, windows: sets.map((set) => set.has(keyOf(line))) }));
}

const keyOf = ({ file, line }: NeededLine): string => `${file}\n${line}`;

function fitLines(lines: readonly CutLine[], draft: Draft, candidates: readonly Candidate[]): FitLine[] {
  const byPlace = new Map<string, number[]>();
  for (const [index, { content }] of candidates.entries()) {
    const key = placeKey(content);
    byPlace.set(key, [...(byPlace.get(key) ?? []), index]);
  }
  return lines.map(({ line, windows }) => {
    const blocks = new Set<number>();
    let isSafe = false;
    for (const shown of line.shown) {
      const at = inView(draft, shown);
      if (at === undefined) continue;
      const block = byPlace.get(placeKey(shown))?.find((index) => {
        const { content, block: own } = candidates[index] as Candidate;
        return content.start + own.start <= at && at < content.start + own.end;
      });
      if (block === undefined) isSafe = true;
      else blocks.add(block);
    }
    return { blocks: [...blocks], isSafe, windows };
  });
}

/** Where in its string a line stands in the draft's view; undefined where it was taken out. */
function inView(draft: Draft, shown: ShownLine): number | undefined {
  const key = placeKey(shown);
  const state = draft.shown[shown.message]?.find(({ place }) => placeKey(place) === key);
  let shift = 0;
  for (const { start, end, text } of state?.cuts ?? []) {
    if (start < shown.end && end > shown.start) return undefined;
    if (end <= shown.start) shift += text.length - (end - start);
  }
  return shown.start + shift;
}
