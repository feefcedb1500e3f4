/** What a conversation is currently about: words of people, recent prose and recent calls. */
import { listContents } from '../../messages/content';
import type { ToolExchange } from '../../messages/exchanges';
import { isMachineMessage, extractPersonText } from '../../messages/personText';
import { ruleFor, type ToolTable } from '../../messages/tools';
import type { ToolKind } from '../../agents/types';
import type { ApiMessage } from '../../messages/types';

/** Who used a word: people, the agent's latest prose, or the parameters of its latest calls. */
export const VOICES = ['people', 'prose', 'calls'] as const;
export type Voice = (typeof VOICES)[number];

/** The current weight of each word that a voice used, at most 1. */
export type Words = ReadonlyMap<string, number>;

export interface Focus {
  readonly words: Readonly<Record<Voice, Words>>;
  /** True if a person, the plan, a search or the agent's prose named the file. */
  readonly isNamed: (path: string) => boolean;
  /** True if the latest prose or the plan names the file. */
  readonly isNamedLately: (path: string) => boolean;
  /** True if the output of the latest commands names the file. */
  readonly isInOutput: (path: string) => boolean;
}

/** Words that may be names. */
export const WORD = /[A-Za-z_$][\w$]{2,}/g;

/** Bit flags of ASCII characters that may begin a word; digits may only continue one. */
const BEGINS = 2;
const DIGIT = 1;
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[A-Za-z_$]/.test(character) ? BEGINS : /\d/.test(character) ? DIGIT : 0;
});
const kindOf = (code: number): number => (code < KINDS.length ? (KINDS[code] as number) : 0);

/** Calls back for each match of {@link WORD}, without creating strings. */
export function forEachWord(text: string, tell: (start: number, end: number) => void): void {
  for (let at = 0; at < text.length; at++) {
    if (kindOf(text.charCodeAt(at)) !== BEGINS) continue;
    const start = at;
    while (at < text.length && kindOf(text.charCodeAt(at)) > 0) at++;
    if (at - start >= MIN_WORD) tell(start, at);
  }
}
const MIN_WORD = 3;

const wordSet = (text: string): Set<string> => new Set(text.match(WORD));

/** Claude Code maintains its plan with one call per task. */
const isPlan = (tool: string, kind: ToolKind | undefined): boolean =>
  kind === 'plan' || /^Task(?:Create|Update)$/.test(tool);

/** Turns after which a use of a word counts half. */
const HALF_LIFE = 5;
/** Uses with less weight are ignored. */
const LEAST = 0.05;
/** Turns for which prose counts as recent. */
const LATELY = 8;

/** @param turnsSince returns the turns between a message and the end of the conversation */
export function computeFocus(
  messages: readonly ApiMessage[],
  exchanges: readonly ToolExchange[],
  tools: ToolTable,
  turnsSince: (message: number) => number,
): Focus {
  const words = Object.fromEntries(VOICES.map((voice) => [voice, new Map<string, number>()])) as Record<
    Voice,
    Map<string, number>
  >;
  const named: string[] = [];
  const namedLately: string[] = [];
  const putOut: string[] = [];
  const add = (voice: Voice, said: ReadonlySet<string>, weight: number): void => {
    const known = words[voice];
    for (const word of said) if ((known.get(word) ?? 0) < weight) known.set(word, weight);
  };
  const fadedAt = (message: number): number => 0.5 ** (turnsSince(message) / HALF_LIFE);
  for (const [index, message] of messages.entries()) {
    for (const content of listContents(message)) {
      if (content.type !== 'messageText') continue;
      if (message.role === 'user') {
        const said = isMachineMessage(message) ? '' : extractPersonText(content.text);
        named.push(said);
        // People's words never fade completely.
        add('people', wordSet(said), Math.max(0.5, fadedAt(index)));
        continue;
      }
      named.push(content.text);
      if (turnsSince(index) <= LATELY) namedLately.push(content.text);
      const weight = fadedAt(index);
      if (weight >= LEAST) add('prose', wordSet(content.text), weight);
    }
  }
  for (const exchange of exchanges) {
    const { tool, callMessage, parameters } = exchange;
    const kind = ruleFor(tools, exchange)?.kind;
    const plans = isPlan(tool, kind);
    const weight = fadedAt(callMessage);
    for (const content of parameters) {
      if (plans || kind === 'search') named.push(content.text);
      if (plans && turnsSince(callMessage) <= 3 * LATELY) namedLately.push(content.text);
      if (weight >= LEAST && !plans) add('calls', wordSet(content.text), weight);
    }
    if (kind === 'command' && turnsSince(callMessage) <= LATELY)
      putOut.push(...exchange.results.map(({ text }) => text));
  }
  return {
    words,
    isNamed: createNameFinder(named),
    isNamedLately: createNameFinder(namedLately),
    isInOutput: createNameFinder(putOut),
  };
}

/** Indexed once, because it is queried for each content of a file and the texts are long. */
function createNameFinder(texts: readonly string[]): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const name = path.split(/[\\/]/).at(-1) ?? '';
    const answer = known.get(name) ?? (name !== '' && texts.some((text) => text.includes(name)));
    known.set(name, answer);
    return answer;
  };
}
