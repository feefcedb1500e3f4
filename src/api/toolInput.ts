import { isRecord } from '../core/messages/blocks';
import { parseArguments } from '../conversations/formats/openai/arguments';
import type { ApiEvent } from './types';

export const parseToolCall = (id: string, name: string, rawArguments: string): ApiEvent => {
  const input = parseArguments(rawArguments);
  return { type: 'tool_call', id, name, input, rawArguments };
};

export const makeToolCall = (id: string, name: string, input: unknown): ApiEvent => ({
  type: 'tool_call',
  id,
  name,
  input: isRecord(input) ? input : { input },
  rawArguments: JSON.stringify(input ?? {}),
});
