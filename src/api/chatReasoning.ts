/**
 * Some vendors of Chat Completions require that reasoning is sent back with the calls that followed
 * it.
 */
import type { OpenAIRecord } from '../conversations/formats/openai/arguments';
import { getBlocks, isRecord } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import { REASONING_BLOCK_TYPE } from './openaiBlocks';

/**
 * How a server wants reasoning back: `text` in `reasoning_content` (DeepSeek, Kimi), `signatures`
 * in a call's `extra_content` (Gemini), `details` in `reasoning_details` (OpenRouter's guide
 * "Reasoning Tokens").
 */
export type ReasoningFormat = 'nothing' | 'text' | 'signatures' | 'details';

export function convertReasoning(
  format: ReasoningFormat,
  text: string,
  extras: readonly unknown[],
  details: readonly unknown[] = [],
): Block | undefined {
  switch (format) {
    case 'nothing':
      return undefined;
    case 'text':
      return text === '' ? undefined : { type: REASONING_BLOCK_TYPE, chat: { text } };
    case 'details':
      return details.length > 0 ? { type: REASONING_BLOCK_TYPE, chat: { details } } : undefined;
    case 'signatures':
      return extras.some(isRecord) ? { type: REASONING_BLOCK_TYPE, chat: { extras } } : undefined;
  }
}

/** Stands for lost thinking, since servers only check that it is not empty. */
const EMPTY_REASONING_TEXT = ' ';
/** Gemini accepts this instead of a lost signature (Google's guide, "Thought signatures"). */
const SKIP_SIGNATURE_CHECK = { google: { thought_signature: 'skip_thought_signature_validator' } };

export function addReasoning(record: OpenAIRecord, message: ApiMessage, format: ReasoningFormat): OpenAIRecord {
  const { tool_calls: calls } = record;
  if (format === 'nothing' || !Array.isArray(calls) || calls.length === 0) return record;
  const block = getBlocks(message).find(({ type, chat }) => type === REASONING_BLOCK_TYPE && isRecord(chat));
  const storedReasoning = isRecord(block?.['chat']) ? block['chat'] : {};
  if (format === 'text') {
    const { text } = storedReasoning;
    return { ...record, reasoning_content: typeof text === 'string' ? text : EMPTY_REASONING_TEXT };
  }
  if (format === 'details') {
    return Array.isArray(storedReasoning['details'])
      ? { ...record, reasoning_details: storedReasoning['details'] }
      : record;
  }
  const extraContents: readonly unknown[] = Array.isArray(storedReasoning['extras'])
    ? storedReasoning['extras']
    : [SKIP_SIGNATURE_CHECK];
  const signedCalls = calls.map((call: unknown, index) => {
    const extraContent = extraContents[index];
    return isRecord(call) && isRecord(extraContent) ? { ...call, extra_content: extraContent } : call;
  });
  return { ...record, tool_calls: signedCalls };
}

/** Joins pieces of reasoning details by `index`: texts are appended, other fields replaced. */
export class ReasoningDetailsCollector {
  private readonly detailByIndex = new Map<unknown, Record<string, unknown>>();

  get all(): readonly unknown[] {
    return [...this.detailByIndex.values()];
  }

  addPieces(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces as unknown[]) {
      if (!isRecord(piece)) continue;
      const key = piece['index'] ?? this.detailByIndex.size;
      const detail = this.detailByIndex.get(key) ?? {};
      const mergedFields = Object.entries(piece).map(([field, value]): [string, unknown] => {
        const previousValue = detail[field];
        const isAppended =
          APPENDED_REASONING_FIELDS.has(field) && typeof previousValue === 'string' && typeof value === 'string';
        return [field, isAppended ? previousValue + value : (value ?? previousValue ?? null)];
      });
      this.detailByIndex.set(key, { ...detail, ...Object.fromEntries(mergedFields) });
    }
  }
}

const APPENDED_REASONING_FIELDS = new Set(['text', 'summary', 'data']);
