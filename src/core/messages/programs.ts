/**
 * Calls that a program makes, and not the model: the program parses what comes back, and the model never sees it. Sources: Anthropic API
 * guide, "Programmatic tool calling" (`caller: {"type": "code_execution_…"}`, else `direct`; "tool results from programmatic invocations
 * do not count toward your token usage"); OpenAI's SDKs (`caller: {type: "program"}`, on calls and on their outputs).
 */
import { getBlocks, isRecord, isToolResult, isToolUse } from './blocks';
import type { ApiMessage, Block, ToolResultBlock } from './types';

/** A symbol, since it is not part of the message: it survives edits, but is never written to a file nor sent. */
const PROGRAMS_RESULT = Symbol('a program reads this result');

/** The member of a call, or of its result, that says who called; nothing where it says none. */
export const callerIn = ({ caller }: Readonly<Record<string, unknown>>): { readonly caller?: unknown } =>
  caller === undefined ? {} : { caller };

/** Whether a program, and not the model, made a call, or gets a result that names its caller. */
export const isOfProgram = ({ caller }: Block): boolean =>
  isRecord(caller) && typeof caller['type'] === 'string' && caller['type'] !== 'direct';

/** Whether a block is a result, marked by {@link markProgramsResults}, that a program reads: it fills no context. */
export const isProgramsResult = (block: Block): boolean => PROGRAMS_RESULT in block;

/** The messages with the results marked that programs read; messages without any are the same objects. */
export function markProgramsResults(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const programs = new ProgramCalls();
  return messages.map((message) => {
    const results = new Set(
      getBlocks(message).filter((block) => programs.readsResult(block) && !isProgramsResult(block)),
    );
    if (results.size === 0) return message;
    const content = getBlocks(message).map((block) =>
      results.has(block) ? { ...block, [PROGRAMS_RESULT]: true } : block,
    );
    return { ...message, content };
  });
}

/** The calls of a conversation that programs made, learned block by block. */
export class ProgramCalls {
  private readonly ids = new Set<string>();

  /** Takes the next block of the conversation. @returns whether it is a result that a program reads */
  readsResult(block: Block): block is ToolResultBlock {
    if (isToolUse(block)) {
      // Some models use an id again; then it means the last call.
      if (isOfProgram(block)) this.ids.add(block.id);
      else this.ids.delete(block.id);
    }
    return isToolResult(block) && (isOfProgram(block) || this.ids.has(block.tool_use_id));
  }
}
