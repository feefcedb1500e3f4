import { shortenPath } from '../../messages/filePath';
import { getBase64, listImages, type PlacedImage } from '../../messages/images';
import { DEFAULT_TOOLS, getToolPath } from '../../messages/tools';
import { isRecord } from '../../messages/blocks';
import type { ImageBlock } from '../../messages/types';
import { getImageSize } from '../../tokens/mediaTokens';
import type { Draft } from '../draft/draft';

export interface ImageWithAge extends PlacedImage {
  readonly newer: number;
}

/** Calls `isRemoved` for images from oldest to newest; images in and before the task stay. */
export function removeImages(draft: Draft, step: string, isRemoved: (image: ImageWithAge) => boolean): void {
  const images = listImages(draft.original);
  for (const [index, image] of images.entries()) {
    const { message, path } = image;
    if (message <= draft.task || !isRemoved({ ...image, newer: images.length - 1 - index })) continue;
    draft.removeBlock(step, { message, path }, describePlacedImage(image), {
      reason: 'an image that is old or too large',
    });
  }
}

export interface ImageLimits {
  /** In pixels. */
  readonly maxEdge?: number | undefined;
  /** In bytes as base64. */
  readonly maxBytes?: number | undefined;
}

/** True if no vendor with these limits accepts the image. */
export function isImageTooLarge(
  { image }: PlacedImage,
  { maxEdge = Infinity, maxBytes = Infinity }: ImageLimits,
): boolean {
  if ((getBase64(image)?.length ?? 0) > maxBytes) return true;
  const size = maxEdge === Infinity ? undefined : getImageSize(image.source);
  return size !== undefined && Math.max(size.width, size.height) > maxEdge;
}

/** For example `image 1280×800, 412 KB, from browser_take_screenshot login.png`. */
function describePlacedImage({ image, call }: PlacedImage): string {
  const originText = call
    ? `, from ${[call.name, getCallSubject(call.name, call.input)].filter(Boolean).join(' ')}`
    : '';
  return `${describeImage(image)}${originText}`;
}

export function describeImage(image: ImageBlock): string {
  const size = getImageSize(image.source);
  const data = getBase64(image);
  const pixels = size ? ` ${size.width}×${size.height}` : '';
  return `image${pixels}${data === undefined ? '' : `, ${formatByteSize((data.length * 3) / 4)}`}`;
}

const formatByteSize = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1000))} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Parameters that may name an image's subject, in order of preference. */
const SUBJECT_FIELDS = ['filename', 'path', 'url', 'title', 'name', 'element', 'selector', 'description'] as const;
const MAX_SUBJECT_CHARS = 80;

function getCallSubject(tool: string, input: unknown): string | undefined {
  if (!isRecord(input)) return undefined;
  const path = getToolPath(DEFAULT_TOOLS, { tool, input });
  if (path !== undefined) return shortenPath(path);
  const subject = SUBJECT_FIELDS.map((name) => input[name]).find((value) => typeof value === 'string' && value !== '');
  return typeof subject === 'string' ? subject.slice(0, MAX_SUBJECT_CHARS) : undefined;
}
