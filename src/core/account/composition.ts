import { getBlocks, isAnyThinking, isImage, isRecord, isToolResult, REASONING_BLOCK_TYPE } from '../messages/blocks';
import { findIdentifierNames } from '../messages/names';
import { listContents } from '../messages/content';
import { listToolExchanges, type ToolExchange } from '../messages/exchanges';
import { isMachineMessage, listTextsWrittenByPerson } from '../messages/personText';
import { parseCommandCall } from '../messages/commands/commandCalls';
import { DEFAULT_TOOLS, getToolPath, getToolRule, listParameterTexts } from '../messages/tools';
import type { ApiMessage, Block } from '../messages/types';
import { maskSecrets } from '../secrets/maskSecrets';
import { shortenText } from '../shortened';
import type { MessageCounter } from '../tokens/messageCounter';
import type { ConversationRequest } from './replay';
import { MIN_SENDS_COUNTED_OFTEN, type PartKind } from './parts';

/** o200k tokens; content counts each time it was sent. */
export type TokensByPartKind = Readonly<Record<PartKind, number>>;

export interface ReadFileTokens {
  readonly path: string;
  readonly reads: number;
  /** Tokens of the results, each result counted once. */
  readonly tokens: number;
}

export interface UnusedResult {
  readonly tool: string;
  readonly what: string;
  readonly tokens: number;
  /** Number of requests with which the result was sent. */
  readonly sent: number;
}

export interface ToolCalls {
  readonly tool: string;
  readonly calls: number;
}

export interface Composition {
  readonly parts: TokensByPartKind;
  readonly sentOften: number;
  readonly files: readonly ReadFileTokens[];
  readonly unused: readonly UnusedResult[];
}

const MIN_UNUSED_TOKENS = 200;
/** A result with fewer distinctive names does not show whether it was used. */
const MIN_DISTINCTIVE_NAMES = 3;
const MAX_TOP_ENTRIES = 5;
const MAX_SUBJECT_CHARS = 80;

/** @param fixedTokens o200k tokens of each request besides the messages */
export function computeComposition(
  messages: readonly ApiMessage[],
  requests: readonly ConversationRequest[],
  counter: MessageCounter,
  fixedTokens: number,
): Composition {
  const sendCounts = countSendsPerMessage(messages.length, requests);
  const tokensByPart: Record<PartKind, number> = { ...ZERO_TOKENS_BY_PART, fixed: fixedTokens * requests.length };
  let tokensSentOften = fixedTokens * Math.max(0, requests.length - MIN_SENDS_COUNTED_OFTEN);
  const allExchanges = listToolExchanges(messages);
  const exchanges = allExchanges.filter(({ isDisplay }) => !isDisplay);
  const rereads = findRepeatedReads(exchanges);
  const resultKindsByMessage = classifyResults(allExchanges, rereads);
  messages.forEach((message, index) => {
    const sendCount = sendCounts[index] ?? 0;
    if (sendCount === 0) return;
    tokensSentOften += Math.max(0, sendCount - MIN_SENDS_COUNTED_OFTEN) * counter.countMessage(message);
    for (const { kind, tokens } of splitMessageIntoParts(message, index, resultKindsByMessage, counter))
      tokensByPart[kind] += tokens * sendCount;
  });
  return {
    parts: tokensByPart,
    sentOften: tokensSentOften,
    files: listReadFiles(exchanges, counter),
    unused: listUnusedResults(messages, exchanges, sendCounts, counter),
  };
}

const ZERO_TOKENS_BY_PART: TokensByPartKind = {
  people: 0,
  prose: 0,
  thinking: 0,
  calls: 0,
  reads: 0,
  readAgain: 0,
  commands: 0,
  search: 0,
  otherResults: 0,
  images: 0,
  summaries: 0,
  agent: 0,
  fixed: 0,
};

function countSendsPerMessage(count: number, requests: readonly ConversationRequest[]): number[] {
  const sendCounts = new Array<number>(count).fill(0);
  let requestIndex = requests.length - 1;
  let sendCount = 0;
  let firstMessage = Infinity;
  for (let index = count - 1; index >= 0; index--) {
    for (let request = requests[requestIndex]; request && request.answer > index; request = requests[--requestIndex]) {
      // No request after a compaction sent the messages before it.
      if (request.firstMessage !== firstMessage) sendCount = 0;
      firstMessage = request.firstMessage;
      sendCount += 1;
    }
    sendCounts[index] = index >= firstMessage ? sendCount : 0;
  }
  return sendCounts;
}

type ResultKindsByMessage = ReadonlyMap<number, readonly { readonly kind: PartKind; readonly text: string }[]>;

function classifyResults(exchanges: readonly ToolExchange[], rereads: ReadonlySet<ToolExchange>): ResultKindsByMessage {
  const resultKindsByMessage = new Map<number, { kind: PartKind; text: string }[]>();
  for (const exchange of exchanges) {
    if (exchange.resultMessage === undefined) continue;
    const kind = classifyExchange(exchange, rereads);
    const resultKinds = resultKindsByMessage.get(exchange.resultMessage) ?? [];
    resultKindsByMessage.set(exchange.resultMessage, resultKinds);
    for (const { text } of exchange.results) resultKinds.push({ kind, text });
  }
  return resultKindsByMessage;
}

function classifyExchange(exchange: ToolExchange, rereads: ReadonlySet<ToolExchange>): PartKind {
  if (exchange.isDisplay) return 'agent';
  switch (getToolRule(DEFAULT_TOOLS, exchange)?.kind) {
    case 'read':
      return rereads.has(exchange) ? 'readAgain' : 'reads';
    case 'command':
      return 'commands';
    case 'search':
    case 'list':
      return 'search';
    default:
      return 'otherResults';
  }
}

function* splitMessageIntoParts(
  message: ApiMessage,
  index: number,
  results: ResultKindsByMessage,
  counter: MessageCounter,
): Generator<{ readonly kind: PartKind; readonly tokens: number }> {
  if (message['isSummary'] === true || message['isCompactSummary'] === true) {
    yield { kind: 'summaries', tokens: counter.countMessage(message) };
    return;
  }
  for (const { kind, text } of results.get(index) ?? []) yield { kind, tokens: counter.countText(text) };
  const userTextByContent = new Map(
    listTextsWrittenByPerson(message).map(({ content, userText }) => [content, userText]),
  );
  for (const content of listContents(message)) {
    const { type, text } = content;
    if (type === 'toolParameters') yield { kind: 'calls', tokens: counter.countText(text) };
    if (type !== 'messageText') continue;
    if (message.role === 'assistant') yield { kind: 'prose', tokens: counter.countText(text) };
    else if (message.role === 'system' || isMachineMessage(message))
      yield { kind: 'agent', tokens: counter.countText(text) };
    else {
      const userText = userTextByContent.get(content) ?? '';
      const totalTokens = counter.countText(text);
      const userTokens = userText === text ? totalTokens : Math.min(totalTokens, counter.countText(userText));
      yield { kind: 'people', tokens: userTokens };
      yield { kind: 'agent', tokens: totalTokens - userTokens };
    }
  }
  for (const block of getBlocks(message)) {
    if (isAnyThinking(block) || block.type === REASONING_BLOCK_TYPE)
      yield { kind: 'thinking', tokens: counter.countBlock(block) };
    for (const image of listImages(block)) yield { kind: 'images', tokens: counter.countBlock(image) };
  }
}

const listImages = (block: Block): readonly Block[] => {
  if (isImage(block)) return [block];
  if (!isToolResult(block) || !Array.isArray(block.content)) return [];
  return (block.content as readonly Block[]).filter((part) => isRecord(part) && isImage(part));
};

function findRepeatedReads(exchanges: readonly ToolExchange[]): ReadonlySet<ToolExchange> {
  const linesByPath = new Map<string, Set<string>>();
  const rereads = new Set<ToolExchange>();
  for (const exchange of exchanges) {
    const readPath = getReadPath(exchange);
    if (readPath === undefined) continue;
    const lines = exchange.resultText.split('\n').filter((line) => line.trim().length > 3);
    const shownLines = linesByPath.get(readPath);
    if (shownLines && lines.length > 0 && lines.filter((line) => shownLines.has(line)).length * 2 >= lines.length) {
      rereads.add(exchange);
    }
    const knownLines = shownLines ?? new Set<string>();
    for (const line of lines) knownLines.add(line);
    linesByPath.set(readPath, knownLines);
  }
  return rereads;
}

const getReadPath = (exchange: ToolExchange): string | undefined =>
  getToolRule(DEFAULT_TOOLS, exchange)?.kind === 'read' && exchange.results.length > 0 && !exchange.isError
    ? getToolPath(DEFAULT_TOOLS, exchange)
    : undefined;

const countResultTokens = ({ results }: ToolExchange, counter: MessageCounter): number =>
  results.reduce((sum, { text }) => sum + counter.countText(text), 0);

export function sumToolCalls(allCalls: Iterable<ToolCalls>): ToolCalls[] {
  const callsByTool = new Map<string, number>();
  for (const { tool, calls } of allCalls) callsByTool.set(tool, (callsByTool.get(tool) ?? 0) + calls);
  return [...callsByTool].map(([tool, calls]) => ({ tool, calls }));
}

function listReadFiles(exchanges: readonly ToolExchange[], counter: MessageCounter): ReadFileTokens[] {
  const fileByPath = new Map<string, ReadFileTokens>();
  for (const exchange of exchanges) {
    const readPath = getReadPath(exchange);
    if (readPath === undefined) continue;
    const { reads, tokens } = fileByPath.get(readPath) ?? { reads: 0, tokens: 0 };
    fileByPath.set(readPath, {
      path: readPath,
      reads: reads + 1,
      tokens: tokens + countResultTokens(exchange, counter),
    });
  }
  return [...fileByPath.values()]
    .filter(({ reads }) => reads > 1)
    .sort(compareByReads)
    .slice(0, MAX_TOP_ENTRIES);
}

export const compareByReads = (a: ReadFileTokens, b: ReadFileTokens): number =>
  b.reads - a.reads || b.tokens - a.tokens;

/** A result is unused if the model used none of its new names and no later call named its file. */
function listUnusedResults(
  messages: readonly ApiMessage[],
  exchanges: readonly ToolExchange[],
  sendCounts: readonly number[],
  counter: MessageCounter,
): UnusedResult[] {
  const exchangesByMessage = new Map<number, ToolExchange[]>();
  for (const exchange of exchanges) {
    if (exchange.resultMessage === undefined) continue;
    const exchangesOfMessage = exchangesByMessage.get(exchange.resultMessage);
    if (exchangesOfMessage) exchangesOfMessage.push(exchange);
    else exchangesByMessage.set(exchange.resultMessage, [exchange]);
  }
  const exchangeByName = new Map<string, ToolExchange | undefined>();
  const namesByExchange = new Map<ToolExchange, number>();
  const usedExchanges = new Set<ToolExchange>();
  const lastReadByPath = new Map<string, ToolExchange>();
  messages.forEach((message, index) => {
    if (message.role === 'assistant') {
      for (const { text } of listContents(message)) {
        for (const name of findIdentifierNames(text)) {
          const owner = exchangeByName.get(name);
          if (owner) usedExchanges.add(owner);
          else exchangeByName.set(name, undefined);
        }
        const lastReadExchange = lastReadByPath.get(text);
        if (lastReadExchange) usedExchanges.add(lastReadExchange);
      }
      return;
    }
    for (const exchange of exchangesByMessage.get(index) ?? []) {
      let distinctiveNames = 0;
      for (const name of findIdentifierNames(exchange.resultText)) {
        if (exchangeByName.has(name)) continue;
        exchangeByName.set(name, exchange);
        distinctiveNames += 1;
      }
      namesByExchange.set(exchange, distinctiveNames);
      const readPath = getReadPath(exchange);
      if (readPath !== undefined) lastReadByPath.set(readPath, exchange);
    }
    for (const { type, text } of listContents(message)) {
      if (type === 'toolResults') continue;
      for (const name of findIdentifierNames(text)) if (!exchangeByName.has(name)) exchangeByName.set(name, undefined);
    }
  });
  return exchanges
    .flatMap((exchange) => {
      const sendCount = exchange.resultMessage === undefined ? 0 : (sendCounts[exchange.resultMessage] ?? 0);
      if (
        sendCount === 0 ||
        usedExchanges.has(exchange) ||
        (namesByExchange.get(exchange) ?? 0) < MIN_DISTINCTIVE_NAMES
      )
        return [];
      const tokens = countResultTokens(exchange, counter);
      return tokens < MIN_UNUSED_TOKENS ? [] : [{ exchange, tokens, sent: sendCount }];
    })
    .sort((a, b) => b.tokens * b.sent - a.tokens * a.sent)
    .slice(0, MAX_TOP_ENTRIES)
    .map(({ exchange, ...figures }) => ({
      tool: exchange.tool,
      what: describeExchangeBriefly(exchange, exchanges),
      ...figures,
    }));
}

/** Masks before shortening, which could split a secret. */
function describeExchangeBriefly(exchange: ToolExchange, exchanges: readonly ToolExchange[]): string {
  const name =
    getToolPath(DEFAULT_TOOLS, exchange) ??
    getCommandLine(exchange) ??
    findContinuedCommandLine(exchange, exchanges) ??
    '';
  return shortenText(maskSecrets(name).replace(/\s+/g, ' '), MAX_SUBJECT_CHARS);
}

/** The command line, or the program in Codex' code mode. */
const getCommandLine = ({ tool, input }: ToolExchange): string | undefined =>
  parseCommandCall(tool, input)?.line ??
  listParameterTexts(input, getToolRule(DEFAULT_TOOLS, { tool, input })?.command)[0];

/**
 * A call for more output names the running command only by an ID, which an earlier call or its
 * result contains: "session ID 7" and "cell ID 7" (Codex), `shellId` (Copilot CLI), "with ID: 7"
 * (Claude Code). Other outputs contain IDs of other things.
 */
function findContinuedCommandLine(exchange: ToolExchange, exchanges: readonly ToolExchange[]): string | undefined {
  const ids = Object.entries(exchange.input).flatMap(([key, value]) =>
    /id$/i.test(key) && (typeof value === 'string' || typeof value === 'number') ? [String(value)] : [],
  );
  const earlier = exchanges.slice(0, exchanges.indexOf(exchange));
  const startingExchange = earlier.findLast(
    (each) => getCommandLine(each) !== undefined && ids.some((id) => isIdMentioned(id, each)),
  );
  return startingExchange && getCommandLine(startingExchange);
}

const isIdMentioned = (id: string, { input, resultText }: ToolExchange): boolean =>
  Object.values(input).includes(id) ||
  [...resultText.matchAll(/(?:session |cell |shell ?|with )id[^\w\n]{1,4}([\w-]+)/gi)].some(
    ([, named]) => named === id,
  );
