import { hashText, type Hash } from '../hash';
import { getBlocks, isToolResult, isToolUse } from './blocks';
import type { ApiMessage } from './types';

/**
 * The key that recognizes a message when it comes again: the first letter of its role and a hash of its JSON; behind a slash a
 * hash of the ids of its calls and results, where it has any.
 */
export type MessageKey = string & { readonly __messageKey: unique symbol };

/** Hexadecimal digits: 64 bits for what a message says, 48 for its calls. */
const CONTENT_DIGITS = 16;
const CALLS_DIGITS = 12;

const remembered = new WeakMap<ApiMessage, MessageKey>();

/** The key of a message; worked out once per object. */
export function messageKey(message: ApiMessage): MessageKey {
  return remembered.get(message) ?? makeKey(message, hashText(JSON.stringify(message)));
}

function makeKey(message: ApiMessage, content: Hash): MessageKey {
  const ids = getBlocks(message).flatMap((block) =>
    isToolUse(block) ? [block.id] : isToolResult(block) ? [block.tool_use_id] : [],
  );
  const calls = ids.length === 0 ? '' : `/${hashText(JSON.stringify(ids)).slice(0, CALLS_DIGITS)}`;
  const key = `${message.role[0] ?? ''}${content.slice(0, CONTENT_DIGITS)}${calls}`;
  remembered.set(message, key as MessageKey);
  return key as MessageKey;
}

/** The part of a key that names calls and results, with the role; undefined for a message without such. */
export function getCallsPart(key: MessageKey): string | undefined {
  const slash = key.indexOf('/');
  return slash < 0 ? undefined : `${key[0] ?? ''}${key.slice(slash)}`;
}
