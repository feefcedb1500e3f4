import { hashSteps, hashText, type Hash } from '../hash';
import { jsonSteps } from '../json/jsonFrames';
import { LARGE_TEXT, LargeTexts } from '../largeTexts';
import { inOneGo, type Steps } from '../pace';
import { REASONING_BLOCK, isImage, isRecord, isText, isThinking, isToolResult, isToolUse } from '../messages/blocks';
import { isProgramsResult } from '../messages/programs';
import type { ApiMessage, Block } from '../messages/types';
import { fileTokens, imageTokens, pdfTokens } from './mediaTokens';
import type { TokenCounter } from './types';

/** The tokens that the API adds around a message and around a tool block (measured by others; small against the text). */
const MESSAGE_OVERHEAD = 4;
const TOOL_OVERHEAD = 8;

/** Encrypted reasoning of OpenAI's: 200 tokens are about 1,900 characters of base64 (measured by others). */
const ENCRYPTION_BYTES = 650;
const BYTES_PER_ENCRYPTED_TOKEN = 4;

/** Shorter texts are counted faster than they are hashed. */
const REMEMBER_FROM_CHARS = 512;
const REMEMBERED_TEXTS = 20_000;
/** A changed text is asked for several times in a row, and hashing takes longer than comparing. */
const LATEST_TEXTS = 4;

/**
 * Counts messages in o200k tokens and remembers: per object (weakly), then per content by its sha256, so that a history
 * read anew is not counted anew. The figures of a model with another tokenizer are these times {@link tokenizerFactor}.
 */
export class MessageCounter {
  private readonly byObject = new WeakMap<object, number>();
  /** Insertion order is age: the oldest entry goes when it is full. */
  private readonly byHash = new Map<Hash, number>();
  private readonly latest: { readonly text: string; readonly tokens: number }[] = [];
  private readonly large = new LargeTexts<number>();

  constructor(private readonly counter: TokenCounter) {}

  /** Tokens of a text. */
  text(text: string): number {
    if (text.length < REMEMBER_FROM_CHARS) return this.counter.count(text);
    if (text.length >= LARGE_TEXT) return this.large.get(text) ?? inOneGo(this.countingText(text));
    const again = this.latest.find((each) => each.text === text);
    if (again) return again.tokens;
    const hash = hashText(text);
    const tokens = this.byHash.get(hash) ?? this.counter.count(text);
    this.keep(hash, tokens);
    if (this.latest.unshift({ text, tokens }) > LATEST_TEXTS) this.latest.pop();
    return tokens;
  }

  /** The same in steps; {@link text} then has it at once. */
  *countingText(text: string): Steps<number> {
    if (text.length < LARGE_TEXT) return this.text(text);
    const again = this.large.get(text);
    if (again !== undefined) return again;
    const hash = yield* hashSteps(text);
    const { counter } = this;
    const tokens = this.byHash.get(hash) ?? (yield* counter.counting?.(text) ?? inOne(() => counter.count(text)));
    this.keep(hash, tokens);
    this.large.set(text, tokens);
    return tokens;
  }

  private keep(hash: Hash, tokens: number): void {
    if (this.byHash.has(hash)) return;
    this.byHash.set(hash, tokens);
    if (this.byHash.size <= REMEMBERED_TEXTS) return;
    const oldest = this.byHash.keys().next();
    if (!oldest.done) this.byHash.delete(oldest.value);
  }

  /** Tokens of one block with what the API adds around it. */
  block(block: Block): number {
    return this.byObject.get(block) ?? inOneGo(this.countingBlock(block));
  }

  /** Tokens of one message. */
  message(message: ApiMessage): number {
    return this.byObject.get(message) ?? inOneGo(this.counting(message));
  }

  /** The same in steps; {@link message} then has it at once. */
  *counting(message: ApiMessage): Steps<number> {
    const known = this.byObject.get(message);
    if (known !== undefined) return known;
    let tokens = MESSAGE_OVERHEAD;
    if (typeof message.content === 'string') tokens += yield* this.countingText(message.content);
    else for (const block of message.content) tokens += yield* this.countingBlock(block);
    this.byObject.set(message, tokens);
    return tokens;
  }

  /** Tokens of a conversation. */
  messages(messages: readonly ApiMessage[]): number {
    return messages.reduce((sum, message) => sum + this.message(message), 0);
  }

  /** Tokens of a value that is sent as JSON, such as the declarations of the tools. */
  json(value: unknown): number {
    return this.text(JSON.stringify(value ?? null));
  }

  private *countingJson(value: unknown): Steps<number> {
    return yield* this.countingText(yield* jsonSteps(value ?? null));
  }

  private *countingBlock(block: Block): Steps<number> {
    const known = this.byObject.get(block);
    if (known !== undefined) return known;
    const tokens = yield* this.countBlock(block);
    this.byObject.set(block, tokens);
    return tokens;
  }

  private *countBlock(block: Block): Steps<number> {
    if (isText(block)) return yield* this.countingText(block.text);
    if (isToolUse(block)) return TOOL_OVERHEAD + this.text(block.name) + (yield* this.countingJson(block.input));
    if (isProgramsResult(block)) return 0;
    if (isToolResult(block)) return TOOL_OVERHEAD + (yield* this.resultContent(block.content));
    // The signature is not text to the model.
    if (isThinking(block)) return yield* this.countingText(block.thinking);
    if (isImage(block)) return imageTokens(block.source);
    // Encrypted thinking: its length is what is known, at about four characters a token.
    if (block.type === 'redacted_thinking') return Math.ceil(JSON.stringify(block['data'] ?? '').length / 4);
    if (block.type === REASONING_BLOCK) return this.reasoning(block);
    if (block.type === 'document') return yield* this.document(block);
    return yield* this.unknown(block);
  }

  private *unknown(block: Block): Steps<number> {
    let files = 0;
    const rest = JSON.stringify(block, (field, value: unknown) => {
      const tokens = fileTokens(field, value);
      files += tokens ?? 0;
      return tokens === undefined ? value : '';
    });
    return files + (yield* this.countingText(rest));
  }

  /** Reasoning that goes back to a vendor: signatures are no text to the model, and summaries are for people. */
  private reasoning({ item, chat }: Block): number {
    if (isRecord(chat)) return typeof chat['text'] === 'string' ? this.text(chat['text']) : 0;
    const encrypted = isRecord(item) ? item['encrypted_content'] : undefined;
    if (typeof encrypted !== 'string') return 0;
    const bytes = (encrypted.length * 3) / 4 - ENCRYPTION_BYTES;
    return Math.max(0, Math.round(bytes / BYTES_PER_ENCRYPTED_TOKEN));
  }

  private *resultContent(content: unknown): Steps<number> {
    if (typeof content === 'string') return yield* this.countingText(content);
    if (!Array.isArray(content)) return 0;
    let tokens = 0;
    for (const item of content as readonly unknown[])
      tokens += isRecord(item) ? yield* this.countingBlock(item as Block) : yield* this.countingJson(item);
    return tokens;
  }

  private *document(block: Block): Steps<number> {
    const source = block['source'];
    const data = isRecord(source) ? source['data'] : undefined;
    if (typeof data !== 'string' || !isRecord(source)) return yield* this.countingJson(block);
    return source['type'] === 'base64' ? pdfTokens(data) : yield* this.countingText(data);
  }
}

/** Work that can't be interrupted, as one step. */
function* inOne<T>(work: () => T): Steps<T> {
  yield;
  return work();
}
