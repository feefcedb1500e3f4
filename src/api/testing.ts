import { inspect } from 'node:util';
import { MessageCounter } from '../core/tokens/messageCounter';
import type { ApiMessage, Block } from '../core/messages/types';
import { isApiError, type ApiError } from './apiError';
import type { ApiEvent } from './types';

/** Counts one token per four characters. */
export const counter = new MessageCounter({ count: (text) => Math.ceil(text.length / 4) });

/** This key must appear only in request headers. */
export const TEST_API_KEY = 'sk-test-RECOGNISABLE-0123456789-key';

export const user = (content: string | readonly Block[]): ApiMessage => ({ role: 'user', content });
export const assistant = (content: string | readonly Block[]): ApiMessage => ({ role: 'assistant', content });
export const text = (words: string): Block => ({ type: 'text', text: words });
export const call = (id: string, input: unknown = {}, name = 'read_file'): Block => ({
  type: 'tool_use',
  id,
  name,
  input,
});
export const result = (id: string, content: string | readonly Block[] = 'done'): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
});

export const READ_FILE_TOOL = {
  name: 'read_file',
  description: 'Reads a file.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
};

/** One pixel. */
export const TINY_PNG_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const imageBlock: Block = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: TINY_PNG_BASE64 },
};

export interface StreamOutcome {
  readonly events: readonly ApiEvent[];
  readonly text: string;
  readonly error: ApiError | undefined;
}

export async function collectOutcome(stream: AsyncIterable<ApiEvent>): Promise<StreamOutcome> {
  const events: ApiEvent[] = [];
  let error: ApiError | undefined;
  try {
    for await (const event of stream) events.push(event);
  } catch (raw) {
    if (!isApiError(raw)) throw raw;
    error = raw;
  }
  return { events, text: events.map((event) => (event.type === 'text' ? event.text : '')).join(''), error };
}

/** Returns everything visible of an error, with causes, stack and hidden fields. */
export const describeError = (error: unknown): string =>
  inspect(error, { depth: 20, showHidden: true, getters: true }) + JSON.stringify(error) + String(error);

export const findEvent = <T extends ApiEvent['type']>(
  events: readonly ApiEvent[],
  type: T,
): Extract<ApiEvent, { type: T }> | undefined =>
  events.findLast((event): event is Extract<ApiEvent, { type: T }> => event.type === type);
