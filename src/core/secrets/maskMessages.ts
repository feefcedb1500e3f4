import { isRecord } from '../messages/blocks';
import { memoizeByObject } from '../memoizeByObject';
import type { ApiMessage } from '../messages/types';
import { maskSecrets, SECRET_MASK } from './maskSecrets';

/**
 * A message with its secrets masked, each string as a whole. What goes to another vendor, or is cut short, is made from this one: a
 * key of which a part was cut off is not recognized any more.
 */
export const maskedMessage = memoizeByObject((message: ApiMessage): ApiMessage => {
  const content = masked(message.content);
  return content === message.content ? message : { ...message, content: content as ApiMessage['content'] };
});

/** The value with its strings masked; the very same value where none holds a secret. */
function masked(value: unknown, name?: string): unknown {
  if (typeof value === 'string') return maskedString(value, name);
  if (Array.isArray(value)) {
    const items = value.map((item) => masked(item));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, masked(item, key)] as const);
  return entries.some(([key, item]) => item !== value[key]) ? { ...value, ...Object.fromEntries(entries) } : value;
}

/** A parameter that is called `password` holds a secret that its text alone does not show. */
function maskedString(text: string, name: string | undefined): string {
  const isShort = name !== undefined && text.length < MAX_NAMED && !/["\s\\]/.test(text);
  return isShort && maskSecrets(`"${name}": "${text}"`) === `"${name}": "${SECRET_MASK}"`
    ? SECRET_MASK
    : maskSecrets(text);
}
const MAX_NAMED = 4096;
