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

/** All tool calls of a conversation with their results, in the order of the calls. */
export function toolExchanges(messages: readonly ApiMessage[]): ToolExchange[] {
  const exchanges: ToolExchange[] = [];
  const results = nativeResults(messages);
  messages.forEach((message, index) => {
    if (message.role !== 'assistant') return;
    const placed = contentsOf(message).map((content) => ({ ...content, message: index }));
    blocksOf(message).forEach((block, blockIndex) => {
      if (!isToolUse(block)) return;
      const parameters = placed.filter((content) => content.path[1] === blockIndex);
      const input = isRecord(block.input) ? block.input : {};
      exchanges.push(joined({ tool: block.name, input, callMessage: index, parameters }, results.get(block.id)));
    });
    const calls = xmlCallsOf(message, index, placed);
    if (calls.length === 0) return;
    const answers = xmlResults(messages[index + 1], index + 1);
    for (const call of calls) {
      const at = answers.findIndex((answer) => answer.tool === call.tool);
      exchanges.push(joined(call, at < 0 ? undefined : answers.splice(at, 1)[0]));
    }
  });
  return exchanges;
}

function joined(call: Call, result: Result | undefined): ToolExchange {
  const results = result?.results ?? [];
  return {
    ...call,
    resultMessage: result?.message,
    results,
    resultText: results.length === 1 ? (results[0]?.text ?? '') : results.map((part) => part.text).join('\n'),
    isError: result?.isError ?? false,
  };
}

function nativeResults(messages: readonly ApiMessage[]): Map<string, Result> {
  const results = new Map<string, Result>();
  messages.forEach((message, index) => {
    const blocks = blocksOf(message);
    if (!blocks.some(isToolResult)) return;
    const contents = contentsOf(message);
    blocks.forEach((block, blockIndex) => {
      if (!isToolResult(block)) return;
      const own = contents.filter((content) => content.path[1] === blockIndex);
      results.set(block.tool_use_id, {
        message: index,
        results: own.map((content) => ({ ...content, message: index })),
        isError: block.is_error === true,
      });
    });
  });
  return results;
}

function xmlCallsOf(message: ApiMessage, index: number, placed: readonly PlacedContent[]): Call[] {
  const texts =
    typeof message.content === 'string'
      ? [{ text: message.content, at: undefined }]
      : message.content.flatMap((block, at) => (isText(block) ? [{ text: block.text, at }] : []));
  return texts.flatMap(({ text, at }) =>
    xmlCalls(text).map((call) => ({
      tool: call.tool,
      input: Object.fromEntries(call.parameters.map(({ name, start, end }) => [name, text.slice(start, end)])),
      callMessage: index,
      parameters: placed.filter(
        (content) =>
          content.type === 'toolParameters' &&
          content.path[1] === at &&
          content.start >= call.start &&
          content.end <= call.end,
      ),
    })),
  );
}

/** What XML-era agents put in front of the output of a call that failed. */
const XML_ERROR = /^(?:<error>|Error:|The tool execution failed|Tool .{1,40} was not executed)/;

function xmlResults(message: ApiMessage | undefined, index: number): (Result & { readonly tool: string })[] {
  if (message?.role !== 'user') return [];
  const answers: (Result & { readonly tool: string })[] = [];
  let open: string | undefined;
  const contents = contentsOf(message);
  blocksOf(message).forEach((block, blockIndex) => {
    if (!isText(block)) return;
    const own = contents.filter((content) => content.path[1] === blockIndex && content.type === 'toolResults');
    const header = xmlResultHeader(block.text);
    const tool = header?.tool ?? open;
    open = header?.length === block.text.length ? header.tool : undefined;
    if (tool === undefined || own.length === 0) return;
    answers.push({
      tool,
      message: index,
      results: own.map((content) => ({ ...content, message: index })),
      isError: own.some((content) => XML_ERROR.test(content.text)),
    });
  });
  return answers;
}
