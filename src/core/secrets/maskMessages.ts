import { isRecord } from '../messages/blocks';
import type { ApiMessage } from '../messages/types';
import { maskSecrets, SECRET_MASK } from './maskSecrets';

const maskedMessages = new WeakMap<ApiMessage, ApiMessage>();

/** Mask a message before truncating it, because part of a key is not recognized. */
export function maskMessage(message: ApiMessage): ApiMessage {
  const cachedMessage = maskedMessages.get(message);
  if (cachedMessage) return cachedMessage;
  const content = maskUnknownValue(message.content);
  const maskedMessage =
    content === message.content ? message : { ...message, content: content as ApiMessage['content'] };
  maskedMessages.set(message, maskedMessage);
  return maskedMessage;
}

export const maskValue = <T>(value: T): T => maskUnknownValue(value) as T;

function maskUnknownValue(value: unknown, name?: string): unknown {
  if (typeof value === 'string') return maskString(value, name);
  if (typeof value === 'number') return maskNamedValue(name, String(value)) === SECRET_MASK ? SECRET_MASK : value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const [index, item] of (value as unknown[]).entries()) {
      items.push(maskArgumentAfterOption(value as unknown[], index) ?? maskUnknownValue(item, name));
    }
    return items.some((item, index) => item !== value[index]) ? items : (value as unknown);
  }
  if (!isRecord(value)) return value;
  const entries: (readonly [string, unknown])[] = [];
  for (const [key, item] of Object.entries(value))
    entries.push([key, maskUnknownValue(item, getEntryName(key, value))]);
  return entries.some(([key, item]) => item !== value[key]) ? { ...value, ...Object.fromEntries(entries) } : value;
}

/** Environment variables may also be written as `{"name": "DB_PASSWORD", "value": …}`. */
const getEntryName = (key: string, { name }: Readonly<Record<string, unknown>>): string =>
  key === 'value' && typeof name === 'string' ? name : key;

function maskString(text: string, name: string | undefined): string {
  return maskNamedValue(name, text) ?? maskSecrets(text);
}

const MAX_NAMED_VALUE_CHARS = 4096;

/**
 * Short values in which no secret was found. They are cached because types, IDs and paths recur.
 */
const knownHarmlessTexts = new Set<string>();
const MAX_HARMLESS_TEXTS = 5_000;
const MAX_HARMLESS_TEXT_CHARS = 200;

/**
 * Recognizes secrets by the parameter's name, such as `password`. Returns undefined without a name,
 * or if the value isn't a short line.
 */
function maskNamedValue(name: string | undefined, text: string): string | undefined {
  if (name === undefined || text.length >= MAX_NAMED_VALUE_CHARS || /["\n\r\\]/.test(text)) return undefined;
  const textBefore = `"${name}": "`;
  const namedText = `${textBefore}${text}"`;
  if (knownHarmlessTexts.has(namedText)) return text;
  const maskedText = maskSecrets(text);
  const maskedPair = maskSecrets(`${textBefore}${maskedText}"`);
  if (maskedPair === namedText && maskedPair.length <= MAX_HARMLESS_TEXT_CHARS) {
    if (knownHarmlessTexts.size === MAX_HARMLESS_TEXTS) knownHarmlessTexts.clear();
    knownHarmlessTexts.add(maskedPair);
  }
  return maskedPair.startsWith(textBefore) && maskedPair.endsWith('"')
    ? maskedPair.slice(textBefore.length, -1)
    : maskedText;
}

/** Masks an argument after its option, as in `["curl", "-u", "me:…"]`; undefined if unchanged. */
function maskArgumentAfterOption(values: readonly unknown[], index: number): string | undefined {
  const [program, option, argument] = [values[0], values[index - 1], values[index]];
  if (typeof option !== 'string' || typeof argument !== 'string' || !option.startsWith('-')) return undefined;
  if (option.length + argument.length > MAX_NAMED_VALUE_CHARS || /\s/.test(argument)) return undefined;
  const textBefore =
    index > 1 && typeof program === 'string' && program.length < MAX_NAMED_VALUE_CHARS
      ? `${program} ${option} `
      : `${option} `;
  const maskedPair = maskSecrets(textBefore + argument);
  return maskedPair !== textBefore + argument && maskedPair.startsWith(textBefore)
    ? maskedPair.slice(textBefore.length)
    : undefined;
}
