/**
 * Blocks of an answer that VS Code's parts have no form for, but that the vendor wants back as they were: thinking with its
 * signature, encrypted reasoning. They are kept here by the ids of the calls that the answer made, for the time that this
 * extension host runs.
 */
import { isApiError } from '../api/apiError';
import { isRecord, isToolUse } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import { plainId } from './tidyMessages';

/** A block and its place among what the answer showed. */
export interface KeptBlock {
  readonly block: Block;
  /** Text of the answer came before it. */
  readonly afterText: boolean;
  /** How many calls of the answer came before it. */
  readonly afterCalls: number;
}

interface Answer {
  /** Key of the model: a signature holds for the model that made it. */
  readonly model: string;
  readonly calls: readonly string[];
  readonly blocks: readonly KeptBlock[];
}

/** Answers that are remembered; each may hold some kilobytes. */
const MAX_ANSWERS = 2_000;

/** The kept blocks by model and call. The oldest answers go first where there are too many. */
export class KeptBlocks {
  /** By the answer's first call. Insertion order is age. */
  private readonly answers = new Map<string, Answer>();

  /** An answer without a call is not kept: no vendor wants its thinking back. */
  keep(model: string, calls: readonly string[], blocks: readonly KeptBlock[]): void {
    const [first] = calls;
    if (first === undefined || blocks.length === 0) return;
    const key = keyOf(model, first);
    this.answers.delete(key);
    this.answers.set(key, { model, calls: calls.map(plainId), blocks });
    const oldest = this.answers.size > MAX_ANSWERS ? this.answers.keys().next() : undefined;
    if (oldest && !oldest.done) this.answers.delete(oldest.value);
  }

  /** The messages with the blocks back in their places. Messages without kept blocks stay the same objects. */
  restore(model: string, messages: readonly ApiMessage[]): ApiMessage[] {
    return messages.map((message) => {
      const kept = this.answerOf(model, message);
      return kept ? { ...message, content: withKept(blocksIn(message), kept.blocks) } : message;
    });
  }

  /** The blocks that {@link restore} would put back, as one message to be counted; undefined where there are none. */
  restored(model: string, messages: readonly ApiMessage[]): ApiMessage | undefined {
    const content = messages.flatMap(
      (message) => this.answerOf(model, message)?.blocks.map(({ block }) => block) ?? [],
    );
    return content.length > 0 ? { role: 'assistant', content } : undefined;
  }

  /**
   * Forgets the blocks of all messages but the last answer: what no vendor demands. Done with a condensation, which
   * changes the beginning of the request anyway.
   */
  forgetBefore(model: string, messages: readonly ApiMessage[]): void {
    const last = messages.findLastIndex(({ role }) => role === 'assistant');
    this.forget(model, messages.slice(0, Math.max(0, last)));
  }

  /** Forgets the blocks of these messages. @returns whether there were any. */
  forget(model: string, messages: readonly ApiMessage[]): boolean {
    const gone = messages.filter((message) => {
      const [first] = callsOf(message);
      return first !== undefined && this.answers.delete(keyOf(model, first));
    });
    return gone.length > 0;
  }

  private answerOf(model: string, message: ApiMessage): Answer | undefined {
    if (message.role !== 'assistant') return undefined;
    const calls = callsOf(message);
    const [first] = calls;
    const answer = first === undefined ? undefined : this.answers.get(keyOf(model, first));
    // The same calls in the same order, else it is another answer that happens to begin with the same id.
    return answer && answer.calls.length === calls.length && answer.calls.every((id, at) => id === calls[at])
      ? answer
      : undefined;
  }
}

/** How vendors say that they don't take a block back that they made, each with the words that it is made for. */
const REFUSALS: readonly RegExp[] = [
  // Anthropic, from Fable 5.1 on, once something before the block has changed (guide, "Preserved thinking"): "The block is
  // bound to a different conversation." Also "Invalid `signature` in `thinking` block".
  /bound to a different conversation|invalid `(?:signature|data)` in `(?:redacted_)?thinking`/i,
  // Anthropic: "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
  /thinking` blocks .*cannot be modified/i,
  // OpenAI: "The encrypted content … could not be verified." (openai/codex#8132)
  /encrypted content .*could not be (?:verified|decrypted)/i,
];

/** Whether a request was refused for the blocks that went back with it: without them it can be sent again. */
export const refusesKeptBlocks = (error: unknown): boolean =>
  isApiError(error) &&
  error.kind === 'invalid-request' &&
  REFUSALS.some((words) => words.test(error.details.vendorMessage ?? ''));

const keyOf = (model: string, call: string): string => `${model}\n${plainId(call)}`;

const blocksIn = ({ content }: ApiMessage): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const callsOf = (message: ApiMessage): string[] =>
  blocksIn(message)
    .filter(isToolUse)
    .map(({ id }) => id);

/** What an answer showed, with the kept blocks back in their places. */
export function withKept(content: readonly Block[], blocks: readonly KeptBlock[]): Block[] {
  const at = (afterCalls: number, afterText: boolean): Block[] =>
    blocks
      .filter((kept) => kept.afterCalls === afterCalls && (afterCalls > 0 || kept.afterText === afterText))
      .map(({ block }) => block);
  const result = at(0, false);
  let calls = 0;
  for (const block of content) {
    if (isToolUse(block)) {
      if (calls === 0) result.push(...at(0, true));
      result.push(block);
      calls++;
      result.push(...at(calls, true));
    } else {
      result.push(block);
    }
  }
  return result;
}

/**
 * True where the request may ask the model to think: an answer whose calls are being answered starts with its thinking, as
 * Anthropic demands it (API guide, "Extended thinking with tool use"). After a restart it may be gone; then the rest of the
 * turn runs without.
 */
export function mayThink(messages: readonly ApiMessage[]): boolean {
  const last = messages.findLast(({ role }) => role !== 'user');
  if (last?.role !== 'assistant' || callsOf(last).length === 0 || !isAnswered(messages)) return true;
  const type = blocksIn(last)[0]?.type;
  return type === 'thinking' || type === 'redacted_thinking';
}

/** True where the last turn of the user begins with the results of calls. */
function isAnswered(messages: readonly ApiMessage[]): boolean {
  const start = messages.findLastIndex(({ role }) => role !== 'user') + 1;
  const first = messages[start];
  return first !== undefined && isRecord(blocksIn(first)[0]) && blocksIn(first)[0]?.type === 'tool_result';
}
