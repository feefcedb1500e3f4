/**
 * Reads request bodies of OpenAI's Responses API, `{model, instructions, input}`, and its answers,
 * `{object: "response", output}`. Source: the API's reference.
 */
import { isRecord } from '../../core/messages/blocks';
import { makeSourceId, getSourceName } from '../conversationId';
import { createNoMessagesError } from '../notes';
import { ConversationReadError } from '../readError';
import { MAX_JSON_DEPTH, isDeeperThan } from '../text/json';
import { type Fields, listIn, readString } from '../text/values';
import { makeTitle } from '../title';
import type { Conversation, ReadOptions, Source } from '../types';
import { toMessages } from './codex/items';
import { ITEM_USE_BY_KIND } from './codex/kinds';
import { noteUnansweredCalls } from './unanswered';

export const isResponsesBody = (value: unknown): value is Fields =>
  isRecord(value) &&
  (typeof value['input'] === 'string' || isItems(value['input']) || isAnswer(value)) &&
  ['model', 'instructions', 'previous_response_id', 'prompt', 'conversation'].some((field) => field in value);

const isAnswer = (value: Fields): boolean => value['object'] === 'response' && isItems(value['output']);

const isItems = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.every(isItem);

const isItem = (item: unknown): boolean => isRecord(item) && ('type' in item || 'role' in item);

/** @throws {ConversationReadError} if there are no messages */
export function readResponses(
  body: Fields,
  source: Source,
  _options: ReadOptions,
  text: string | Uint8Array,
): Conversation {
  const name = getSourceName(source);
  if (isDeeperThan(body, MAX_JSON_DEPTH)) {
    throw new ConversationReadError({
      problem: 'wrong-shape',
      source: name,
      found: 'a request that is nested too deeply',
      expected: `at most ${MAX_JSON_DEPTH} levels of nesting`,
    });
  }
  const { input, instructions, output: _, ...fields } = body;
  const given: readonly unknown[] =
    typeof input === 'string'
      ? [{ role: 'user', content: input }]
      : [...(isItems(input) ? input : []), ...(isAnswer(body) ? listIn(body, 'output') : [])];
  // All input items are sent, whatever their kind.
  const items = given.filter(isRecord).flatMap((item) => {
    const type = readString(item, 'type') ?? 'message';
    return ITEM_USE_BY_KIND[type] === 'declarations' ? [] : [{ ...item, type }];
  });
  const messages = toMessages(items);
  if (messages.length === 0) throw createNoMessagesError(name, 'a Responses request with items in "input"', new Map());
  return {
    id: makeSourceId(source, text),
    format: 'responses',
    title: makeTitle(messages),
    messages,
    notes: [
      ...('previous_response_id' in body && typeof body['previous_response_id'] === 'string'
        ? ['What stands before this request is kept by the vendor (previous_response_id).']
        : []),
      ...noteUnansweredCalls(messages),
    ],
    sidechains: [],
    request: { ...(typeof instructions === 'string' && { system: instructions }), ...fields },
  };
}
