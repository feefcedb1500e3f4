/** Images that give way to markers, which say what an image was, how large, where it came from, and lead back to it. */
import { shortPath } from '../../messages/filePath';
import { getBase64, listImages, type PlacedImage } from '../../messages/images';
import { DEFAULT_TOOLS, getPath } from '../../messages/tools';
import { isRecord } from '../../messages/blocks';
import type { ImageBlock } from '../../messages/types';
import { imageSize } from '../../tokens/mediaTokens';
import type { Draft } from '../draft/draft';

/** An image with its place among all others. */
export interface RankedImage extends PlacedImage {
  /** How many images are newer. */
  readonly newer: number;
}

/**
 * Takes images out of a draft, the oldest first; those up to the task stay.
 * @param goes says of an image that still stands whether it goes; asked for one after the other.
 */
export function takeImages(draft: Draft, step: string, goes: (image: RankedImage) => boolean): void {
  const images = listImages(draft.original);
  for (const [index, image] of images.entries()) {
    const { message, path } = image;
    if (message <= draft.task || !goes({ ...image, newer: images.length - 1 - index })) continue;
    draft.takeBlock(step, { message, path }, markerWords(image), { reason: 'an image that is old or too large' });
  }
}

/** Limits of a single image; absent: none. */
export interface ImageLimits {
  /** Pixels. */
  readonly maxEdge?: number | undefined;
  /** Bytes as base64. */
  readonly maxBytes?: number | undefined;
}

/** Whether no vendor with these limits takes an image. */
export function isTooLarge({ image }: PlacedImage, { maxEdge = Infinity, maxBytes = Infinity }: ImageLimits): boolean {
  if ((getBase64(image)?.length ?? 0) > maxBytes) return true;
  const size = maxEdge === Infinity ? undefined : imageSize(image.source);
  return size !== undefined && Math.max(size.width, size.height) > maxEdge;
}

/** Such as `image 1280×800, 412 KB, from browser_take_screenshot login.png`. */
function markerWords({ image, call }: PlacedImage): string {
  const from = call ? `, from ${[call.name, subjectOf(call.name, call.input)].filter(Boolean).join(' ')}` : '';
  return `${imageWords(image)}${from}`;
}

/** Such as `image 1280×800, 412 KB`. */
export function imageWords(image: ImageBlock): string {
  const size = imageSize(image.source);
  const data = getBase64(image);
  const pixels = size ? ` ${size.width}×${size.height}` : '';
  return `image${pixels}${data === undefined ? '' : `, ${sizeInWords((data.length * 3) / 4)}`}`;
}

const sizeInWords = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1000))} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Parameters that say what an image is of, in this order. */
const SUBJECTS = ['filename', 'path', 'url', 'title', 'name', 'element', 'selector', 'description'] as const;
const MAX_SUBJECT = 80;

/** The file, page or title that a call names. */
function subjectOf(tool: string, input: unknown): string | undefined {
  if (!isRecord(input)) return undefined;
  const path = getPath(DEFAULT_TOOLS, { tool, input });
  if (path !== undefined) return shortPath(path);
  const said = SUBJECTS.map((name) => input[name]).find((value) => typeof value === 'string' && value !== '');
  return typeof said === 'string' ? said.slice(0, MAX_SUBJECT) : undefined;
}
