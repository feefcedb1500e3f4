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

/** All tool calls of a conversation with their results, in the order of the calls. */
export function toolExchanges(messages: readonly ApiMessage[]): ToolExchange[] {
  const pairs: Pair[] = [];
  // An id that an imperfect history uses again means its last call; a second answer is nobody's.
  const open = new Map<string, Pair>();
  messages.forEach((message, index) => {
    if (message.role === 'user') answerNative(open, message, index);
    if (message.role !== 'assistant') return;
    const byBlock = contentsByBlock(message, index);
    blocksOf(message).forEach((block, at) => {
      if (!isToolUse(block)) return;
      const input = isRecord(block.input) ? block.input : {};
      const pair: Pair = { call: { tool: block.name, input, callMessage: index, parameters: byBlock.get(at) ?? [] } };
      pairs.push(pair);
      open.set(block.id, pair);
    });
    const xml: Pair[] = xmlCallsOf(message, index, byBlock).map((call) => ({ call }));
    if (xml.length > 0) answerXml(xml, messages[index + 1], index + 1);
    pairs.push(...xml);
  });
  return pairs.map(joined);
}

function joined({ call, result }: Pair): ToolExchange {
  const results = result?.results ?? [];
  return {
    ...call,
    resultMessage: result?.message,
    results,
    resultText: results.length === 1 ? (results[0]?.text ?? '') : results.map((part) => part.text).join('\n'),
    isError: result?.isError ?? false,
  };
}

/** A message's contents by the index of their block; string content stands under undefined. */
type ByBlock = ReadonlyMap<string | number | undefined, readonly PlacedContent[]>;

/** By message, with the index that it had: views are read again and again, and few of their messages change. */
const remembered = new WeakMap<ApiMessage, { readonly index: number; readonly byBlock: ByBlock }>();

function contentsByBlock(message: ApiMessage, index: number): ByBlock {
  const known = remembered.get(message);
  if (known?.index === index) return known.byBlock;
  const byBlock = new Map<string | number | undefined, PlacedContent[]>();
  for (const content of contentsOf(message)) {
    const placed = { ...content, message: index };
    const block = byBlock.get(content.path[1]);
    if (block) block.push(placed);
    else byBlock.set(content.path[1], [placed]);
  }
  remembered.set(message, { index, byBlock });
  return byBlock;
}

/** What agents write in front of a result where a call failed; most say so in a field, too. */
const FAILURE = /^(?:<error>|Error:|The tool execution failed|Tool .{1,40} was not executed)/;

const saysFailure = (results: readonly PlacedContent[]): boolean => results.some(({ text }) => FAILURE.test(text));

function answerNative(open: Map<string, Pair>, message: ApiMessage, index: number): void {
  const blocks = blocksOf(message);
  if (!blocks.some(isToolResult)) return;
  const byBlock = contentsByBlock(message, index);
  blocks.forEach((block, at) => {
    if (!isToolResult(block)) return;
    const pair = open.get(block.tool_use_id);
    if (!pair) return;
    const results = byBlock.get(at) ?? [];
    pair.result = { message: index, results, isError: block.is_error === true || saysFailure(results) };
    open.delete(block.tool_use_id);
  });
}

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

/** Gives the calls of one message the results in the next one: of each tool in order. */
function answerXml(pairs: readonly Pair[], message: ApiMessage | undefined, index: number): void {
  if (message?.role !== 'user') return;
  const waiting = new Map<string, Pair[]>();
  for (const pair of pairs.toReversed()) {
    const ofTool = waiting.get(pair.call.tool);
    if (ofTool) ofTool.push(pair);
    else waiting.set(pair.call.tool, [pair]);
  }
  const byBlock = contentsByBlock(message, index);
  let open: string | undefined;
  for (const { text, at } of textsOf(message)) {
    const results = (byBlock.get(at) ?? []).filter((content) => content.type === 'toolResults');
    const header = xmlResultHeader(text);
    const tool = header?.tool ?? open;
    open = header?.length === text.length ? header.tool : undefined;
    if (tool === undefined || results.length === 0) continue;
    const pair = waiting.get(tool)?.pop();
    if (pair) pair.result = { message: index, results, isError: saysFailure(results) };
  }
}
