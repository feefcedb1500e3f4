/**
 * Cline 3.x can store results as text after the calls: a header `[read_file for 'a.ts'] Result:`
 * and the output, in the same block or the next. Source: Cline's ToolResultUtils.
 */
import { getBlocks, isText, isToolResult, isToolUse } from '../../core/messages/blocks';
import type { ApiMessage, Block, ToolUseBlock } from '../../core/messages/types';
import { isEnvironmentDetails } from '../../core/messages/environment';
import { parseXmlResultHeader } from '../../core/messages/xmlTools';

export const hasTextResults = (messages: readonly ApiMessage[]): boolean =>
  messages.some((message, index) => convertTextResultsOfMessage(message, messages[index - 1]) !== message);

/** The header stays the first line of a converted result. Other messages are unchanged. */
export const convertTextResults = (messages: readonly ApiMessage[]): readonly ApiMessage[] =>
  messages.map((message, index) => convertTextResultsOfMessage(message, messages[index - 1]));

function convertTextResultsOfMessage(message: ApiMessage, previousMessage: ApiMessage | undefined): ApiMessage {
  if (message.role !== 'user' || previousMessage?.role !== 'assistant') return message;
  const blocks = getBlocks(message);
  const openCalls = findUnansweredCalls(previousMessage, blocks);
  if (openCalls.length === 0) return message;
  const results: Block[] = [];
  const otherBlocks: Block[] = [];
  for (let index = 0; index < blocks.length; index += 1) {
    const block = blocks[index];
    if (!block) break;
    const header = isText(block) ? parseXmlResultHeader(block.text) : undefined;
    const call = header && openCalls.findIndex(({ name }) => matchesToolName(name, header.tool));
    if (!header || call === undefined || call === -1 || !isText(block)) {
      otherBlocks.push(block);
      continue;
    }
    const content: Block[] = [block];
    const output = blocks[index + 1];
    if (header.length === block.text.length && output && isToolOutputText(output)) {
      content.push(output);
      index += 1;
    }
    for (let image = blocks[index + 1]; image?.type === 'image'; image = blocks[index + 1]) {
      content.push(image);
      index += 1;
    }
    const [{ id } = { id: '' }] = openCalls.splice(call, 1);
    results.push({ type: 'tool_result', tool_use_id: id, content });
  }
  return results.length === 0 ? message : { ...message, content: [...results, ...otherBlocks] };
}

function findUnansweredCalls(message: ApiMessage, answers: readonly Block[]): ToolUseBlock[] {
  const answeredIds = new Set(answers.filter(isToolResult).map((block) => block.tool_use_id));
  return getBlocks(message)
    .filter(isToolUse)
    .filter(({ id }) => !answeredIds.has(id));
}

/** A call has the name of its MCP tool, but a header always says `use_mcp_tool`. */
const matchesToolName = (name: string, tool: string): boolean =>
  name === tool || (tool === 'use_mcp_tool' && name.includes('mcp'));

/**
 * The next block is the output, unless it is a header or text that the agent adds to every message.
 */
const isToolOutputText = (block: Block): boolean =>
  isText(block) && !parseXmlResultHeader(block.text) && !isEnvironmentDetails(block.text);
