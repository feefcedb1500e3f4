/**
 * Cline's classic histories (3.x) can have calls as the APIs do, and their results as text of the next message: a header
 * `[read_file for 'a.ts'] Result:` and the output, in the same block or the next one. Seen in real histories of 47, 38 and 231 calls
 * without a single `tool_result`; source: Cline's ToolResultUtils.
 */
import { getBlocks, isText, isToolResult, isToolUse } from '../../core/messages/blocks';
import type { ApiMessage, Block, ToolUseBlock } from '../../core/messages/types';
import { isEnvironment } from '../../core/messages/environment';
import { xmlResultHeader } from '../../core/messages/xmlTools';

/** Whether a history has calls whose results stand behind them as text. */
export const hasTextResults = (messages: readonly ApiMessage[]): boolean =>
  messages.some((message, index) => withResults(message, messages[index - 1]) !== message);

/** The messages with such results as results, in front; the header stays their first words. All others stay as they are. */
export const withTextResults = (messages: readonly ApiMessage[]): readonly ApiMessage[] =>
  messages.map((message, index) => withResults(message, messages[index - 1]));

function withResults(message: ApiMessage, before: ApiMessage | undefined): ApiMessage {
  if (message.role !== 'user' || before?.role !== 'assistant') return message;
  const blocks = getBlocks(message);
  const open = unanswered(before, blocks);
  if (open.length === 0) return message;
  const results: Block[] = [];
  const rest: Block[] = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at];
    if (!block) break;
    const header = isText(block) ? xmlResultHeader(block.text) : undefined;
    const call = header && open.findIndex(({ name }) => isNamed(name, header.tool));
    if (!header || call === undefined || call === -1 || !isText(block)) {
      rest.push(block);
      continue;
    }
    const content: Block[] = [block];
    const output = blocks[at + 1];
    if (header.length === block.text.length && output && isOutput(output)) {
      content.push(output);
      at += 1;
    }
    for (let image = blocks[at + 1]; image?.type === 'image'; image = blocks[at + 1]) {
      content.push(image);
      at += 1;
    }
    const [{ id } = { id: '' }] = open.splice(call, 1);
    results.push({ type: 'tool_result', tool_use_id: id, content });
  }
  return results.length === 0 ? message : { ...message, content: [...results, ...rest] };
}

function unanswered(message: ApiMessage, answers: readonly Block[]): ToolUseBlock[] {
  const answered = new Set(answers.filter(isToolResult).map((block) => block.tool_use_id));
  return getBlocks(message)
    .filter(isToolUse)
    .filter(({ id }) => !answered.has(id));
}

/** Tools of MCP servers have names of their own in calls, and one in headers. */
const isNamed = (name: string, tool: string): boolean =>
  name === tool || (tool === 'use_mcp_tool' && name.includes('mcp'));

/** What stands behind a header, if it is no header itself and nothing that the agent adds to each message. */
const isOutput = (block: Block): boolean => isText(block) && !xmlResultHeader(block.text) && !isEnvironment(block.text);
