import { listContents } from '../../messages/content';
import type { ToolExchange } from '../../messages/exchanges';
import { isMachineMessage, listTextsWrittenByPerson } from '../../messages/personText';
import { getToolRule, type ToolTable } from '../../messages/tools';
import type { ToolKind } from '../../agents/types';
import type { ApiMessage } from '../../messages/types';

/**
 * `people` are users, `prose` is the agent's latest prose, and `calls` are its latest parameters.
 */
export const WORD_SOURCES = ['people', 'prose', 'calls'] as const;
export type WordSource = (typeof WORD_SOURCES)[number];

/** Weights are at most 1. */
export type WeightedWords = ReadonlyMap<string, number>;

export interface ConversationFocus {
  readonly words: Readonly<Record<WordSource, WeightedWords>>;
  /** True if the user, the plan, a search or the agent's prose named the file. */
  readonly isNamed: (path: string) => boolean;
  /** True if the latest prose or the plan named the file. */
  readonly isNamedRecently: (path: string) => boolean;
  /** True if the output of the latest commands named the file. */
  readonly isInOutput: (path: string) => boolean;
}

export const IDENTIFIER_WORD = /[A-Za-z_$][\w$]{2,}/g;

const WORD_START_CHAR_KIND = 2;
const DIGIT_CHAR_KIND = 1;
const CHAR_KIND_BY_CODE = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[A-Za-z_$]/.test(character) ? WORD_START_CHAR_KIND : /\d/.test(character) ? DIGIT_CHAR_KIND : 0;
});
const getCharKind = (code: number): number =>
  code < CHAR_KIND_BY_CODE.length ? (CHAR_KIND_BY_CODE[code] as number) : 0;

/** Finds what {@link IDENTIFIER_WORD} matches, without creating strings. */
export function forEachWord(text: string, onWord: (start: number, end: number) => void): void {
  for (let offset = 0; offset < text.length; offset++) {
    if (getCharKind(text.charCodeAt(offset)) !== WORD_START_CHAR_KIND) continue;
    const start = offset;
    while (offset < text.length && getCharKind(text.charCodeAt(offset)) > 0) offset++;
    if (offset - start >= MIN_WORD_CHARS) onWord(start, offset);
  }
}
const MIN_WORD_CHARS = 3;

const collectWords = (text: string): Set<string> => new Set(text.match(IDENTIFIER_WORD));

/** Claude Code maintains its plan with one call per task. */
const isPlanTool = (tool: string, kind: ToolKind | undefined): boolean =>
  kind === 'plan' || /^Task(?:Create|Update)$/.test(tool);

/** After so many turns, a use of a word counts half. */
const HALF_LIFE_TURNS = 5;
const MIN_WEIGHT = 0.05;
const RECENT_PROSE_TURNS = 8;

/** @param countTurnsSince turns between a message and the end of the conversation */
export function computeConversationFocus(
  messages: readonly ApiMessage[],
  exchanges: readonly ToolExchange[],
  tools: ToolTable,
  countTurnsSince: (message: number) => number,
): ConversationFocus {
  const weightsBySource = Object.fromEntries(WORD_SOURCES.map((voice) => [voice, new Map<string, number>()])) as Record<
    WordSource,
    Map<string, number>
  >;
  const searchedTexts: string[] = [];
  const recentTexts: string[] = [];
  const outputTexts: string[] = [];
  const addWords = (voice: WordSource, addedWords: ReadonlySet<string>, weight: number): void => {
    const weights = weightsBySource[voice];
    for (const word of addedWords) if ((weights.get(word) ?? 0) < weight) weights.set(word, weight);
  };
  const computeFadedWeight = (message: number): number => 0.5 ** (countTurnsSince(message) / HALF_LIFE_TURNS);
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') {
      if (isMachineMessage(message)) continue;
      for (const { userText } of listTextsWrittenByPerson(message)) {
        searchedTexts.push(userText);
        // Users' words never fade completely.
        addWords('people', collectWords(userText), Math.max(0.5, computeFadedWeight(index)));
      }
      continue;
    }
    for (const content of listContents(message)) {
      if (content.type !== 'messageText') continue;
      searchedTexts.push(content.text);
      if (countTurnsSince(index) <= RECENT_PROSE_TURNS) recentTexts.push(content.text);
      const weight = computeFadedWeight(index);
      if (weight >= MIN_WEIGHT) addWords('prose', collectWords(content.text), weight);
    }
  }
  for (const exchange of exchanges) {
    const { tool, callMessage, parameters } = exchange;
    const kind = getToolRule(tools, exchange)?.kind;
    const isPlan = isPlanTool(tool, kind);
    const weight = computeFadedWeight(callMessage);
    for (const content of parameters) {
      if (isPlan || kind === 'search') searchedTexts.push(content.text);
      if (isPlan && countTurnsSince(callMessage) <= 3 * RECENT_PROSE_TURNS) recentTexts.push(content.text);
      if (weight >= MIN_WEIGHT && !isPlan) addWords('calls', collectWords(content.text), weight);
    }
    if (kind === 'command' && countTurnsSince(callMessage) <= RECENT_PROSE_TURNS)
      outputTexts.push(...exchange.results.map(({ text }) => text));
  }
  return {
    words: weightsBySource,
    isNamed: createNamedPathTest(searchedTexts),
    isNamedRecently: createNamedPathTest(recentTexts),
    isInOutput: createNamedPathTest(outputTexts),
  };
}

function createNamedPathTest(texts: readonly string[]): (path: string) => boolean {
  const isNamedByFileName = new Map<string, boolean>();
  return (path) => {
    const name = path.split(/[\\/]/).at(-1) ?? '';
    const isFileNamed = isNamedByFileName.get(name) ?? (name !== '' && texts.some((text) => text.includes(name)));
    isNamedByFileName.set(name, isFileNamed);
    return isFileNamed;
  };
}
