import { memoizeByObject } from '../memoizeByObject';
import { getBlocks, isImage, isRecord, isText, isToolResult, isToolUse } from './blocks';
import { isResultReadByProgram } from './programs';
import type { ApiMessage, Block, ImageBlock, Path, ToolUseBlock } from './types';

export interface PlacedImage {
  readonly message: number;
  readonly path: Path;
  readonly image: ImageBlock;
  /** The call whose result contains the image; absent if the user sent it. */
  readonly call?: ToolUseBlock;
}

const listImagePaths = memoizeByObject((message: ApiMessage): readonly Path[] =>
  getBlocks(message).flatMap((block, blockIndex): Path[] => {
    if (isImage(block)) return [['content', blockIndex]];
    if (isResultReadByProgram(block)) return [];
    return listResultParts(block).flatMap((part, inner): Path[] =>
      isImage(part) ? [['content', blockIndex, 'content', inner]] : [],
    );
  }),
);

export const hasImages = (message: ApiMessage): boolean => listImagePaths(message).length > 0;

export function listImages(messages: readonly ApiMessage[]): PlacedImage[] {
  const calls = new Map<string, ToolUseBlock>();
  return messages.flatMap((message, index) => {
    const blocks = getBlocks(message);
    for (const block of blocks) if (isToolUse(block)) calls.set(block.id, block);
    return listImagePaths(message).map((path): PlacedImage => {
      const outerBlock = blocks[Number(path[1])] as Block;
      const call = isToolResult(outerBlock) ? calls.get(outerBlock.tool_use_id) : undefined;
      const image = (path.length > 2 ? listResultParts(outerBlock)[Number(path[3])] : outerBlock) as ImageBlock;
      return { message: index, path, image, ...(call && { call }) };
    });
  });
}

const listResultParts = (block: Block): readonly Block[] =>
  isToolResult(block) && Array.isArray(block.content) ? (block.content as readonly Block[]) : [];

/** Undefined if not every vendor supports the type. */
export function detectImageType(bytes: Uint8Array): string | undefined {
  const signature = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(12, bytes.byteLength)).toString('latin1');
  if (signature.startsWith('\x89PNG')) return 'image/png';
  if (signature.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (signature.startsWith('GIF8')) return 'image/gif';
  return signature.startsWith('RIFF') && signature.endsWith('WEBP') ? 'image/webp' : undefined;
}

/** Undefined if the block refers to a URL or ID instead. */
export function getBase64(block: Block): string | undefined {
  const source = block['source'];
  return isRecord(source) && typeof source['data'] === 'string' ? source['data'] : undefined;
}

function countBase64Bytes(block: Block): number {
  const data = getBase64(block);
  if (data !== undefined) return data.length + IMAGE_FRAME_BYTES;
  if (isText(block)) return Buffer.byteLength(block.text) + IMAGE_FRAME_BYTES;
  const parts = listResultParts(block);
  if (parts.length > 0) return parts.reduce((sum, part) => sum + countBase64Bytes(part), IMAGE_FRAME_BYTES);
  return Buffer.byteLength(JSON.stringify(block));
}

const IMAGE_FRAME_BYTES = 64;

export const countMessageBytes = memoizeByObject((message: ApiMessage): number =>
  typeof message.content === 'string'
    ? Buffer.byteLength(message.content) + IMAGE_FRAME_BYTES
    : message.content.reduce((sum, block) => sum + countBase64Bytes(block), IMAGE_FRAME_BYTES),
);

export const countImageBytes = ({ image }: PlacedImage): number => countBase64Bytes(image);
