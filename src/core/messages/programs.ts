/**
 * Calls by a program, which reads the result instead of the model. Sources: Anthropic API guide,
 * "Programmatic tool calling" (`caller`, `direct` if the model calls); OpenAI's SDKs (`caller:
 * {type: "program"}`, on calls and their outputs).
 */
import { getBlocks, isRecord, isToolResult, isToolUse } from './blocks';
import type { ApiMessage, Block, ToolResultBlock } from './types';

const PROGRAM_RESULT_MARK = Symbol('a program reads this result');

export const pickCallerField = ({ caller }: Readonly<Record<string, unknown>>): { readonly caller?: unknown } =>
  caller === undefined ? {} : { caller };

export const isCalledByProgram = ({ caller }: Block): boolean =>
  isRecord(caller) && typeof caller['type'] === 'string' && caller['type'] !== 'direct';

/** Program results use no context. */
export const isResultReadByProgram = (block: Block): boolean => PROGRAM_RESULT_MARK in block;

/** Returns messages without marked results as the same objects. */
export function markResultsReadByPrograms(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const programs = new CallsByPrograms();
  return messages.map((message) => {
    const results = new Set(
      getBlocks(message).filter((block) => programs.isResultOfProgram(block) && !isResultReadByProgram(block)),
    );
    if (results.size === 0) return message;
    const content = getBlocks(message).map((block) =>
      results.has(block) ? { ...block, [PROGRAM_RESULT_MARK]: true } : block,
    );
    return { ...message, content };
  });
}

export class CallsByPrograms {
  private readonly ids = new Set<string>();

  isResultOfProgram(block: Block): block is ToolResultBlock {
    if (isToolUse(block)) {
      // If a model reuses an ID, it refers to the last call.
      if (isCalledByProgram(block)) this.ids.add(block.id);
      else this.ids.delete(block.id);
    }
    return isToolResult(block) && (isCalledByProgram(block) || this.ids.has(block.tool_use_id));
  }
}
