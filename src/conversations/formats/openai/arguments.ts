import { isSameJson } from '../../../core/json/rewriteJson';
import { isRecord } from '../../../core/messages/blocks';
import type { ToolUseBlock } from '../../../core/messages/types';
import { MAX_DEPTH, isDeeperThan } from '../../text/json';

/** A message, part or call as OpenAI's API has it. */
export type OpenAIRecord = Readonly<Record<string, unknown>>;

/**
 * A call's `arguments` text as the object that a tool's input has to be. A model can write text that is no JSON, or JSON
 * that is no object: then the text stands in `invalidArguments`, where passes and people see it.
 */
export function parseArguments(text: string): OpenAIRecord {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value) && !isDeeperThan(value, MAX_DEPTH)) return value;
  } catch {
    // No JSON: told by the field below.
  }
  return { invalidArguments: text };
}

/** The text of the arguments: byte for byte what the model wrote, unless the input was edited since. */
export function callArguments({ input, rawArguments }: ToolUseBlock): string {
  if (typeof rawArguments === 'string' && isSameJson(parseArguments(rawArguments), input)) return rawArguments;
  return JSON.stringify(input);
}
