import { claudeCode } from '../../../core/agents/claudeCode';
import { blocksOf, isToolResult, isToolUse } from '../../../core/messages/blocks';
import { markPersonsAnswer } from '../../../core/messages/personsAnswers';
import type { ApiMessage, Block, ToolResultBlock } from '../../../core/messages/types';
import type { Fields } from '../../text/values';

/** How Claude Code begins the result of a call that a person sent back. */
const SENT_BACK = "The user doesn't want to ";

/**
 * Finds the calls that a person sent back, often with words. Since about 2.1.205 a record says who denied a call, in `toolDenialKind`
 * (`user-rejected`, `permission-rule`, `automode-blocked`). Earlier ones repeat the result in `toolUseResult`, behind "Error: ". So do they
 * with the error of an MCP server, which says what it likes; of Claude Code's own tools none begins so. Source: real sessions of 2.0.76 to
 * 2.1.232.
 */
export class Denials {
  private readonly ownCalls = new Set<string>();

  /** The message with the results of such calls marked. Takes the records in the order of the file. */
  mark(message: ApiMessage, record: Fields): ApiMessage {
    for (const block of blocksOf(message)) {
      if (isToolUse(block) && Object.hasOwn(claudeCode.tools, block.name.toLowerCase())) this.ownCalls.add(block.id);
    }
    const { content } = message;
    if (typeof content === 'string' || !content.some((block) => this.isDenial(block, record))) return message;
    return {
      ...message,
      content: content.map((block) => (this.isDenial(block, record) ? markPersonsAnswer(block) : block)),
    };
  }

  private isDenial(block: Block, { toolDenialKind, toolUseResult }: Fields): boolean {
    if (!isToolResult(block) || block.is_error !== true) return false;
    if (toolDenialKind !== undefined) return toolDenialKind === 'user-rejected';
    const text = textOf(block);
    return text.startsWith(SENT_BACK) && toolUseResult === `Error: ${text}` && this.ownCalls.has(block.tool_use_id);
  }
}

const textOf = ({ content }: ToolResultBlock): string => (typeof content === 'string' ? content : '');
