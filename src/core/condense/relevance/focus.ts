/** The present subject of a conversation: the words of its task, its plan, its latest prose, edits and searches. */
import { contentsOf, type Content } from '../../messages/content';
import type { ToolExchange } from '../../messages/exchanges';
import { personText } from '../../messages/personText';
import { ruleFor, type ToolTable } from '../../messages/tools';
import type { ToolKind } from '../../agents/types';
import type { ApiMessage } from '../../messages/types';
import { memoizeByObject } from '../../memoizeByObject';

/** Words with the weight that each use adds up to; what was said long ago weighs less. */
export interface Focus {
  readonly weights: ReadonlyMap<string, number>;
  /** True for a file that a person, the plan, the agent's prose or a search named. */
  readonly names: (path: string) => boolean;
}

const WORD = /[A-Za-z_$][\w$]{2,}/g;

/** The words of a text that may be names. */
export const wordSet = (text: string): Set<string> => new Set(text.match(WORD));

/** Passes look at the same contents again and again. */
const wordsIn = memoizeByObject(({ text }: Content) => wordSet(text));

/** The weight of a word, by where it stands. A person's words never fade. */
const WEIGHT = { person: 3, assistant: 1 } as const;
const CALL_WEIGHT: Readonly<Partial<Record<ToolKind, number>>> = {
  plan: 3,
  search: 2,
  edit: 1,
  write: 1,
  command: 0.3,
};
/** Claude Code keeps its plan with one call per task. */
const isPlan = (tool: string, kind: ToolKind | undefined): boolean =>
  kind === 'plan' || /^Task(?:Create|Update)$/.test(tool);

/** Turns after which a use counts for half. */
const HALF_LIFE = 12;

/** @param turnsSince turns between a message and the conversation's end. */
export function focusOf(
  messages: readonly ApiMessage[],
  exchanges: readonly ToolExchange[],
  tools: ToolTable,
  turnsSince: (message: number) => number,
): Focus {
  const weights = new Map<string, number>();
  const named: string[] = [];
  const add = (words: ReadonlySet<string>, weight: number): void => {
    for (const word of words) weights.set(word, (weights.get(word) ?? 0) + weight);
  };
  const faded = (weight: number, message: number): number => weight * 0.5 ** (turnsSince(message) / HALF_LIFE);
  for (const [index, message] of messages.entries()) {
    for (const content of contentsOf(message)) {
      if (content.type !== 'messageText') continue;
      const isPerson = message.role === 'user';
      const said = isPerson ? personText(content.text) : content.text;
      named.push(said);
      add(isPerson ? wordSet(said) : wordsIn(content), isPerson ? WEIGHT.person : faded(WEIGHT.assistant, index));
    }
  }
  for (const exchange of exchanges) {
    const { tool, callMessage, parameters } = exchange;
    const kind = ruleFor(tools, exchange)?.kind;
    const plans = isPlan(tool, kind);
    const weight = plans ? CALL_WEIGHT.plan : kind && CALL_WEIGHT[kind];
    if (weight === undefined) continue;
    for (const content of parameters) {
      add(wordsIn(content), faded(weight, callMessage));
      if (plans || kind === 'search') named.push(content.text);
    }
  }
  const everything = named.join('\n');
  // Asked for each content of a file, and the text is long.
  const known = new Map<string, boolean>();
  const isNamed = (path: string): boolean => {
    const name = path.split(/[\\/]/).at(-1) ?? '';
    return name !== '' && everything.includes(name);
  };
  return {
    weights,
    names: (path) => {
      const answer = known.get(path) ?? isNamed(path);
      known.set(path, answer);
      return answer;
    },
  };
}
