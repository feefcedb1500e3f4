/** The parts of VS Code's messages as blocks. What has no stable class is told apart by its shape. */
import * as vscode from 'vscode';
import { isRecord } from '../core/messages/blocks';
import { detectImageType } from '../core/messages/images';
import type { Block } from '../core/messages/types';

/** Kinds of data that VS Code and providers put into messages for each other; a model has no use for them. */
const NOTES = new Set(['cache_control', 'usage', 'stateful_marker', 'context_management', 'thinking']);

/**
 * The block of a part; undefined for what no model reads (cache marks, usage) or what can't be sent without its signature
 * (thinking). A part that we don't know becomes text where it holds some.
 */
export function blockOf(part: unknown): Block | undefined {
  if (part instanceof vscode.LanguageModelTextPart) return textBlock(part.value);
  if (part instanceof vscode.LanguageModelToolCallPart) {
    return { type: 'tool_use', id: part.callId, name: part.name, input: part.input };
  }
  if (part instanceof vscode.LanguageModelToolResultPart) {
    return { type: 'tool_result', tool_use_id: part.callId, content: resultContent(part.content) };
  }
  if (part instanceof vscode.LanguageModelDataPart) return dataBlock(part);
  return unknownBlock(part);
}

/** Undefined for blank text: vendors refuse it. An answer that is only calls comes back with an empty text before them. */
const textBlock = (text: string): Block | undefined => (text.trim() === '' ? undefined : { type: 'text', text });

/** One text alone is a string, as most results are. */
function resultContent(parts: readonly unknown[]): string | Block[] {
  const blocks = parts.flatMap((part) => blockOf(part) ?? []);
  if (blocks.length === 0) return '';
  const [first] = blocks;
  return blocks.length === 1 && first?.type === 'text' ? (first['text'] as string) : blocks;
}

function dataBlock({ data, mimeType }: vscode.LanguageModelDataPart): Block | undefined {
  const [type = ''] = mimeType.toLowerCase().split(';');
  if (NOTES.has(type)) return undefined;
  // One of another kind, or another than its name says, would have every later request refused (claude-code#13131); VS Code
  // scales WebP down to PNG and goes on calling it WebP (seen in 1.139).
  const image = type.startsWith('image/') ? detectImageType(data) : undefined;
  if (image !== undefined) return { type: 'image', source: base64(data, image) };
  if (type === 'application/pdf') return { type: 'document', source: base64(data, type) };
  if (type.startsWith('text/') || type.endsWith('json') || type.endsWith('xml')) {
    return textBlock(new TextDecoder().decode(data));
  }
  return { type: 'text', text: `[${data.byteLength} bytes of ${mimeType} that can't be shown here]` };
}

const base64 = (data: Uint8Array, mediaType: string) => ({
  type: 'base64',
  media_type: mediaType,
  data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64'),
});

/** Thinking of another model has id and metadata beside its value: its signature holds for that model alone. */
function unknownBlock(part: unknown): Block | undefined {
  if (typeof part === 'string') return textBlock(part);
  if (!isRecord(part) || 'metadata' in part || !('value' in part)) return undefined;
  const { value } = part;
  if (typeof value === 'string') return textBlock(value);
  return value === undefined || value === null ? undefined : textBlock(JSON.stringify(value));
}
