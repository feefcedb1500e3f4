/**
 * Keeps the model's thinking. VS Code's parts have no form for it, but the vendor wants it back unchanged: thinking with its
 * signature, encrypted reasoning. It is kept here by the ids of the calls that the answer made, for the time that this
 * extension host runs.
 */
import { PHASE_BLOCK } from '../api/openaiBlocks';
import type { ApiEvent, ApiHandler, ThinkingScope } from '../api/types';
import { isToolResult, isToolUse } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import { turnStart } from '../core/messages/task';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { findFamily } from '../core/vendors/families';
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
  /** Tokens of the thinking as the vendor reported them, in the model's tokens; undefined if it didn't. */
  readonly tokens: number | undefined;
}

/** A model and how it counts. */
export interface KeptModel {
  readonly key: string;
  /** The model's tokens for one o200k token; default 1. */
  readonly tokenFactor?: number;
}

/** Answers that are remembered; each may hold some kilobytes. */
const MAX_ANSWERS = 2_000;

/** The kept blocks by model and call. The oldest answers go first where there are too many. */
export class KeptThinking {
  /** By the answer's first call. Insertion order is age. */
  private readonly answers = new Map<string, Answer>();
  /** How much earlier thinking each model reads again by its own account, by the model's key. */
  private readonly scopes = new Map<string, ThinkingScope>();

  /** An answer without a call is not kept: no vendor wants its thinking back. */
  keep(model: string, calls: readonly string[], blocks: readonly KeptBlock[], tokens?: number): void {
    const [first] = calls;
    if (first === undefined || blocks.length === 0) return;
    const key = keyOf(model, first);
    this.answers.delete(key);
    this.answers.set(key, { model, calls: calls.map(plainId), blocks, tokens });
    const oldest = this.answers.size > MAX_ANSWERS ? this.answers.keys().next() : undefined;
    if (oldest && !oldest.done) this.answers.delete(oldest.value);
  }

  /** As {@link reads}, until the model has said it. */
  assume(model: string, scope: ThinkingScope): void {
    if (!this.scopes.has(model)) this.scopes.set(model, scope);
  }

  /** Notes which of the blocks that go back a model reads. */
  reads(model: string, scope: ThinkingScope): void {
    this.scopes.set(model, scope);
  }

  /** The messages with the blocks back in their places. Messages without kept blocks stay the same objects. */
  restore(model: string, messages: readonly ApiMessage[]): ApiMessage[] {
    const start = this.start(model, messages);
    return messages.map((message, index) => {
      const { blocks = [] } = this.answerOf(model, message) ?? {};
      const kept = index < start ? blocks.filter(isPhase) : blocks;
      return kept.length > 0 ? { ...message, content: withKept(blocksIn(message), kept) } : message;
    });
  }

  /**
   * O200k tokens of what {@link restore} would put back: as the vendor counted them when they were made, else by their
   * text. Encrypted thinking is long as text, and short as tokens.
   */
  tokens(model: KeptModel, messages: readonly ApiMessage[], counter: MessageCounter): number {
    const { key, tokenFactor = 1 } = model;
    return messages.slice(this.start(key, messages)).reduce((sum, message) => {
      const answer = this.answerOf(key, message);
      if (!answer) return sum;
      const { tokens, blocks } = answer;
      return (
        sum +
        (tokens === undefined ? blocks.reduce((all, { block }) => all + counter.block(block), 0) : tokens / tokenFactor)
      );
    }, 0);
  }

  /**
   * Forgets what no vendor demands: the thinking of all messages but the last answer and the one that the open turn began with,
   * without which Anthropic refuses to let the turn go on with its thinking. Done with a condensation, which changes the beginning
   * of the request anyway.
   * @param keepsTurn the model demands the thinking of all calls of the open turn.
   */
  forgetBefore(model: string, messages: readonly ApiMessage[], keepsTurn = false): void {
    const last = messages.findLastIndex(({ role }) => role === 'assistant');
    const first = turnStart(messages) + 1;
    const isForgotten = (index: number): boolean => index < first || (!keepsTurn && index > first && index < last);
    this.forget(
      model,
      messages.filter((_, index) => isForgotten(index)),
    );
  }

  /** Forgets the thinking of these messages; which part of an answer a text is stays known. @returns whether there was any. */
  forget(model: string, messages: readonly ApiMessage[]): boolean {
    let wasThere = false;
    for (const message of messages) {
      const answer = this.answerOf(model, message);
      const [first] = callsOf(message);
      if (!answer || first === undefined) continue;
      const phases = answer.blocks.filter(isPhase);
      if (phases.length === answer.blocks.length) continue;
      wasThere = true;
      const key = keyOf(model, first);
      if (phases.length > 0) this.answers.set(key, { ...answer, blocks: phases, tokens: 0 });
      else this.answers.delete(key);
    }
    return wasThere;
  }

  /** Index of the first message whose thinking the model reads again. */
  private start(model: string, messages: readonly ApiMessage[]): number {
    return this.scopes.get(model) === 'current_turn' ? messages.findLastIndex(isPersonal) + 1 : 0;
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

/** The part of an answer that its text is; no thinking. */
const isPhase = ({ block }: KeptBlock): boolean => block.type === PHASE_BLOCK;

const keyOf = (model: string, call: string): string => `${model}\n${plainId(call)}`;

const blocksIn = ({ content }: ApiMessage): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const callsOf = (message: ApiMessage): string[] =>
  blocksIn(message)
    .filter(isToolUse)
    .map(({ id }) => id);

/** The content of an answer, with the kept blocks back in their places. */
function withKept(content: readonly Block[], blocks: readonly KeptBlock[]): Block[] {
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

/** Whether a person says something in a message: it is no answer to calls alone. */
const isPersonal = (message: ApiMessage): boolean =>
  message.role === 'user' && blocksIn(message).some((block) => !isToolResult(block));

/**
 * A handler whose model gets back what it thought, and whose thinking is kept.
 * @param model key of the model, whose thinking no other gets
 */
export function withKeptThinking(handler: ApiHandler, kept: KeptThinking, model: string): ApiHandler {
  const scope = findFamily(handler.modelInfo.id)?.readsThinkingOf;
  if (scope) kept.assume(model, scope);
  return {
    ...handler,
    stream: (request, signal) => {
      const restored = { ...request, messages: kept.restore(model, request.messages) };
      return keeping(handler.stream(restored, signal), kept, model);
    },
  };
}

/** Passes an answer on, and keeps its thinking once it is whole. */
async function* keeping(
  events: AsyncIterable<ApiEvent>,
  kept: KeptThinking,
  model: string,
): AsyncGenerator<ApiEvent, void> {
  const blocks: KeptBlock[] = [];
  const calls: string[] = [];
  let hasText = false;
  let tokens: number | undefined;
  for await (const event of events) {
    if (event.type === 'text') hasText = true;
    if (event.type === 'tool_call') calls.push(event.id);
    if (event.type === 'block') blocks.push({ block: event.block, afterText: hasText, afterCalls: calls.length });
    // Of some servers 0 means that they don't tell.
    if (event.type === 'usage') tokens = event.usage.reasoningTokens || undefined;
    if (event.type === 'end') {
      if (event.thinkingScope) kept.reads(model, event.thinkingScope);
      kept.keep(model, calls, blocks, tokens);
    }
    yield event;
  }
}
