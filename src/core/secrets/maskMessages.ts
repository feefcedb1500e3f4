import { isRecord } from '../messages/blocks';
import type { ApiMessage } from '../messages/types';
import { inOneGo, type Pace, type Steps } from '../pace';
import { masking, maskSecrets, SECRET_MASK } from './maskSecrets';

/** Messages masked before, by message. */
const known = new WeakMap<ApiMessage, ApiMessage>();

/**
 * A message with its secrets masked, each string as a whole. What goes to another vendor, or is cut short, is made from this one: a
 * key of which a part was cut off is not recognized any more.
 */
export const maskedMessage = (message: ApiMessage): ApiMessage => inOneGo(maskingOf(message));

/**
 * {@link maskedMessage} of all, without holding the thread.
 * @throws the reason of the pace's signal where it was aborted.
 */
export async function maskedMessages(messages: readonly ApiMessage[], pace: Pace): Promise<ApiMessage[]> {
  const all: ApiMessage[] = [];
  for (const message of messages) all.push(await pace.through(maskingOf(message)));
  return all;
}

function* maskingOf(message: ApiMessage): Steps<ApiMessage> {
  const before = known.get(message);
  if (before) return before;
  const content = yield* masked(message.content);
  const made = content === message.content ? message : { ...message, content: content as ApiMessage['content'] };
  known.set(message, made);
  return made;
}

/** The value with its strings masked; the very same value where none holds a secret. */
function* masked(value: unknown, name?: string): Steps<unknown> {
  if (typeof value === 'string') return yield* maskedString(value, name);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value as unknown[]) items.push(yield* masked(item));
    return items.some((item, index) => item !== value[index]) ? items : (value as unknown);
  }
  if (!isRecord(value)) return value;
  const entries: (readonly [string, unknown])[] = [];
  for (const [key, item] of Object.entries(value)) entries.push([key, yield* masked(item, key)]);
  return entries.some(([key, item]) => item !== value[key]) ? { ...value, ...Object.fromEntries(entries) } : value;
}

/** A parameter that is called `password` holds a secret that its text alone does not show. */
function* maskedString(text: string, name: string | undefined): Steps<string> {
  const isShort = name !== undefined && text.length < MAX_NAMED && !/["\s\\]/.test(text);
  return isShort && maskSecrets(`"${name}": "${text}"`) === `"${name}": "${SECRET_MASK}"`
    ? SECRET_MASK
    : yield* masking(text);
}
const MAX_NAMED = 4096;
