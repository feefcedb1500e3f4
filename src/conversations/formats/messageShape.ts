import { isRecord } from '../../core/messages/blocks';
import type { ApiMessage } from '../../core/messages/types';
import { MAX_JSON_DEPTH, isDeeperThan } from '../text/json';
import { describeValue } from '../readError';

/** Names the field's path (`messages[3].content[0].type`) and what was expected. */
export class MessageShapeError extends Error {
  override readonly name = 'ShapeError';
  readonly found: string;
  constructor(
    readonly path: string,
    value: unknown,
    readonly expected: string,
  ) {
    const foundText = describeValue(value);
    super(`${path}: found ${foundText}, expected ${expected}`);
    this.found = foundText;
  }
}

const MESSAGE_ROLES: readonly unknown[] = ['user', 'assistant', 'system'];

/**
 * Checks only what the types require, so interrupted conversations are accepted.
 * @throws {MessageShapeError}
 */
export function assertMessage(value: unknown, path: string): asserts value is ApiMessage {
  if (!isRecord(value)) throw new MessageShapeError(path, value, 'a message: an object with "role" and "content"');
  if (!MESSAGE_ROLES.includes(value['role'])) {
    throw new MessageShapeError(`${path}.role`, value['role'], '"user", "assistant" or "system"');
  }
  const content = value['content'];
  if (typeof content !== 'string') checkBlocks(content, `${path}.content`, 'a string or an array of blocks');
  // The depth of every field is checked, even unknown ones, since all of them cross the worker
  // boundary.
  if (isDeeperThan(value, MAX_JSON_DEPTH))
    throw new MessageShapeError(path, value, `at most ${MAX_JSON_DEPTH} levels of nesting`);
}

function checkBlocks(content: unknown, path: string, expected: string): void {
  if (!Array.isArray(content)) throw new MessageShapeError(path, content, expected);
  for (const [index, block] of (content as readonly unknown[]).entries()) checkBlock(block, `${path}[${index}]`);
}

function checkBlock(block: unknown, path: string): void {
  if (!isRecord(block)) throw new MessageShapeError(path, block, 'a block: an object with "type"');
  const needString = (field: string): void => {
    if (typeof block[field] !== 'string') throw new MessageShapeError(`${path}.${field}`, block[field], 'a string');
  };
  needString('type');
  switch (block['type']) {
    case 'text':
      needString('text');
      return;
    case 'thinking':
      needString('thinking');
      return;
    case 'tool_use':
      needString('id');
      needString('name');
      return;
    case 'tool_result': {
      needString('tool_use_id');
      const content = block['content'];
      if (content !== undefined && typeof content !== 'string') {
        checkBlocks(content, `${path}.content`, 'a string, an array of blocks or nothing');
      }
      return;
    }
    default:
      return;
  }
}
