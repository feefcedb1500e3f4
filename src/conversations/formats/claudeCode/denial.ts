import { claudeCode } from '../../../core/agents/claudeCode';
import { getBlocks, isToolResult, isToolUse } from '../../../core/messages/blocks';
import { markPersonsAnswer } from '../../../core/messages/personsAnswers';
import type { ApiMessage, Block, ToolResultBlock } from '../../../core/messages/types';
import type { Fields } from '../../text/values';

/** The result of a rejected call begins with these words. */
const DENIAL_BEGINNING = "The user doesn't want to ";

/**
 * Finds calls that the user rejected. Since about 2.1.205 `toolDenialKind` names who denied a call.
 * Earlier versions repeat the result in `toolUseResult` after "Error: ". They do the same for MCP
 * errors, whose text is arbitrary, but no error of a built-in tool begins like a denial. Source:
 * sessions of 2.0.76 to 2.1.232.
 */
export class ToolDenialReader {
  private readonly ownCalls = new Set<string>();

  /** Records must be passed in file order. */
  markDenials(message: ApiMessage, record: Fields): ApiMessage {
    for (const block of getBlocks(message)) {
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
    const text = getResultText(block);
    return (
      text.startsWith(DENIAL_BEGINNING) && toolUseResult === `Error: ${text}` && this.ownCalls.has(block.tool_use_id)
    );
  }
}

const getResultText = ({ content }: ToolResultBlock): string => (typeof content === 'string' ? content : '');
