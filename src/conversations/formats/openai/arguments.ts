import { isEqual } from '../../../core/isEqual';
import { isRecord } from '../../../core/messages/blocks';
import type { ToolUseBlock } from '../../../core/messages/types';
import { MAX_JSON_DEPTH, isDeeperThan } from '../../text/json';

export type OpenAIRecord = Readonly<Record<string, unknown>>;

/** Text that is not a JSON object goes into `invalidArguments`, where passes and people see it. */
export function parseArguments(text: string): OpenAIRecord {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value) && !isDeeperThan(value, MAX_JSON_DEPTH)) return value;
  } catch {
    // Text that is not JSON is returned below.
  }
  return { invalidArguments: text };
}

/** Returns exactly what the model wrote, unless the input was edited. */
export function renderArguments({ input, rawArguments }: ToolUseBlock): string {
  if (typeof rawArguments === 'string' && isEqual(parseArguments(rawArguments), input)) return rawArguments;
  return JSON.stringify(input);
}
