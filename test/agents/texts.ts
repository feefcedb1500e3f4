/**
 * Extracts the texts of a request on any wire, and of a conversation as we read it, to compare
 * them.
 */
import { createHash } from 'node:crypto';
import type { ApiMessage } from '../../src/core/messages/types';
import { isObject, objects, text, type Json } from '../servers/json';

/** A text with its kind and role. */
export interface SentText {
  readonly role: 'user' | 'assistant' | 'system';
  readonly kind: 'text' | 'thinking' | 'call' | 'result' | 'image';
  readonly text: string;
}

/** Serializes JSON with sorted keys, so that equal arguments have equal texts. */
const serializeCanonically = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );

const parsed = (raw: unknown): unknown => {
  try {
    return JSON.parse(text(raw));
  } catch {
    return raw;
  }
};

const makeCallText = (name: unknown, input: unknown): SentText => ({
  role: 'assistant',
  kind: 'call',
  text: `${text(name)} ${serializeCanonically(input ?? {})}`,
});

const makeImageText = (role: SentText['role'], data: unknown): SentText => ({
  role,
  kind: 'image',
  text: createHash('sha256')
    .update(text(data).replace(/^data:[^,]*,/, ''))
    .digest('hex'),
});

const getRole = (role: unknown): SentText['role'] =>
  role === 'assistant' || role === 'model'
    ? 'assistant'
    : role === 'system' || role === 'developer'
      ? 'system'
      : 'user';

/** Splits a message's content, which is a text, or blocks in Anthropic's or OpenAI's form. */
function listContentTexts(role: SentText['role'], content: unknown): SentText[] {
  if (typeof content === 'string') return [{ role, kind: 'text', text: content }];
  return objects(content).flatMap((block): SentText[] => {
    switch (block['type']) {
      case 'text':
      case 'input_text':
      case 'output_text':
        return [{ role, kind: 'text', text: text(block['text']) }];
      case 'thinking':
        return [{ role, kind: 'thinking', text: text(block['thinking']) }];
      case 'tool_use':
        return [makeCallText(block['name'], block['input'])];
      case 'tool_result':
        return listResultTexts(block['content']);
      case 'image': {
        const source = isObject(block['source']) ? block['source'] : {};
        return [makeImageText(role, source['data'] ?? source['url'])];
      }
      // These items exist only in conversations that our readers made.
      case 'openai_reasoning':
        return isObject(block['item']) ? listResponsesItemTexts(block['item']) : [];
      case 'gemini_part':
        return listGeminiTexts({ role, parts: [block['part']] });
      case 'image_url':
        return [makeImageText(role, isObject(block['image_url']) ? block['image_url']['url'] : block['image_url'])];
      case 'input_image':
        return [makeImageText(role, block['image_url'])];
      default:
        return [{ role, kind: 'text', text: serializeCanonically(block) }];
    }
  });
}

const listResultTexts = (content: unknown): SentText[] =>
  listContentTexts('user', joinClineParts(content)).map((one) =>
    one.kind === 'text' ? { ...one, kind: 'result' } : one,
  );

/**
 * Cline sends a list of objects as one JSON text, which our reader splits, so it is joined again.
 */
const joinClineParts = (content: unknown): unknown => {
  const parts = objects(content);
  return parts.length > 0 && parts.every(({ clineJson }) => clineJson === true)
    ? `[${parts.map((part) => text(part['text'])).join(',')}]`
    : content;
};

function listResponsesItemTexts(item: Json): SentText[] {
  switch (item['type']) {
    case 'function_call':
      return [makeCallText(item['name'], parsed(item['arguments']))];
    case 'custom_tool_call':
      return [makeCallText(item['name'], { input: item['input'] })];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return listResultTexts(item['output']);
    case 'reasoning':
      return objects(item['summary']).map((part) => ({
        role: 'assistant',
        kind: 'thinking',
        text: text(part['text']),
      }));
    case 'additional_tools':
      return [];
    case 'message':
    case undefined:
      return listContentTexts(getRole(item['role']), item['content']);
    default:
      return [{ role: 'assistant', kind: 'text', text: serializeCanonically(item) }];
  }
}

const listChatMessageTexts = (message: Json): SentText[] =>
  message['role'] === 'tool'
    ? listResultTexts(message['content'])
    : [
        ...(text(message['reasoning_content']) === ''
          ? []
          : [{ role: 'assistant', kind: 'thinking', text: text(message['reasoning_content']) } as const]),
        ...listContentTexts(getRole(message['role']), message['content']),
        ...objects(message['tool_calls']).map((one) => {
          const calledFunction = isObject(one['function']) ? one['function'] : {};
          return makeCallText(calledFunction['name'], parsed(calledFunction['arguments']));
        }),
      ];

const listGeminiTexts = ({ role, parts }: Json): SentText[] =>
  objects(parts).flatMap((part): SentText[] => {
    if (isObject(part['functionCall']))
      return [makeCallText(part['functionCall']['name'], part['functionCall']['args'])];
    if (isObject(part['functionResponse'])) {
      const { response } = part['functionResponse'];
      const output = isObject(response) ? (response['output'] ?? response['error']) : undefined;
      return listResultTexts(typeof output === 'string' ? output : serializeCanonically(response));
    }
    if (isObject(part['inlineData'])) return [makeImageText(getRole(role), part['inlineData']['data'])];
    return [{ role: getRole(role), kind: part['thought'] === true ? 'thinking' : 'text', text: text(part['text']) }];
  });

const hasText = (one: SentText): boolean => one.text.trim() !== '';

/** Lists the texts of a request, without system prompt and tool declarations. */
export function listRequestTexts({ messages, contents, input }: Json): SentText[] {
  const allTexts =
    contents !== undefined
      ? objects(contents).flatMap(listGeminiTexts)
      : messages !== undefined
        ? objects(messages).flatMap(listChatMessageTexts)
        : objects(input).flatMap(listResponsesItemTexts);
  const firstAfterSystem = allTexts.findIndex(({ role }) => role !== 'system');
  return allTexts.slice(Math.max(0, firstAfterSystem)).filter(hasText);
}

/** Claude Code sends reminders as system messages, without the tags that are in its records. */
const toSystemText = (one: SentText): SentText => ({
  ...one,
  role: 'system',
  text: one.text.replace(/<\/?system-reminder>/g, ''),
});

/** Lists the texts of a conversation, without its system prompt. */
export function listConversationTexts(messages: readonly ApiMessage[]): SentText[] {
  const allTexts = messages
    .flatMap((message) => {
      const texts = listContentTexts(message.role, message.content);
      return message['sentAs'] === 'system' ? texts.map(toSystemText) : texts;
    })
    .filter(hasText);
  const first = allTexts.findIndex(({ role }) => role !== 'system');
  return allTexts.slice(Math.max(0, first));
}

/** A difference between the sent and the read texts. */
export interface Difference {
  readonly what:
    /** The text was sent, but not read. */
    | 'missing'
    /** The text was read, but not sent. */
    | 'extra'
    /** The text is in both, but elsewhere, or with another role or kind. */
    | 'moved'
    /** At the same place, the texts differ. */
    | 'changed'
    /** The texts of both sides are equal when joined, but their kinds differ. */
    | 'cut';
  readonly sent?: SentText;
  readonly read?: SentText;
}

const areEqual = (a: SentText, b: SentText): boolean =>
  a.role === b.role && a.kind === b.kind && normalizeWhitespace(a.text) === normalizeWhitespace(b.text);
const normalizeWhitespace = (value: string): string => value.replace(/\s+/g, ' ').trim();

function findCommonPairs(sent: readonly SentText[], read: readonly SentText[]): [number, number][] {
  const commonLengths = Array.from({ length: sent.length + 1 }, () => Array.from(read, () => 0).concat(0));
  const getLength = (i: number, j: number): number => commonLengths[i]?.[j] ?? 0;
  const isSame = (i: number, j: number): boolean => {
    const [a, b] = [sent[i], read[j]];
    return a !== undefined && b !== undefined && areEqual(a, b);
  };
  for (let i = sent.length - 1; i >= 0; i--)
    for (let j = read.length - 1; j >= 0; j--) {
      const row = commonLengths[i];
      if (row) row[j] = isSame(i, j) ? getLength(i + 1, j + 1) + 1 : Math.max(getLength(i + 1, j), getLength(i, j + 1));
    }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < sent.length && j < read.length;) {
    if (isSame(i, j)) pairs.push([i++, j++]);
    else if (getLength(i + 1, j) >= getLength(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

/** Groups adjacent texts and results of one role; calls and images stay separate. */
function groupByRole(texts: readonly SentText[]): SentText[][] {
  const runs: SentText[][] = [];
  const isJoinable = ({ kind }: SentText): boolean => kind === 'text' || kind === 'result';
  for (const text of texts) {
    const lastText = runs.at(-1)?.at(-1);
    if (lastText && lastText.role === text.role && isJoinable(lastText) && isJoinable(text)) runs.at(-1)?.push(text);
    else runs.push([text]);
  }
  return runs;
}

/**
 * Removes texts that are equal when joined, and reports those whose kinds differ, such as a text
 * that is a result on the other side.
 */
function removeEqualWhenJoined(
  sent: readonly SentText[],
  read: readonly SentText[],
): [SentText[], SentText[], Difference[]] {
  const joinTexts = (run: readonly SentText[]): string => normalizeWhitespace(run.map((one) => one.text).join(' '));
  const readGroups = groupByRole(read);
  const differences: Difference[] = [];
  let from = 0;
  const sentRemaining = groupByRole(sent).filter((run) => {
    const groupIndex = readGroups.findIndex(
      (other, index) => index >= from && other[0]?.role === run[0]?.role && joinTexts(other) === joinTexts(run),
    );
    const [other] = groupIndex < 0 ? [] : readGroups.splice(groupIndex, 1);
    if (!other) return true;
    from = groupIndex;
    const kinds = (texts: readonly SentText[]): string => [...new Set(texts.map(({ kind }) => kind))].join(' ');
    if (kinds(run) !== kinds(other))
      differences.push({ what: 'cut', ...(run[0] && { sent: run[0] }), ...(other[0] && { read: other[0] }) });
    return false;
  });
  return [sentRemaining.flat(), readGroups.flat(), differences];
}

/** Lists all differences in texts, their order and their roles. */
export function compareTexts(sent: readonly SentText[], read: readonly SentText[]): Difference[] {
  const pairs = [...findCommonPairs(sent, read), [sent.length, read.length] as const];
  const missing: SentText[] = [];
  const extra: SentText[] = [];
  const changed: Difference[] = [];
  let [i, j] = [0, 0];
  for (const [nextI, nextJ] of pairs) {
    const [a, b, cuts] = removeEqualWhenJoined(sent.slice(i, nextI), read.slice(j, nextJ));
    changed.push(...cuts);
    const haveSameKinds =
      a.length === b.length && a.every((one, at) => one.role === b[at]?.role && one.kind === b[at].kind);
    if (haveSameKinds)
      changed.push(...a.map((one, at): Difference => ({ what: 'changed', sent: one, ...(b[at] && { read: b[at] }) })));
    else {
      missing.push(...a);
      extra.push(...b);
    }
    [i, j] = [nextI + 1, nextJ + 1];
  }
  const moved = missing.flatMap((one): Difference[] => {
    const extraIndex = extra.findIndex((other) => normalizeWhitespace(other.text) === normalizeWhitespace(one.text));
    if (extraIndex < 0) return [{ what: 'missing', sent: one }];
    const [other] = extra.splice(extraIndex, 1);
    return [{ what: 'moved', sent: one, ...(other && { read: other }) }];
  });
  return [...changed, ...moved, ...extra.map((one): Difference => ({ what: 'extra', read: one }))];
}

const formatText = (one: SentText | undefined): string =>
  one
    ? `${one.role} ${one.kind} ${JSON.stringify(one.text.length > 300 ? `${one.text.slice(0, 200)} … ${one.text.slice(-80)}` : one.text)}`
    : '';

export const formatDifference = ({ what, sent, read }: Difference): string =>
  [`${what}:`, sent && `sent ${formatText(sent)}`, read && `read ${formatText(read)}`].filter(Boolean).join(' ');
