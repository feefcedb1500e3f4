/** Recognizes message parts that have no class in VS Code's stable API by their shape. */
import * as vscode from 'vscode';
import { isRecord } from '../core/messages/blocks';
import { detectImageType } from '../core/messages/images';
import type { Block } from '../core/messages/types';

/**
 * MIME types of data that VS Code and providers exchange in messages, which is not for the model.
 */
const INTERNAL_DATA_TYPES = new Set(['cache_control', 'usage', 'stateful_marker', 'context_management', 'thinking']);

/**
 * Returns undefined for data that no model reads, and for thinking, which can't be sent without its
 * signature.
 */
export function convertPartToBlock(part: unknown): Block | undefined {
  if (part instanceof vscode.LanguageModelTextPart) return toTextBlock(part.value);
  if (part instanceof vscode.LanguageModelToolCallPart) {
    return { type: 'tool_use', id: part.callId, name: part.name, input: part.input };
  }
  if (part instanceof vscode.LanguageModelToolResultPart) {
    return { type: 'tool_result', tool_use_id: part.callId, content: convertResultParts(part.content) };
  }
  if (part instanceof vscode.LanguageModelDataPart) return convertDataPart(part);
  return convertUnknownPart(part);
}

/** Vendors reject blank text, and VS Code puts an empty text before an answer's calls. */
const toTextBlock = (text: string): Block | undefined => (text.trim() === '' ? undefined : { type: 'text', text });

function convertResultParts(parts: readonly unknown[]): string | Block[] {
  const blocks = parts.flatMap((part) => convertPartToBlock(part) ?? []);
  if (blocks.length === 0) return '';
  const [first] = blocks;
  return blocks.length === 1 && first?.type === 'text' ? (first['text'] as string) : blocks;
}

function convertDataPart({ data, mimeType }: vscode.LanguageModelDataPart): Block | undefined {
  const [type = ''] = mimeType.toLowerCase().split(';');
  if (INTERNAL_DATA_TYPES.has(type)) return undefined;
  // With a wrong media type, vendors reject every later request (claude-code#13131). VS Code
  // converts WebP to PNG but still calls it WebP (seen in 1.139).
  const image = type.startsWith('image/') ? detectImageType(data) : undefined;
  if (image !== undefined) return { type: 'image', source: makeBase64Source(data, image) };
  if (type === 'application/pdf') return { type: 'document', source: makeBase64Source(data, type) };
  if (type.startsWith('text/') || type.endsWith('json') || type.endsWith('xml')) {
    return toTextBlock(new TextDecoder().decode(data));
  }
  return { type: 'text', text: `[${data.byteLength} bytes of ${mimeType} that can't be shown here]` };
}

const makeBase64Source = (data: Uint8Array, mediaType: string) => ({
  type: 'base64',
  media_type: mediaType,
  data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64'),
});

/**
 * Drops parts with an ID and metadata: they are another model's thinking, whose signature is only
 * valid for that model.
 */
function convertUnknownPart(part: unknown): Block | undefined {
  if (typeof part === 'string') return toTextBlock(part);
  if (!isRecord(part) || 'metadata' in part || !('value' in part)) return undefined;
  const { value } = part;
  if (typeof value === 'string') return toTextBlock(value);
  return value === undefined || value === null ? undefined : toTextBlock(JSON.stringify(value));
}
