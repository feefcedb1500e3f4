/**
 * Keeps the model's thinking in memory. VS Code has no parts for it, but vendors want signed or
 * encrypted thinking back unchanged.
 */
import { PHASE_BLOCK_TYPE } from '../api/openaiBlocks';
import type { ApiEvent, ApiHandler, ThinkingScope } from '../api/types';
import { isToolResult, isToolUse, toBlocks } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import { findStartOfUnfinishedTurn } from '../core/messages/task';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { findModelFamily } from '../core/vendors/families';
import { sanitizeId } from './tidyMessages';
import { LruMap } from '../core/lruMap';

export interface PositionedBlock {
  readonly block: Block;
  /** True if the block comes after the answer's text. */
  readonly afterText: boolean;
  /** Number of the answer's calls before the block. */
  readonly afterCalls: number;
}

interface AnswerWithThinking {
  /** Key of the model that thought; other models reject the thinking's signatures. */
  readonly model: string;
  readonly calls: readonly string[];
  readonly blocks: readonly PositionedBlock[];
  /** Tokens of the thinking, as reported by the vendor in the model's own tokens. */
  readonly tokens: number | undefined;
}

export interface ThinkingModel {
  readonly key: string;
  /** Model tokens per o200k token; default 1. */
  readonly tokenFactor?: number;
}

/** Limited, because each answer may take several kilobytes. */
const MAX_KEPT_ANSWERS = 2_000;

export class ThinkingStore {
  /** Answers by model and first call. */
  private readonly answerByCall = new LruMap<string, AnswerWithThinking>(MAX_KEPT_ANSWERS);
  /** By model, how much of its earlier thinking the model reads again. */
  private readonly scopeByModel = new Map<string, ThinkingScope>();

  /** Answers without a call are not kept, because no vendor wants their thinking back. */
  keepBlocks(model: string, calls: readonly string[], blocks: readonly PositionedBlock[], tokens?: number): void {
    const [firstCall] = calls;
    if (firstCall === undefined || blocks.length === 0) return;
    const key = createCallKey(model, firstCall);
    this.answerByCall.set(key, { model, calls: calls.map(sanitizeId), blocks, tokens });
  }

  /** Does not replace a scope that the model has reported. */
  setScopeIfUnknown(model: string, scope: ThinkingScope): void {
    if (!this.scopeByModel.has(model)) this.scopeByModel.set(model, scope);
  }

  setScope(model: string, scope: ThinkingScope): void {
    this.scopeByModel.set(model, scope);
  }

  /**
   * Adds the kept blocks to the model's answers. Messages without kept blocks stay the same
   * objects.
   */
  restoreBlocks(model: string, messages: readonly ApiMessage[]): ApiMessage[] {
    const firstUsable = this.getFirstUsableMessage(model, messages);
    return messages.map((message, index) => {
      const { blocks = [] } = this.findAnswer(model, message) ?? {};
      const restorable = index < firstUsable ? blocks.filter(isPhaseBlock) : blocks;
      return restorable.length > 0 ? { ...message, content: insertBlocks(toBlocks(message), restorable) } : message;
    });
  }

  /**
   * Counts o200k tokens. Uses reported tokens, because encrypted thinking is long as text but short
   * in tokens.
   */
  countRestoredTokens(model: ThinkingModel, messages: readonly ApiMessage[], counter: MessageCounter): number {
    const { key, tokenFactor = 1 } = model;
    return messages.slice(this.getFirstUsableMessage(key, messages)).reduce((tokensSoFar, message) => {
      const answer = this.findAnswer(key, message);
      if (!answer) return tokensSoFar;
      const { tokens, blocks } = answer;
      return (
        tokensSoFar +
        (tokens === undefined
          ? blocks.reduce((blockTokens, { block }) => blockTokens + counter.countBlock(block), 0)
          : tokens / tokenFactor)
      );
    }, 0);
  }

  /**
   * Keeps the thinking of the last answer and, because Anthropic requires it, of the first answer
   * in the open turn. Call this on condensing, which changes the beginning of the request anyway.
   * @param keepsTurn true if the model requires all thinking in the open turn
   */
  forgetBlocksBeforeAnswer(model: string, messages: readonly ApiMessage[], keepsTurn = false): void {
    const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
    const turnStart = findStartOfUnfinishedTurn(messages) + 1;
    const isForgotten = (index: number): boolean =>
      index < turnStart || (!keepsTurn && index > turnStart && index < lastAnswer);
    this.forgetBlocks(
      model,
      messages.filter((_, index) => isForgotten(index)),
    );
  }

  /**
   * Forgets the thinking of these messages, but keeps their phase blocks.
   * @returns true if there was any thinking
   */
  forgetBlocks(model: string, messages: readonly ApiMessage[]): boolean {
    let hadBlocks = false;
    for (const message of messages) {
      const answer = this.findAnswer(model, message);
      const [firstCall] = getCallIds(message);
      if (!answer || firstCall === undefined) continue;
      const phases = answer.blocks.filter(isPhaseBlock);
      if (phases.length === answer.blocks.length) continue;
      hadBlocks = true;
      const key = createCallKey(model, firstCall);
      if (phases.length > 0) this.answerByCall.set(key, { ...answer, blocks: phases, tokens: 0 });
      else this.answerByCall.delete(key);
    }
    return hadBlocks;
  }

  /** Index of the first message whose thinking the model reads again. */
  private getFirstUsableMessage(model: string, messages: readonly ApiMessage[]): number {
    return this.scopeByModel.get(model) === 'current_turn' ? messages.findLastIndex(isWrittenByPerson) + 1 : 0;
  }

  private findAnswer(model: string, message: ApiMessage): AnswerWithThinking | undefined {
    if (message.role !== 'assistant') return undefined;
    const calls = getCallIds(message);
    const [first] = calls;
    const answer = first === undefined ? undefined : this.answerByCall.get(createCallKey(model, first));
    // Another answer may start with the same id, so all calls must match.
    return answer && answer.calls.length === calls.length && answer.calls.every((id, at) => id === calls[at])
      ? answer
      : undefined;
  }
}

/** True for a block that says to which phase of an answer its text belongs. */
const isPhaseBlock = ({ block }: PositionedBlock): boolean => block.type === PHASE_BLOCK_TYPE;

const createCallKey = (model: string, call: string): string => `${model}\n${sanitizeId(call)}`;

const getCallIds = (message: ApiMessage): string[] =>
  toBlocks(message)
    .filter(isToolUse)
    .map(({ id }) => id);

function insertBlocks(content: readonly Block[], blocks: readonly PositionedBlock[]): Block[] {
  const getBlocksAt = (afterCalls: number, afterText: boolean): Block[] =>
    blocks
      .filter(
        (positioned) => positioned.afterCalls === afterCalls && (afterCalls > 0 || positioned.afterText === afterText),
      )
      .map(({ block }) => block);
  const result = getBlocksAt(0, false);
  let calls = 0;
  for (const block of content) {
    if (isToolUse(block)) {
      if (calls === 0) result.push(...getBlocksAt(0, true));
      result.push(block);
      calls++;
      result.push(...getBlocksAt(calls, true));
    } else {
      result.push(block);
    }
  }
  return result;
}

/** True if a user message contains anything other than tool results. */
const isWrittenByPerson = (message: ApiMessage): boolean =>
  message.role === 'user' && toBlocks(message).some((block) => !isToolResult(block));

/** Keeps the model's thinking and sends it back to no other model. */
export function keepThinkingOfAnswers(handler: ApiHandler, store: ThinkingStore, model: string): ApiHandler {
  const scope = findModelFamily(handler.modelInfo.id)?.thinkingScope;
  if (scope) store.setScopeIfUnknown(model, scope);
  return {
    ...handler,
    stream: (request, signal) => {
      const restoredRequest = { ...request, messages: store.restoreBlocks(model, request.messages) };
      return keepThinkingWhileStreaming(handler.stream(restoredRequest, signal), store, model);
    },
  };
}

async function* keepThinkingWhileStreaming(
  events: AsyncIterable<ApiEvent>,
  store: ThinkingStore,
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
    // Some servers report 0 if they don't know the number of thinking tokens.
    if (event.type === 'usage') tokens = event.usage.reasoningTokens || undefined;
    if (event.type === 'end') {
      if (event.thinkingScope) store.setScope(model, event.thinkingScope);
      store.keepBlocks(model, calls, blocks, tokens);
    }
    yield event;
  }
}
