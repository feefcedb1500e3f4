import { getBlocks, isRecord, isText, isToolResult, isToolUse } from '../blocks';
import type { ApiMessage, Block, ToolResultBlock } from '../types';
import { checkToolPairs } from './toolPairs';
import type { BlockPosition, Violation } from './violation';

/** The API allows this many cache breakpoints. */
const MAX_CACHE_MARKS = 4;

export function checkConversation(messages: readonly ApiMessage[]): Violation[] {
  return [
    ...checkFirstMessage(messages),
    ...messages.flatMap(checkMessage),
    ...checkToolPairs(messages),
    ...checkCacheMarks(messages),
  ];
}

function checkFirstMessage(messages: readonly ApiMessage[]): Violation[] {
  const index = messages.findIndex((message) => message.role !== 'system');
  const firstMessage = messages[index];
  return firstMessage && firstMessage.role !== 'user'
    ? [{ rule: 'first-is-user', message: index, detail: `the first message is the ${firstMessage.role}'s` }]
    : [];
}

const isBlank = (text: string): boolean => text.trim() === '';

const LONE_SURROGATE_DETAIL = 'it holds half of a surrogate pair, which is no character';

function checkMessage(message: ApiMessage, index: number, messages: readonly ApiMessage[]): Violation[] {
  if (typeof message.content === 'string') {
    if (!message.content.isWellFormed())
      return [{ rule: 'text-well-formed', message: index, detail: LONE_SURROGATE_DETAIL }];
    return isBlank(message.content) ? [{ rule: 'text-not-blank', message: index, detail: 'the message is blank' }] : [];
  }
  // Only the last assistant message may be empty: a reply to be continued.
  const isLastReply = message.role === 'assistant' && index === messages.length - 1;
  if (message.content.length === 0 && !isLastReply) {
    return [{ rule: 'text-not-blank', message: index, detail: 'the message has no content' }];
  }
  return message.content.flatMap((block, at) => checkBlock(block, index, at));
}

function checkBlock(block: Block, message: number, at: number): Violation[] {
  const place = { message, block: at };
  if (!hasNoLoneSurrogates(block)) return [{ rule: 'text-well-formed', ...place, detail: LONE_SURROGATE_DETAIL }];
  if (isText(block) && isBlank(block.text)) return [{ rule: 'text-not-blank', ...place, detail: 'the text is blank' }];
  if (isToolUse(block) && !isRecord(block.input)) {
    return [{ rule: 'input-is-object', ...place, detail: `the input of ${block.name} is no object` }];
  }
  if (isToolResult(block)) return checkToolResult(block, place);
  return [];
}

/** APIs reject lone surrogates as invalid JSON; tools that cut output produce them. */
function hasNoLoneSurrogates(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return (value as readonly unknown[]).every(hasNoLoneSurrogates);
  return Object.entries(value).every(([key, each]) => key.isWellFormed() && hasNoLoneSurrogates(each));
}

function checkToolResult(block: ToolResultBlock, place: BlockPosition): Violation[] {
  const violations: Violation[] = [];
  const parts = Array.isArray(block.content) ? (block.content as readonly Block[]) : [];
  if (parts.some((part) => isText(part) && isBlank(part.text))) {
    violations.push({ rule: 'text-not-blank', ...place, detail: 'the result holds a blank text' });
  }
  if (block.is_error === true) {
    const onlyText =
      typeof block.content === 'string' ? !isBlank(block.content) : parts.length > 0 && parts.every(isText);
    if (!onlyText)
      violations.push({ rule: 'error-has-text', ...place, detail: 'an error needs a text that says what failed' });
  }
  return violations;
}

function checkCacheMarks(messages: readonly ApiMessage[]): Violation[] {
  let markCount = 0;
  const violations: Violation[] = [];
  messages.forEach((message, index) => {
    getBlocks(message).forEach((block, blockIndex) => {
      const innerBlocks = Array.isArray(block['content']) ? (block['content'] as unknown[]) : [];
      const marksInBlock = [block, ...innerBlocks].filter(
        (part) => isRecord(part) && isRecord(part['cache_control']),
      ).length;
      markCount += marksInBlock;
      if (marksInBlock > 0 && markCount > MAX_CACHE_MARKS) {
        violations.push({
          rule: 'cache-marks',
          message: index,
          block: blockIndex,
          detail: `more than ${MAX_CACHE_MARKS} cache marks`,
        });
      }
    });
  });
  return violations;
}
