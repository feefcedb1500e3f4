import { keptList } from '../keptList';
import { getBlocks, isRecord, isText, isToolResult, isToolUse } from './blocks';
import { listContents, type Content } from './content';
import { displaysIn } from './displays';
import { isPersonsAnswer } from './personsAnswers';
import type { ApiMessage } from './types';
import { xmlCalls, xmlResultHeader } from './xmlTools';

/** A slice of text with its place in the conversation. */
export interface PlacedContent extends Content {
  readonly message: number;
}

/** A tool call without its result. */
export interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly callMessage: number;
  readonly parameters: readonly PlacedContent[];
  /** Nobody called: the agent's program shows what the tool would have given. */
  readonly isDisplay?: true;
}

/** A result that answers a call. */
export interface Result {
  readonly message: number;
  readonly results: readonly PlacedContent[];
  readonly isError: boolean;
  /** The agent's reader says that a person speaks in it. */
  readonly isPersonsAnswer: boolean;
}

/** A message's calls and results. */
export interface MessagePart {
  readonly index: number;
  readonly calls: readonly { readonly id: string; readonly call: Call }[];
  readonly xmlCalls: readonly Call[];
  readonly answers: readonly { readonly id: string; readonly result: Result }[];
  readonly xmlAnswers: readonly { readonly tool: string; readonly result: Result }[];
  /** What the agent's program shows: calls that nobody made, with their results. */
  readonly displays: readonly { readonly call: Call; readonly result: Result }[];
}

/** By message, with the index that it had: views are read again and again, and few of their messages change. */
const remembered = new WeakMap<ApiMessage, MessagePart>();

/** The calls and results of the message at an index. */
export function readMessagePart(message: ApiMessage, index: number): MessagePart {
  const before = remembered.get(message);
  if (before?.index === index) return before;
  const byBlock = contentsByBlock(message, index);
  const isCaller = message.role === 'assistant';
  const part: MessagePart = {
    index,
    calls: keptList(isCaller ? nativeCalls(message, index, byBlock) : []),
    xmlCalls: keptList(isCaller ? listXmlCalls(message, index, byBlock) : []),
    answers: keptList(message.role === 'user' ? nativeAnswers(message, index, byBlock) : []),
    xmlAnswers: keptList(message.role === 'user' ? listXmlAnswers(message, index, byBlock) : []),
    displays: keptList(listDisplays(message, index, byBlock)),
  };
  remembered.set(message, part);
  return part;
}

/** A message's contents by the index of their block; string content stands under undefined. */
type ByBlock = ReadonlyMap<string | number | undefined, readonly PlacedContent[]>;

function contentsByBlock(message: ApiMessage, index: number): ByBlock {
  const byBlock = new Map<string | number | undefined, PlacedContent[]>();
  for (const content of listContents(message)) {
    const { type, path, start, end, text } = content;
    const placed: PlacedContent = { type, path, start, end, text, message: index };
    const block = byBlock.get(content.path[1]);
    if (block) block.push(placed);
    else byBlock.set(content.path[1], [placed]);
  }
  return byBlock;
}

/** Words that agents put in front of a result if a call failed; most mark it in a field, too. */
const FAILURE = /^(?:<error>|Error:|The tool execution failed|Tool .{1,40} was not executed)/;

const saysFailure = (results: readonly PlacedContent[]): boolean => results.some(({ text }) => FAILURE.test(text));

const nativeCalls = (message: ApiMessage, index: number, byBlock: ByBlock): MessagePart['calls'] =>
  getBlocks(message).flatMap((block, at) => {
    if (!isToolUse(block)) return [];
    const input = isRecord(block.input) ? block.input : {};
    return [
      {
        id: block.id,
        call: { tool: block.name, input, callMessage: index, parameters: keptList(byBlock.get(at) ?? []) },
      },
    ];
  });

const nativeAnswers = (message: ApiMessage, index: number, byBlock: ByBlock): MessagePart['answers'] =>
  getBlocks(message).flatMap((block, at) => {
    if (!isToolResult(block)) return [];
    const results = keptList(byBlock.get(at) ?? []);
    const isError = block.is_error === true || saysFailure(results);
    return [
      { id: block.tool_use_id, result: { message: index, results, isError, isPersonsAnswer: isPersonsAnswer(block) } },
    ];
  });

/** The texts of a message with the index of their block. */
const listTexts = (message: ApiMessage): { text: string; at: number | undefined }[] =>
  typeof message.content === 'string'
    ? [{ text: message.content, at: undefined }]
    : message.content.flatMap((block, at) => (isText(block) ? [{ text: block.text, at }] : []));

function listXmlCalls(message: ApiMessage, index: number, byBlock: ByBlock): Call[] {
  return listTexts(message).flatMap(({ text, at }) => {
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

function listXmlAnswers(message: ApiMessage, index: number, byBlock: ByBlock): MessagePart['xmlAnswers'] {
  let open: string | undefined;
  return listTexts(message).flatMap(({ text, at }) => {
    const results = (byBlock.get(at) ?? []).filter((content) => content.type === 'toolResults');
    const header = xmlResultHeader(text);
    const tool = header?.tool ?? open;
    open = header?.length === text.length ? header.tool : undefined;
    if (tool === undefined || results.length === 0) return [];
    const isError = saysFailure(results);
    return [{ tool, result: { message: index, results, isError, isPersonsAnswer: false } }];
  });
}

const listDisplays = (message: ApiMessage, index: number, byBlock: ByBlock): MessagePart['displays'] =>
  displaysIn(message).map(({ tool, input, block }) => ({
    call: { tool, input, callMessage: index, parameters: keptList([]), isDisplay: true },
    result: {
      message: index,
      results: keptList((byBlock.get(block) ?? []).filter(({ type }) => type === 'toolResults')),
      isError: false,
      isPersonsAnswer: false,
    },
  }));
