import { blocksOf, isRecord, isText, isToolResult, isToolUse } from './blocks';
import { contentsOf, type Content } from './content';
import type { ApiMessage, Place } from './types';
import { xmlCalls, xmlResultHeader } from './xmlTools';

/** A slice of text with its place in the conversation. */
export interface PlacedContent extends Content {
  readonly message: number;
}

/** A tool call together with its result, native or XML-era. */
export interface ToolExchange {
  readonly tool: string;
  /** The parameters; XML-era values are strings. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Index of the assistant's message with the call. */
  readonly callMessage: number;
  readonly parameters: readonly PlacedContent[];
  /** Index of the user's message with the result; undefined while unanswered. */
  readonly resultMessage: number | undefined;
  readonly results: readonly PlacedContent[];
  /** The result's whole text, its parts joined by newlines. */
  readonly resultText: string;
  readonly isError: boolean;
}

export const placeOf = (content: PlacedContent): Place => ({ message: content.message, path: content.path });

interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly callMessage: number;
  readonly parameters: readonly PlacedContent[];
}

interface Result {
  readonly message: number;
  readonly results: readonly PlacedContent[];
  readonly isError: boolean;
}

/** A call that waits for its result. */
interface Pair {
  readonly call: Call;
  result?: Result;
}

/**
 * All tool calls of a conversation with their results, in the order of the calls. The same messages at the same indexes
 * give the very same exchanges.
 */
export function toolExchanges(messages: readonly ApiMessage[]): ToolExchange[] {
  const pairs: Pair[] = [];
  // An id that an imperfect history uses again means its last call; a second answer is nobody's.
  const open = new Map<string, Pair>();
  messages.forEach((message, index) => {
    const { calls, xmlCalls: xml, answers } = partOf(message, index);
    for (const { id, result } of answers) {
      const pair = open.get(id);
      if (pair) pair.result = result;
      open.delete(id);
    }
    for (const { id, call } of calls) {
      const pair: Pair = { call };
      pairs.push(pair);
      open.set(id, pair);
    }
    if (xml.length === 0) return;
    const waiting: Pair[] = xml.map((call) => ({ call }));
    const next = messages[index + 1];
    if (next) answerXml(waiting, partOf(next, index + 1).xmlAnswers);
    pairs.push(...waiting);
  });
  return pairs.map(joined);
}

/** Reads messages at leisure, so that {@link toolExchanges} has little left to do at once. */
export async function readExchanges(
  messages: readonly ApiMessage[],
  pace: { readonly breathe: () => Promise<void> },
): Promise<void> {
  for (const [index, message] of messages.entries()) {
    partOf(message, index);
    await pace.breathe();
  }
}

/** Gives the calls of one message the results in the next one: of each tool in order. */
function answerXml(pairs: readonly Pair[], answers: MessagePart['xmlAnswers']): void {
  const waiting = new Map<string, Pair[]>();
  for (const pair of pairs.toReversed()) {
    const ofTool = waiting.get(pair.call.tool);
    if (ofTool) ofTool.push(pair);
    else waiting.set(pair.call.tool, [pair]);
  }
  for (const { tool, result } of answers) {
    const pair = waiting.get(tool)?.pop();
    if (pair) pair.result = result;
  }
}

interface Joined extends Pair {
  readonly exchange: ToolExchange;
}

/** By call, or by result where the call has another already: a conversation and its view often share one of the two. */
const known = new WeakMap<Call | Result, Joined>();

function joined({ call, result }: Pair): ToolExchange {
  const byCall = known.get(call);
  if (byCall && byCall.result === result) return byCall.exchange;
  const byResult = result && known.get(result);
  if (byResult?.call === call) return byResult.exchange;
  const results = result?.results ?? [];
  const exchange: ToolExchange = {
    ...call,
    resultMessage: result?.message,
    results,
    resultText: results.length === 1 ? (results[0]?.text ?? '') : results.map((part) => part.text).join('\n'),
    isError: result?.isError ?? false,
  };
  known.set(byCall && result ? result : call, { call, ...(result && { result }), exchange });
  return exchange;
}

/** What one message has to do with tools. */
interface MessagePart {
  readonly index: number;
  readonly calls: readonly { readonly id: string; readonly call: Call }[];
  readonly xmlCalls: readonly Call[];
  readonly answers: readonly { readonly id: string; readonly result: Result }[];
  readonly xmlAnswers: readonly { readonly tool: string; readonly result: Result }[];
}

/** By message, with the index that it had: views are read again and again, and few of their messages change. */
const remembered = new WeakMap<ApiMessage, MessagePart>();

function partOf(message: ApiMessage, index: number): MessagePart {
  const before = remembered.get(message);
  if (before?.index === index) return before;
  const byBlock = contentsByBlock(message, index);
  const isCaller = message.role === 'assistant';
  const part: MessagePart = {
    index,
    calls: isCaller ? nativeCalls(message, index, byBlock) : [],
    xmlCalls: isCaller ? xmlCallsOf(message, index, byBlock) : [],
    answers: message.role === 'user' ? nativeAnswers(message, index, byBlock) : [],
    xmlAnswers: message.role === 'user' ? xmlAnswersOf(message, index, byBlock) : [],
  };
  remembered.set(message, part);
  return part;
}

/** A message's contents by the index of their block; string content stands under undefined. */
type ByBlock = ReadonlyMap<string | number | undefined, readonly PlacedContent[]>;

function contentsByBlock(message: ApiMessage, index: number): ByBlock {
  const byBlock = new Map<string | number | undefined, PlacedContent[]>();
  for (const content of contentsOf(message)) {
    const placed = { ...content, message: index };
    const block = byBlock.get(content.path[1]);
    if (block) block.push(placed);
    else byBlock.set(content.path[1], [placed]);
  }
  return byBlock;
}

/** What agents write in front of a result where a call failed; most say so in a field, too. */
const FAILURE = /^(?:<error>|Error:|The tool execution failed|Tool .{1,40} was not executed)/;

const saysFailure = (results: readonly PlacedContent[]): boolean => results.some(({ text }) => FAILURE.test(text));

const nativeCalls = (message: ApiMessage, index: number, byBlock: ByBlock): MessagePart['calls'] =>
  blocksOf(message).flatMap((block, at) => {
    if (!isToolUse(block)) return [];
    const input = isRecord(block.input) ? block.input : {};
    return [{ id: block.id, call: { tool: block.name, input, callMessage: index, parameters: byBlock.get(at) ?? [] } }];
  });

const nativeAnswers = (message: ApiMessage, index: number, byBlock: ByBlock): MessagePart['answers'] =>
  blocksOf(message).flatMap((block, at) => {
    if (!isToolResult(block)) return [];
    const results = byBlock.get(at) ?? [];
    const isError = block.is_error === true || saysFailure(results);
    return [{ id: block.tool_use_id, result: { message: index, results, isError } }];
  });

/** The texts of a message with the index of their block. */
const textsOf = (message: ApiMessage): { text: string; at: number | undefined }[] =>
  typeof message.content === 'string'
    ? [{ text: message.content, at: undefined }]
    : message.content.flatMap((block, at) => (isText(block) ? [{ text: block.text, at }] : []));

function xmlCallsOf(message: ApiMessage, index: number, byBlock: ByBlock): Call[] {
  return textsOf(message).flatMap(({ text, at }) => {
    const parameters = (byBlock.get(at) ?? []).filter((content) => content.type === 'toolParameters');
    let next = 0;
    return xmlCalls(text).map((call) => {
      const from = next;
      while ((parameters[next]?.end ?? Number.POSITIVE_INFINITY) <= call.end) next++;
      return {
        tool: call.tool,
        input: Object.fromEntries(call.parameters.map(({ name, start, end }) => [name, text.slice(start, end)])),
        callMessage: index,
        parameters: parameters.slice(from, next),
      };
    });
  });
}

function xmlAnswersOf(message: ApiMessage, index: number, byBlock: ByBlock): MessagePart['xmlAnswers'] {
  let open: string | undefined;
  return textsOf(message).flatMap(({ text, at }) => {
    const results = (byBlock.get(at) ?? []).filter((content) => content.type === 'toolResults');
    const header = xmlResultHeader(text);
    const tool = header?.tool ?? open;
    open = header?.length === text.length ? header.tool : undefined;
    if (tool === undefined || results.length === 0) return [];
    return [{ tool, result: { message: index, results, isError: saysFailure(results) } }];
  });
}
