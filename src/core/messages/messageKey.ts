import { hashText, type Hash } from '../hash';
import { getBlocks, isToolResult, isToolUse } from './blocks';
import type { ApiMessage } from './types';

/**
 * Recognizes a message that is sent again: role, hash of its JSON and, after a slash, hash of its
 * call and result IDs.
 */
export type MessageKey = string & { readonly __messageKey: unique symbol };

const CONTENT_HASH_DIGITS = 16;
const CALLS_HASH_DIGITS = 12;

const keyCache = new WeakMap<ApiMessage, MessageKey>();

export function makeMessageKey(message: ApiMessage): MessageKey {
  return keyCache.get(message) ?? computeMessageKey(message, hashText(JSON.stringify(message)));
}

function computeMessageKey(message: ApiMessage, content: Hash): MessageKey {
  const callIds = getBlocks(message).flatMap((block) =>
    isToolUse(block) ? [block.id] : isToolResult(block) ? [block.tool_use_id] : [],
  );
  const callsSuffix = callIds.length === 0 ? '' : `/${hashText(JSON.stringify(callIds)).slice(0, CALLS_HASH_DIGITS)}`;
  const key = `${message.role[0] ?? ''}${content.slice(0, CONTENT_HASH_DIGITS)}${callsSuffix}`;
  keyCache.set(message, key as MessageKey);
  return key as MessageKey;
}

/** Undefined if the message has no calls or results. */
export function getCallsPartOfKey(key: MessageKey): string | undefined {
  const slashIndex = key.indexOf('/');
  return slashIndex < 0 ? undefined : `${key[0] ?? ''}${key.slice(slashIndex)}`;
}
