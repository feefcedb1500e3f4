/**
 * Keeps the model's thinking. VS Code has no parts for it, but vendors want signed or encrypted
 * thinking back unchanged. It is kept in memory by the ids of the answer's calls.
 */
import { PHASE_BLOCK } from '../api/openaiBlocks';
import type { ApiEvent, ApiHandler, ThinkingScope } from '../api/types';
import { isToolResult, isToolUse, toBlocks } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import { findTurnStart } from '../core/messages/task';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { findFamily } from '../core/vendors/families';
import { sanitizeId } from './tidyMessages';
import { LruMap } from '../core/lruMap';

/** A block and its position in the visible answer. */
export interface PositionedBlock {
  readonly block: Block;
  /** True if the answer's text precedes the thinking. */
  readonly afterText: boolean;
  /** Number of the answer's calls that precede the thinking. */
  readonly afterCalls: number;
}

interface Answer {
  /** Key of the model; signatures are only valid for it. */
  readonly model: string;
  readonly calls: readonly string[];
  readonly blocks: readonly PositionedBlock[];
  /** Tokens of the thinking as reported by the vendor, in the model's tokens. */
  readonly tokens: number | undefined;
}

export interface ModelKey {
  readonly key: string;
  /** The model's tokens per o200k token; default 1. */
  readonly tokenFactor?: number;
}

/** Maximum answers kept; each may take several kilobytes. */
const MAX_KEPT_ANSWERS = 2_000;

/** Kept blocks by model and call. The oldest answers are dropped first. */
export class KeptThinking {
  /** By the answer's first call. */
  private readonly answers = new LruMap<string, Answer>(MAX_KEPT_ANSWERS);
  /** How much earlier thinking each model reads again, by model key. */
  private readonly scopes = new Map<string, ThinkingScope>();

  /** Answers without a call are not kept: no vendor wants their thinking back. */
  keepBlocks(model: string, calls: readonly string[], blocks: readonly PositionedBlock[], tokens?: number): void {
    const [first] = calls;
    if (first === undefined || blocks.length === 0) return;
    const key = createKey(model, first);
    this.answers.set(key, { model, calls: calls.map(sanitizeId), blocks, tokens });
  }

  /** Like {@link reads}, until the model has reported its own. */
  assumeScope(model: string, scope: ThinkingScope): void {
    if (!this.scopes.has(model)) this.scopes.set(model, scope);
  }

  /** Sets which of the returned blocks a model reads. */
  setScope(model: string, scope: ThinkingScope): void {
    this.scopes.set(model, scope);
  }

  /** Inserts the kept blocks. Messages without any keep their identity. */
  restoreBlocks(model: string, messages: readonly ApiMessage[]): ApiMessage[] {
    const start = this.start(model, messages);
    return messages.map((message, index) => {
      const { blocks = [] } = this.findAnswer(model, message) ?? {};
      const kept = index < start ? blocks.filter(isPhase) : blocks;
      return kept.length > 0 ? { ...message, content: insertBlocks(toBlocks(message), kept) } : message;
    });
  }

  /**
   * O200k tokens of what {@link restore} would insert: the vendor's count, else by text. Encrypted
   * thinking is long as text but short in tokens.
   */
  countTokens(model: ModelKey, messages: readonly ApiMessage[], counter: MessageCounter): number {
    const { key, tokenFactor = 1 } = model;
    return messages.slice(this.start(key, messages)).reduce((sum, message) => {
      const answer = this.findAnswer(key, message);
      if (!answer) return sum;
      const { tokens, blocks } = answer;
      return (
        sum +
        (tokens === undefined
          ? blocks.reduce((all, { block }) => all + counter.countBlock(block), 0)
          : tokens / tokenFactor)
      );
    }, 0);
  }

  /**
   * Forgets the thinking that no vendor requires: all but that of the last answer and of the answer that began the open
   * turn, which Anthropic requires. Called on condensing, since that changes the beginning of the request anyway.
   * @param keepsTurn the model requires the thinking of all calls in the open turn
   */
  forgetBefore(model: string, messages: readonly ApiMessage[], keepsTurn = false): void {
    const last = messages.findLastIndex(({ role }) => role === 'assistant');
    const first = findTurnStart(messages) + 1;
    const isForgotten = (index: number): boolean => index < first || (!keepsTurn && index > first && index < last);
    this.forgetBlocks(
      model,
      messages.filter((_, index) => isForgotten(index)),
    );
  }

  /**
   * Forgets the thinking of these messages but not the phases of their texts. @returns whether
   * there was any
   */
  forgetBlocks(model: string, messages: readonly ApiMessage[]): boolean {
    let wasThere = false;
    for (const message of messages) {
      const answer = this.findAnswer(model, message);
      const [first] = getCallIds(message);
      if (!answer || first === undefined) continue;
      const phases = answer.blocks.filter(isPhase);
      if (phases.length === answer.blocks.length) continue;
      wasThere = true;
      const key = createKey(model, first);
      if (phases.length > 0) this.answers.set(key, { ...answer, blocks: phases, tokens: 0 });
      else this.answers.delete(key);
    }
    return wasThere;
  }

  /** Index of the first message whose thinking the model reads again. */
  private start(model: string, messages: readonly ApiMessage[]): number {
    return this.scopes.get(model) === 'current_turn' ? messages.findLastIndex(hasPersonText) + 1 : 0;
  }

  private findAnswer(model: string, message: ApiMessage): Answer | undefined {
    if (message.role !== 'assistant') return undefined;
    const calls = getCallIds(message);
    const [first] = calls;
    const answer = first === undefined ? undefined : this.answers.get(createKey(model, first));
    // Another answer may start with the same id, so all calls must match.
    return answer && answer.calls.length === calls.length && answer.calls.every((id, at) => id === calls[at])
      ? answer
      : undefined;
  }
}

/** Not thinking, but which phase of an answer a text belongs to. */
const isPhase = ({ block }: PositionedBlock): boolean => block.type === PHASE_BLOCK;

const createKey = (model: string, call: string): string => `${model}\n${sanitizeId(call)}`;

const getCallIds = (message: ApiMessage): string[] =>
  toBlocks(message)
    .filter(isToolUse)
    .map(({ id }) => id);

/** The answer's content with the kept blocks inserted. */
function insertBlocks(content: readonly Block[], blocks: readonly PositionedBlock[]): Block[] {
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

/** True if the message is more than results of calls. */
const hasPersonText = (message: ApiMessage): boolean =>
  message.role === 'user' && toBlocks(message).some((block) => !isToolResult(block));

/**
 * Wraps a handler so that its model's thinking is kept and sent back.
 * @param model key of the model; no other gets its thinking
 */
export function wrapWithKeptThinking(handler: ApiHandler, kept: KeptThinking, model: string): ApiHandler {
  const scope = findFamily(handler.modelInfo.id)?.readsThinkingOf;
  if (scope) kept.assumeScope(model, scope);
  return {
    ...handler,
    stream: (request, signal) => {
      const restored = { ...request, messages: kept.restoreBlocks(model, request.messages) };
      return keepWhileStreaming(handler.stream(restored, signal), kept, model);
    },
  };
}

/** Forwards an answer and keeps its thinking after it is complete. */
async function* keepWhileStreaming(
  events: AsyncIterable<ApiEvent>,
  kept: KeptThinking,
  model: string,
): AsyncGenerator<ApiEvent, void> {
  const blocks: PositionedBlock[] = [];
  const calls: string[] = [];
  let hasText = false;
  let tokens: number | undefined;
  for await (const event of events) {
    if (event.type === 'text') hasText = true;
    if (event.type === 'tool_call') calls.push(event.id);
    if (event.type === 'block') blocks.push({ block: event.block, afterText: hasText, afterCalls: calls.length });
    // Some servers report 0 for unknown.
    if (event.type === 'usage') tokens = event.usage.reasoningTokens || undefined;
    if (event.type === 'end') {
      if (event.thinkingScope) kept.setScope(model, event.thinkingScope);
      kept.keepBlocks(model, calls, blocks, tokens);
    }
    yield event;
  }
}
