import type { ExceededBodyLimits } from '../api/tooLong';
import type { View } from '../core/condense/edits/view';
import { isImageTooLarge, type ImageLimits } from '../core/condense/operations/oldImages';
import { hasImages, countImageBytes, listImages, countMessageBytes, type PlacedImage } from '../core/messages/images';
import { findTaskMessage } from '../core/messages/task';
import type { RequestLimits } from '../core/vendors/requestLimits';

export type BodyLimits = RequestLimits & Pick<ExceededBodyLimits, 'imageBytes' | 'edge'>;

/** True if single images were rejected instead of the whole body. */
export const areSingleImagesTooLarge = ({ imageBytes, edge, manyImages }: ExceededBodyLimits): boolean =>
  imageBytes !== undefined || edge !== undefined || manyImages !== undefined;

/** Says which images stay. Truncation's configuration has the same fields. */
export interface ImagesToKeep extends ImageLimits {
  readonly keepNewest: number;
}

/**
 * Images are removed if a request exceeds the first share of the byte limit. The rest is below the
 * second share, so that later images fit too.
 */
const CONDENSE_ABOVE_BYTES_SHARE = 0.9;
const TARGET_BYTES_SHARE = 0.5;
const MAX_IMAGES_KEPT_AFTER_REMOVAL = 10;

export interface RequestForMeasuring extends Pick<View, 'original' | 'messages'> {
  readonly besideBytes: number;
  readonly pinned: ReadonlySet<number>;
}

/** Approximate size of a request in bytes. */
export const measureRequestBytes = ({
  messages,
  besideBytes,
}: Pick<RequestForMeasuring, 'messages' | 'besideBytes'>): number =>
  messages.reduce((sum, message) => sum + countMessageBytes(message), besideBytes);

/**
 * Returns undefined if the request is small enough or no image can be removed. The newest image
 * stays as long as the request can be sent with it.
 */
export function chooseImagesToKeep(request: RequestForMeasuring, limits: BodyLimits): ImagesToKeep | undefined {
  if (!request.messages.some(hasImages)) return undefined;
  const { bytes = Infinity, manyImages, imageBytes: maxBytes, edge: maxEdge } = limits;
  const task = findTaskMessage(request.original);
  const images = listImages(request.messages);
  const weight = measureRequestBytes(request);
  const isHeavy = weight > bytes * CONDENSE_ABOVE_BYTES_SHARE;
  const isMany =
    manyImages !== undefined &&
    images.length > manyImages.above &&
    images.some((image) => isImageTooLarge(image, { maxEdge: manyImages.edge }));
  const singleImageLimits: ImageLimits = { maxEdge, maxBytes };
  const isLarge = images.some((image) => isImageTooLarge(image, singleImageLimits));
  if (!isHeavy && !isMany && !isLarge) return undefined;
  const presentImages = new Set(images.map(({ image }) => image));
  const isRemovable = ({ message, image }: PlacedImage): boolean =>
    message > task && !request.pinned.has(message) && presentImages.has(image);
  const newestFirst = listImages(request.original)
    .filter(({ message }) => message > task)
    .toReversed();
  const sizes = newestFirst.map((image) => (isRemovable(image) ? countImageBytes(image) : 0));
  const otherBytes = weight - sizes.reduce((sum, size) => sum + size, 0);
  const imagesThatFit = isHeavy ? countItemsThatFit(sizes, bytes * TARGET_BYTES_SHARE - otherBytes) : sizes.length;
  const minKept = otherBytes + (sizes[0] ?? 0) <= bytes ? 1 : 0;
  const fixedImages = images.length - sizes.filter((size) => size > 0).length;
  const maxKept = isMany
    ? Math.max(0, Math.min(MAX_IMAGES_KEPT_AFTER_REMOVAL, manyImages.above - fixedImages))
    : Infinity;
  const keepNewest = Math.min(Math.max(imagesThatFit, minKept), maxKept);
  const removesAny = newestFirst.some(
    (image, newer) => isRemovable(image) && (newer >= keepNewest || isImageTooLarge(image, singleImageLimits)),
  );
  return removesAny ? { ...singleImageLimits, keepNewest } : undefined;
}

function countItemsThatFit(sizes: readonly number[], bytes: number): number {
  let remainingBytes = bytes;
  const first = sizes.findIndex((size) => (remainingBytes -= size) < 0);
  return first < 0 ? sizes.length : first;
}
