import { hashText, type Hash } from '../hash';
import {
  REASONING_BLOCK_TYPE,
  isImage,
  isRecord,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
} from '../messages/blocks';
import { isResultReadByProgram } from '../messages/programs';
import type { ApiMessage, Block, ThinkingBlock } from '../messages/types';
import { countFileTokens, countImageTokens, countPdfTokens } from './mediaTokens';
import type { TokenCounter } from './types';
import { LruMap } from '../lruMap';

/** Tokens the API adds per message and per tool block (measured by others). */
const MESSAGE_OVERHEAD_TOKENS = 4;
const TOOL_OVERHEAD_TOKENS = 8;

/**
 * Bytes that a vendor adds to the thinking it encrypts. Anthropic: fitted to what it reported
 * (docs/research/thinking.md). OpenAI: Codex, `estimate_reasoning_length`.
 */
const ENVELOPE_BYTES = { anthropic: 240, openai: 650 } as const;
const BYTES_PER_ENCRYPTED_TOKEN = 4;
/** The longest answer of these vendors' models. */
export const MAX_ENCRYPTED_TOKENS = 128_000;

/** Shorter texts are counted faster than hashed. */
const MIN_CACHED_TEXT_CHARS = 512;
const MAX_CACHED_TEXTS = 20_000;
/** Recent texts are found by comparison, which is faster than hashing. */
const MAX_LATEST_TEXTS = 4;

/** Counts o200k tokens. For models with other tokenizers multiply by `getTokenizerFactor`. */
export class MessageCounter {
  private readonly tokensByObject = new WeakMap<object, number>();
  private readonly tokensByHash = new LruMap<Hash, number>(MAX_CACHED_TEXTS);
  private readonly latestTexts: { readonly text: string; readonly tokens: number }[] = [];

  constructor(private readonly counter: TokenCounter) {}

  countText(text: string): number {
    if (text.length < MIN_CACHED_TEXT_CHARS) return this.counter.count(text);
    const cachedText = this.latestTexts.find((each) => each.text === text);
    if (cachedText) return cachedText.tokens;
    const hash = hashText(text);
    const tokens = this.tokensByHash.get(hash) ?? this.counter.count(text);
    this.cacheCount(hash, tokens);
    if (this.latestTexts.unshift({ text, tokens }) > MAX_LATEST_TEXTS) this.latestTexts.pop();
    return tokens;
  }

  private cacheCount(hash: Hash, tokens: number): void {
    if (this.tokensByHash.has(hash)) return;
    this.tokensByHash.set(hash, tokens);
  }

  countBlock(block: Block): number {
    const cachedTokens = this.tokensByObject.get(block);
    if (cachedTokens !== undefined) return cachedTokens;
    const tokens = this.computeBlockTokens(block);
    this.tokensByObject.set(block, tokens);
    return tokens;
  }

  countMessage(message: ApiMessage): number {
    const cachedTokens = this.tokensByObject.get(message);
    if (cachedTokens !== undefined) return cachedTokens;
    let tokens = MESSAGE_OVERHEAD_TOKENS;
    if (typeof message.content === 'string') tokens += this.countText(message.content);
    else for (const block of message.content) tokens += this.countBlock(block);
    this.tokensByObject.set(message, tokens);
    return tokens;
  }

  countMessages(messages: readonly ApiMessage[]): number {
    return messages.reduce((sum, message) => sum + this.countMessage(message), 0);
  }

  countJson(value: unknown): number {
    return this.countText(JSON.stringify(value ?? null));
  }

  private computeBlockTokens(block: Block): number {
    if (isText(block)) return this.countText(block.text);
    if (isToolUse(block)) return TOOL_OVERHEAD_TOKENS + this.countText(block.name) + this.countJson(block.input);
    if (isResultReadByProgram(block)) return 0;
    if (isToolResult(block)) return TOOL_OVERHEAD_TOKENS + this.countResultContent(block.content);
    if (isThinking(block)) return this.countThinking(block);
    if (isImage(block)) return countImageTokens(block.source);
    if (block.type === 'redacted_thinking') return Math.max(1, countEncrypted(block['data'], 'anthropic'));
    if (block.type === REASONING_BLOCK_TYPE) return this.countReasoning(block);
    if (block.type === 'document') return this.countDocument(block);
    return this.countUnknownBlock(block);
  }

  /**
   * Anthropic's signature contains all the thinking; the text is a summary, or empty (API guide,
   * "Thinking encryption"). DeepSeek's signature is the message's UUID. Gemini's, which proxies for
   * Claude Code send, has about as many tokens per byte as Anthropic's (docs/research/thinking.md).
   */
  private countThinking({ thinking, signature }: ThinkingBlock): number {
    const isSigned = typeof signature === 'string' && signature !== '';
    return Math.max(this.countText(thinking), isSigned ? Math.max(1, countEncrypted(signature, 'anthropic')) : 0);
  }

  private countUnknownBlock(block: Block): number {
    let fileTokens = 0;
    const jsonWithoutFiles = JSON.stringify(block, (field, value: unknown) => {
      const tokens = countFileTokens(field, value);
      fileTokens += tokens ?? 0;
      return tokens === undefined ? value : '';
    });
    return fileTokens + this.countText(jsonWithoutFiles);
  }

  /** Counts only reasoning that is sent back to a vendor; its summaries are only displayed. */
  private countReasoning({ item, chat }: Block): number {
    if (isRecord(chat)) return typeof chat['text'] === 'string' ? this.countText(chat['text']) : 0;
    return countEncrypted(isRecord(item) ? item['encrypted_content'] : undefined, 'openai');
  }

  private countResultContent(content: unknown): number {
    if (typeof content === 'string') return this.countText(content);
    if (!Array.isArray(content)) return 0;
    let tokens = 0;
    for (const item of content as readonly unknown[])
      tokens += isRecord(item) ? this.countBlock(item as Block) : this.countJson(item);
    return tokens;
  }

  private countDocument(block: Block): number {
    const source = block['source'];
    const data = isRecord(source) ? source['data'] : undefined;
    if (typeof data !== 'string' || !isRecord(source)) return this.countJson(block);
    return source['type'] === 'base64' ? countPdfTokens(data) : this.countText(data);
  }
}

/**
 * Estimates o200k tokens from the length of a vendor's base64 text. Returns 0 for a text longer
 * than any answer, since no vendor made it.
 */
function countEncrypted(data: unknown, vendor: keyof typeof ENVELOPE_BYTES): number {
  if (typeof data !== 'string') return 0;
  const encryptedBytes = (data.length * 3) / 4 - ENVELOPE_BYTES[vendor];
  const tokens = Math.max(0, Math.round(encryptedBytes / BYTES_PER_ENCRYPTED_TOKEN));
  return tokens > MAX_ENCRYPTED_TOKENS ? 0 : tokens;
}
