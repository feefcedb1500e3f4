/** Images in messages: where they stand, and how many bytes they and the rest have on the wire. */
import { memoizeByObject } from '../memoizeByObject';
import { getBlocks, isImage, isRecord, isText, isToolResult, isToolUse } from './blocks';
import { isProgramsResult } from './programs';
import type { ApiMessage, Block, ImageBlock, Path, ToolUseBlock } from './types';

/** An image of a message. */
export interface PlacedImage {
  /** Index of the message. */
  readonly message: number;
  readonly path: Path;
  readonly image: ImageBlock;
  /** The call whose result it is part of; absent for one that a person sent. */
  readonly call?: ToolUseBlock;
}

/** The paths of a message's images, those in results among them. */
const pathsIn = memoizeByObject((message: ApiMessage): readonly Path[] =>
  getBlocks(message).flatMap((block, at): Path[] => {
    if (isImage(block)) return [['content', at]];
    if (isProgramsResult(block)) return [];
    return getParts(block).flatMap((part, inner): Path[] => (isImage(part) ? [['content', at, 'content', inner]] : []));
  }),
);

/** Whether a message has images. */
export const hasImages = (message: ApiMessage): boolean => pathsIn(message).length > 0;

/** All images of a conversation, in order. */
export function listImages(messages: readonly ApiMessage[]): PlacedImage[] {
  const calls = new Map<string, ToolUseBlock>();
  return messages.flatMap((message, index) => {
    const blocks = getBlocks(message);
    for (const block of blocks) if (isToolUse(block)) calls.set(block.id, block);
    return pathsIn(message).map((path): PlacedImage => {
      const outer = blocks[Number(path[1])] as Block;
      const call = isToolResult(outer) ? calls.get(outer.tool_use_id) : undefined;
      const image = (path.length > 2 ? getParts(outer)[Number(path[3])] : outer) as ImageBlock;
      return { message: index, path, image, ...(call && { call }) };
    });
  });
}

/** The parts of a result; none where it is a text, or the block no result. */
const getParts = (block: Block): readonly Block[] =>
  isToolResult(block) && Array.isArray(block.content) ? (block.content as readonly Block[]) : [];

/** The type of an image by its first bytes; undefined for one that is none of the kinds that every vendor takes. */
export function detectImageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(12, bytes.byteLength)).toString('latin1');
  if (head.startsWith('\x89PNG')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('GIF8')) return 'image/gif';
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : undefined;
}

/** The base64 of an image or a document; undefined where it is named by URL or id. */
export function getBase64(block: Block): string | undefined {
  const source = block['source'];
  return isRecord(source) && typeof source['data'] === 'string' ? source['data'] : undefined;
}

/** Bytes of a block's JSON, give or take the escapes of its texts. */
function countBytes(block: Block): number {
  const data = getBase64(block);
  if (data !== undefined) return data.length + FRAME_BYTES;
  if (isText(block)) return Buffer.byteLength(block.text) + FRAME_BYTES;
  const parts = getParts(block);
  if (parts.length > 0) return parts.reduce((sum, part) => sum + countBytes(part), FRAME_BYTES);
  return Buffer.byteLength(JSON.stringify(block));
}

/** Names, quotes and braces around a text or an image. */
const FRAME_BYTES = 64;

/** Bytes that a message has in a request, about. */
export const messageBytes = memoizeByObject((message: ApiMessage): number =>
  typeof message.content === 'string'
    ? Buffer.byteLength(message.content) + FRAME_BYTES
    : message.content.reduce((sum, block) => sum + countBytes(block), FRAME_BYTES),
);

/** Bytes that an image has in a request. */
export const imageBytes = ({ image }: PlacedImage): number => countBytes(image);
