import { isRecord } from '../core/messages/blocks';
import { parseArguments } from '../conversations/formats/openai/arguments';
import type { ApiEvent } from './types';

/** A call as the model wrote it. Arguments that are no JSON object are kept as text in `invalidArguments`. */
export const toolCall = (id: string, name: string, rawArguments: string): ApiEvent => {
  const input = parseArguments(rawArguments);
  return { type: 'tool_call', id, name, input, rawArguments };
};

/** A call whose input came as a value. */
export const makeToolCall = (id: string, name: string, input: unknown): ApiEvent => ({
  type: 'tool_call',
  id,
  name,
  input: isRecord(input) ? input : { input },
  rawArguments: JSON.stringify(input ?? {}),
});
