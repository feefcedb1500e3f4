import { isEqual } from '../../../core/isEqual';
import { isRecord } from '../../../core/messages/blocks';
import type { ToolUseBlock } from '../../../core/messages/types';
import { MAX_JSON_DEPTH, isDeeperThan } from '../../text/json';

export type OpenAIRecord = Readonly<Record<string, unknown>>;

/**
 * Parses a call's `arguments`. A model can write invalid JSON, or JSON that is not an object; such
 * text goes into `invalidArguments`, where passes and people see it.
 */
export function parseArguments(text: string): OpenAIRecord {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value) && !isDeeperThan(value, MAX_JSON_DEPTH)) return value;
  } catch {
    // Not JSON: handled by the field below.
  }
  return { invalidArguments: text };
}

/** The arguments' text: exactly what the model wrote, unless the input was edited. */
export function renderArguments({ input, rawArguments }: ToolUseBlock): string {
  if (typeof rawArguments === 'string' && isEqual(parseArguments(rawArguments), input)) return rawArguments;
  return JSON.stringify(input);
}
