/**
 * Reads request bodies of OpenAI's Responses API, `{model, instructions, input}`, and its answers,
 * `{object: "response", output}`. Source: the API's reference.
 */
import { isRecord } from '../../core/messages/blocks';
import { makeSourceId, getSourceName } from '../conversationId';
import { createNoMessagesError } from '../notes';
import { ConversationReadError } from '../readError';
import { MAX_JSON_DEPTH, isDeeperThan } from '../text/json';
import { type Fields, readList, readString } from '../text/values';
import { makeConversationTitle } from '../title';
import type { Conversation, ReadOptions, InputSource } from '../types';
import { convertItemsToMessages } from './codex/items';
import { ITEM_USE_IN_PROMPT_BY_KIND } from './codex/kinds';
import { describeUnansweredCalls } from './unanswered';

export const isResponsesBody = (value: unknown): value is Fields =>
  isRecord(value) &&
  (typeof value['input'] === 'string' || isItemList(value['input']) || isResponseObject(value)) &&
  ['model', 'instructions', 'previous_response_id', 'prompt', 'conversation'].some((field) => field in value);

const isResponseObject = (value: Fields): boolean => value['object'] === 'response' && isItemList(value['output']);

const isItemList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.every(isResponsesItem);

const isResponsesItem = (item: unknown): boolean => isRecord(item) && ('type' in item || 'role' in item);

/** @throws {ConversationReadError} if there are no messages */
export function readResponses(
  body: Fields,
  source: InputSource,
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
  const inputItems: readonly unknown[] =
    typeof input === 'string'
      ? [{ role: 'user', content: input }]
      : [...(isItemList(input) ? input : []), ...(isResponseObject(body) ? readList(body, 'output') : [])];
  // All input items are sent, whatever their kind.
  const items = inputItems.filter(isRecord).flatMap((item) => {
    const type = readString(item, 'type') ?? 'message';
    return ITEM_USE_IN_PROMPT_BY_KIND[type] === 'declarations' ? [] : [{ ...item, type }];
  });
  const messages = convertItemsToMessages(items);
  if (messages.length === 0) throw createNoMessagesError(name, 'a Responses request with items in "input"', new Map());
  return {
    id: makeSourceId(source, text),
    format: 'responses',
    title: makeConversationTitle(messages),
    messages,
    notes: [
      ...('previous_response_id' in body && typeof body['previous_response_id'] === 'string'
        ? ['What stands before this request is kept by the vendor (previous_response_id).']
        : []),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
    request: { ...(typeof instructions === 'string' && { system: instructions }), ...fields },
  };
}
