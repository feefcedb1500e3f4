import { trimList } from '../keptList';
import { getBlocks, isRecord, isText, isToolResult, isToolUse } from './blocks';
import { listContents, type Content } from './content';
import { displaysIn } from './displays';
import { isPersonsAnswer } from './personsAnswers';
import type { ApiMessage } from './types';
import { findXmlCalls, parseXmlResultHeader } from './xmlTools';

export interface PlacedContent extends Content {
  readonly message: number;
}

export interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly callMessage: number;
  readonly parameters: readonly PlacedContent[];
  readonly isDisplay?: true;
}

export interface Result {
  readonly message: number;
  readonly results: readonly PlacedContent[];
  readonly isError: boolean;
  /** Set by the reader of the agent's format. */
  readonly isPersonsAnswer: boolean;
}

export interface MessagePart {
  readonly index: number;
  readonly calls: readonly { readonly id: string; readonly call: Call }[];
  readonly xmlCalls: readonly Call[];
  readonly answers: readonly { readonly id: string; readonly result: Result }[];
  readonly xmlAnswers: readonly { readonly tool: string; readonly result: Result }[];
  /** No call was made; the agent shows what the tool would have returned. */
  readonly displays: readonly { readonly call: Call; readonly result: Result }[];
}

/** Views are parsed repeatedly, and few messages change. */
const partCache = new WeakMap<ApiMessage, MessagePart>();

export function readMessagePart(message: ApiMessage, index: number): MessagePart {
  const before = partCache.get(message);
  if (before?.index === index) return before;
  const byBlock = groupContentsByBlock(message, index);
  const isCaller = message.role === 'assistant';
  const part: MessagePart = {
    index,
    calls: trimList(isCaller ? listNativeCalls(message, index, byBlock) : []),
    xmlCalls: trimList(isCaller ? listXmlCalls(message, index, byBlock) : []),
    answers: trimList(message.role === 'user' ? listNativeResults(message, index, byBlock) : []),
    xmlAnswers: trimList(message.role === 'user' ? listXmlAnswers(message, index, byBlock) : []),
    displays: trimList(listDisplays(message, index, byBlock)),
  };
  partCache.set(message, part);
  return part;
}

/** The key is undefined for string content. */
type ByBlock = ReadonlyMap<string | number | undefined, readonly PlacedContent[]>;

function groupContentsByBlock(message: ApiMessage, index: number): ByBlock {
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

/** Prefixes with which agents mark failed calls; most agents also set a field. */
const FAILED_RESULT = /^(?:<error>|Error:|The tool execution failed|Tool .{1,40} was not executed)/;

const saysFailure = (results: readonly PlacedContent[]): boolean =>
  results.some(({ text }) => FAILED_RESULT.test(text));

const listNativeCalls = (message: ApiMessage, index: number, byBlock: ByBlock): MessagePart['calls'] =>
  getBlocks(message).flatMap((block, at) => {
    if (!isToolUse(block)) return [];
    const input = isRecord(block.input) ? block.input : {};
    return [
      {
        id: block.id,
        call: { tool: block.name, input, callMessage: index, parameters: trimList(byBlock.get(at) ?? []) },
      },
    ];
  });

const listNativeResults = (message: ApiMessage, index: number, byBlock: ByBlock): MessagePart['answers'] =>
  getBlocks(message).flatMap((block, at) => {
    if (!isToolResult(block)) return [];
    const results = trimList(byBlock.get(at) ?? []);
    const isError = block.is_error === true || saysFailure(results);
    return [
      { id: block.tool_use_id, result: { message: index, results, isError, isPersonsAnswer: isPersonsAnswer(block) } },
    ];
  });

const listTexts = (message: ApiMessage): { text: string; at: number | undefined }[] =>
  typeof message.content === 'string'
    ? [{ text: message.content, at: undefined }]
    : message.content.flatMap((block, at) => (isText(block) ? [{ text: block.text, at }] : []));

function listXmlCalls(message: ApiMessage, index: number, byBlock: ByBlock): Call[] {
  return listTexts(message).flatMap(({ text, at }) => {
    const parameters = (byBlock.get(at) ?? []).filter((content) => content.type === 'toolParameters');
    let next = 0;
    return findXmlCalls(text).map((call) => {
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
    const header = parseXmlResultHeader(text);
    const tool = header?.tool ?? open;
    open = header?.length === text.length ? header.tool : undefined;
    if (tool === undefined || results.length === 0) return [];
    const isError = saysFailure(results);
    return [{ tool, result: { message: index, results, isError, isPersonsAnswer: false } }];
  });
}

const listDisplays = (message: ApiMessage, index: number, byBlock: ByBlock): MessagePart['displays'] =>
  displaysIn(message).map(({ tool, input, block }) => ({
    call: { tool, input, callMessage: index, parameters: trimList([]), isDisplay: true },
    result: {
      message: index,
      results: trimList((byBlock.get(block) ?? []).filter(({ type }) => type === 'toolResults')),
      isError: false,
      isPersonsAnswer: false,
    },
  }));
