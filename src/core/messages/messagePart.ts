import { copyWithoutSpareCapacity } from '../keptList';
import { getBlocks, isRecord, isText, isToolResult, isToolUse } from './blocks';
import { listContents, type Content } from './content';
import { listDisplayedResultsInMessage } from './displays';
import { isPersonsAnswer } from './personsAnswers';
import type { ApiMessage } from './types';
import { findXmlCalls, parseXmlResultHeader } from './xmlTools';

export interface PlacedContent extends Content {
  readonly message: number;
}

export interface CallInMessage {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly callMessage: number;
  readonly parameters: readonly PlacedContent[];
  readonly isDisplay?: true;
}

export interface ResultInMessage {
  readonly message: number;
  readonly results: readonly PlacedContent[];
  readonly isError: boolean;
  /** Set by the reader of the agent's format. */
  readonly isUserAnswer: boolean;
}

export interface MessageCallsAndResults {
  readonly index: number;
  readonly calls: readonly { readonly id: string; readonly call: CallInMessage }[];
  readonly xmlCalls: readonly CallInMessage[];
  readonly answers: readonly { readonly id: string; readonly result: ResultInMessage }[];
  readonly xmlAnswers: readonly { readonly tool: string; readonly result: ResultInMessage }[];
  /** Results without a call: the agent shows what the tool would have returned. */
  readonly displays: readonly { readonly call: CallInMessage; readonly result: ResultInMessage }[];
}

/** Views are parsed repeatedly, and few messages change. */
const callsAndResultsCache = new WeakMap<ApiMessage, MessageCallsAndResults>();

export function readCallsAndResults(message: ApiMessage, index: number): MessageCallsAndResults {
  const cachedEntry = callsAndResultsCache.get(message);
  if (cachedEntry?.index === index) return cachedEntry;
  const contentsByBlock = groupContentsByBlock(message, index);
  const isCaller = message.role === 'assistant';
  const callsAndResults: MessageCallsAndResults = {
    index,
    calls: copyWithoutSpareCapacity(isCaller ? listNativeCalls(message, index, contentsByBlock) : []),
    xmlCalls: copyWithoutSpareCapacity(isCaller ? listXmlCalls(message, index, contentsByBlock) : []),
    answers: copyWithoutSpareCapacity(
      message.role === 'user' ? listNativeResults(message, index, contentsByBlock) : [],
    ),
    xmlAnswers: copyWithoutSpareCapacity(
      message.role === 'user' ? listXmlAnswers(message, index, contentsByBlock) : [],
    ),
    displays: copyWithoutSpareCapacity(listDisplayedResultsWithPlace(message, index, contentsByBlock)),
  };
  callsAndResultsCache.set(message, callsAndResults);
  return callsAndResults;
}

/**
 * Contents by the index or key of their block; the key is undefined if the message's content is a
 * string.
 */
type ContentsByBlock = ReadonlyMap<string | number | undefined, readonly PlacedContent[]>;

function groupContentsByBlock(message: ApiMessage, index: number): ContentsByBlock {
  const contentsByBlock = new Map<string | number | undefined, PlacedContent[]>();
  for (const content of listContents(message)) {
    const { type, path, start, end, text } = content;
    const placedContent: PlacedContent = { type, path, start, end, text, message: index };
    const contentsOfBlock = contentsByBlock.get(content.path[1]);
    if (contentsOfBlock) contentsOfBlock.push(placedContent);
    else contentsByBlock.set(content.path[1], [placedContent]);
  }
  return contentsByBlock;
}

/** Prefixes with which agents mark failed calls; most agents also set a field. */
const FAILED_RESULT = /^(?:<error>|Error:|The tool execution failed|Tool .{1,40} was not executed)/;

const doesAnyResultReportFailure = (results: readonly PlacedContent[]): boolean =>
  results.some(({ text }) => FAILED_RESULT.test(text));

const listNativeCalls = (
  message: ApiMessage,
  index: number,
  contentsByBlock: ContentsByBlock,
): MessageCallsAndResults['calls'] =>
  getBlocks(message).flatMap((block, blockIndex) => {
    if (!isToolUse(block)) return [];
    const input = isRecord(block.input) ? block.input : {};
    return [
      {
        id: block.id,
        call: {
          tool: block.name,
          input,
          callMessage: index,
          parameters: copyWithoutSpareCapacity(contentsByBlock.get(blockIndex) ?? []),
        },
      },
    ];
  });

const listNativeResults = (
  message: ApiMessage,
  index: number,
  contentsByBlock: ContentsByBlock,
): MessageCallsAndResults['answers'] =>
  getBlocks(message).flatMap((block, blockIndex) => {
    if (!isToolResult(block)) return [];
    const results = copyWithoutSpareCapacity(contentsByBlock.get(blockIndex) ?? []);
    const isError = block.is_error === true || doesAnyResultReportFailure(results);
    return [
      { id: block.tool_use_id, result: { message: index, results, isError, isUserAnswer: isPersonsAnswer(block) } },
    ];
  });

const listTextsWithBlock = (message: ApiMessage): { text: string; at: number | undefined }[] =>
  typeof message.content === 'string'
    ? [{ text: message.content, at: undefined }]
    : message.content.flatMap((block, at) => (isText(block) ? [{ text: block.text, at }] : []));

function listXmlCalls(message: ApiMessage, index: number, contentsByBlock: ContentsByBlock): CallInMessage[] {
  return listTextsWithBlock(message).flatMap(({ text, at }) => {
    const parameters = (contentsByBlock.get(at) ?? []).filter((content) => content.type === 'toolParameters');
    let parameterIndex = 0;
    return findXmlCalls(text).map((call) => {
      const firstParameterIndex = parameterIndex;
      while ((parameters[parameterIndex]?.end ?? Number.POSITIVE_INFINITY) <= call.end) parameterIndex++;
      return {
        tool: call.tool,
        input: Object.fromEntries(call.parameters.map(({ name, start, end }) => [name, text.slice(start, end)])),
        callMessage: index,
        parameters: parameters.slice(firstParameterIndex, parameterIndex),
      };
    });
  });
}

function listXmlAnswers(
  message: ApiMessage,
  index: number,
  contentsByBlock: ContentsByBlock,
): MessageCallsAndResults['xmlAnswers'] {
  let toolOfLastHeader: string | undefined;
  return listTextsWithBlock(message).flatMap(({ text, at }) => {
    const results = (contentsByBlock.get(at) ?? []).filter((content) => content.type === 'toolResults');
    const header = parseXmlResultHeader(text);
    const tool = header?.tool ?? toolOfLastHeader;
    toolOfLastHeader = header?.length === text.length ? header.tool : undefined;
    if (tool === undefined || results.length === 0) return [];
    const isError = doesAnyResultReportFailure(results);
    return [{ tool, result: { message: index, results, isError, isUserAnswer: false } }];
  });
}

const listDisplayedResultsWithPlace = (
  message: ApiMessage,
  index: number,
  contentsByBlock: ContentsByBlock,
): MessageCallsAndResults['displays'] =>
  listDisplayedResultsInMessage(message).map(({ tool, input, block }) => ({
    call: { tool, input, callMessage: index, parameters: copyWithoutSpareCapacity([]), isDisplay: true },
    result: {
      message: index,
      results: copyWithoutSpareCapacity(
        (contentsByBlock.get(block) ?? []).filter(({ type }) => type === 'toolResults'),
      ),
      isError: false,
      isUserAnswer: false,
    },
  }));
