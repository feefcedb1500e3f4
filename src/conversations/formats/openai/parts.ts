import { isImage, isRecord } from '../../../core/messages/blocks';
import type { Block } from '../../../core/messages/types';
import { convertImageUrl } from '../../text/values';

/** Parts of these types are wrapped, so that they can't be mistaken for our own blocks. */
const ANTHROPIC_PART_TYPES = new Set<unknown>([
  'image',
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'openai_part',
  'openai_call',
  'openai_message',
]);

export function convertPartFromOpenAI(part: unknown): Block {
  if (!isRecord(part) || ANTHROPIC_PART_TYPES.has(part['type'])) return wrapUnknownPart(part);
  const { type, image_url: image } = part;
  if (type === 'text') return typeof part['text'] === 'string' ? (part as Block) : wrapUnknownPart(part);
  if (type === 'image_url' && isRecord(image) && typeof image['url'] === 'string') {
    return {
      type: 'image',
      source: convertImageUrl(image['url']),
      openai: { ...part, image_url: { ...image, url: '' } },
    };
  }
  return typeof type === 'string' ? (part as Block) : wrapUnknownPart(part);
}

const wrapUnknownPart = (part: unknown): Block => ({ type: 'openai_part', part });

/** Inverse of {@link convertPartFromOpenAI}. */
export function convertPartToOpenAI(block: Block): unknown {
  if (block.type === 'openai_part') return block['part'];
  if (!isImage(block)) return block;
  const url = getImageUrl(block.source);
  if (url === undefined) return block;
  const openaiPart = isRecord(block['openai']) ? block['openai'] : { type: 'image_url' };
  const image = isRecord(openaiPart['image_url']) ? openaiPart['image_url'] : {};
  return { ...openaiPart, image_url: { ...image, url } };
}

export function getImageUrl(source: unknown): string | undefined {
  if (!isRecord(source)) return undefined;
  const { type, url, media_type: mediaType, data } = source;
  if (type === 'url' && typeof url === 'string') return url;
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string') return undefined;
  return `data:${mediaType};base64,${data}`;
}
