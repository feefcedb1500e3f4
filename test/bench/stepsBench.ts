/** Measures how many tokens each step of Lossless removes, in their order. */
import type { BenchConversation } from './corpus';
import { condense, freshCounter, LOSSLESS, LOSSLESS_STRICT } from './measure';
import { percent, table } from './table';

export interface StepsGroup {
  readonly name: string;
  readonly sessions: number;
  readonly tokens: number;
  /** Number of o200k tokens that each step removes. */
  readonly saved: Readonly<Record<string, number>>;
  /** Minimum and maximum share that all steps remove. */
  readonly least: number;
  readonly most: number;
  /** Share that the strict steps remove. */
  readonly strict: number;
}

export async function benchSteps(conversations: readonly BenchConversation[]): Promise<StepsGroup[]> {
  const rows: StepsGroup[] = [];
  for (const [agent, sessions] of Map.groupBy(conversations, (each) => each.agent))
    rows.push(await measure(agent, sessions));
  return rows;
}

async function measure(name: string, conversations: readonly BenchConversation[]): Promise<StepsGroup> {
  const savedByStep: Record<string, number> = {};
  const shares: number[] = [];
  let tokens = 0;
  let savedByStrictSteps = 0;
  for (const { messages } of conversations) {
    const counter = freshCounter();
    const before = counter.countMessages(messages);
    const { steps } = await condense(messages, LOSSLESS, counter);
    for (const step of steps)
      savedByStep[step.name] = (savedByStep[step.name] ?? 0) + step.tokensBefore - step.tokensAfter;
    shares.push(1 - (steps.at(-1)?.tokensAfter ?? before) / before);
    const strictResult = await condense(messages, LOSSLESS_STRICT, counter);
    savedByStrictSteps += before - (strictResult.steps.at(-1)?.tokensAfter ?? before);
    tokens += before;
  }
  return {
    name,
    sessions: conversations.length,
    tokens,
    saved: savedByStep,
    least: Math.min(...shares),
    most: Math.max(...shares),
    strict: savedByStrictSteps / tokens,
  };
}

export function stepsTable(groups: readonly StepsGroup[]): string {
  const names = [...new Set(groups.flatMap(({ saved }) => Object.keys(saved)))];
  const total = ({ saved, tokens }: StepsGroup): number =>
    Object.values(saved).reduce((sum, one) => sum + one, 0) / tokens;
  return table(
    ['step', ...groups.map(({ name }) => name)],
    [
      ['sessions', ...groups.map(({ sessions }) => sessions)],
      ['tokens before', ...groups.map(({ tokens }) => tokens)],
      ...names.map((name) => [name, ...groups.map(({ saved, tokens }) => percent((saved[name] ?? 0) / tokens))]),
      ['all', ...groups.map((group) => percent(total(group)))],
      ['strict only', ...groups.map(({ strict }) => percent(strict))],
      ['least and most', ...groups.map(({ least, most }) => `${percent(least)} to ${percent(most)}`)],
    ],
  );
}
