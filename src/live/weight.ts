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
 * If a request exceeds the first share of the byte limit, images are removed until it is below the
 * second share, so that later images fit too.
 */
const CONDENSE_ABOVE_BYTES_SHARE = 0.9;
const TARGET_BYTES_SHARE = 0.5;
const MAX_IMAGES_KEPT_AFTER_REMOVAL = 10;

export interface RequestForMeasuring extends Pick<View, 'original' | 'messages'> {
  readonly overheadBytes: number;
  readonly pinned: ReadonlySet<number>;
}

/** Approximate size of a request in bytes. */
export const measureRequestBytes = ({
  messages,
  overheadBytes,
}: Pick<RequestForMeasuring, 'messages' | 'overheadBytes'>): number =>
  messages.reduce((sum, message) => sum + countMessageBytes(message), overheadBytes);

/**
 * Returns undefined if the request is small enough or no image can be removed. The newest image
 * stays if the request can be sent with it.
 */
export function chooseImagesToKeep(request: RequestForMeasuring, limits: BodyLimits): ImagesToKeep | undefined {
  if (!request.messages.some(hasImages)) return undefined;
  const { bytes = Infinity, manyImages, imageBytes: maxBytes, edge: maxEdge } = limits;
  const taskIndex = findTaskMessage(request.original);
  const images = listImages(request.messages);
  const requestBytes = measureRequestBytes(request);
  const isBodyTooLarge = requestBytes > bytes * CONDENSE_ABOVE_BYTES_SHARE;
  const hasTooManyImages =
    manyImages !== undefined &&
    images.length > manyImages.above &&
    images.some((image) => isImageTooLarge(image, { maxEdge: manyImages.edge }));
  const singleImageLimits: ImageLimits = { maxEdge, maxBytes };
  const hasTooLargeImage = images.some((image) => isImageTooLarge(image, singleImageLimits));
  if (!isBodyTooLarge && !hasTooManyImages && !hasTooLargeImage) return undefined;
  const presentImages = new Set(images.map(({ image }) => image));
  const isRemovable = ({ message, image }: PlacedImage): boolean =>
    message > taskIndex && !request.pinned.has(message) && presentImages.has(image);
  const imagesNewestFirst = listImages(request.original)
    .filter(({ message }) => message > taskIndex)
    .toReversed();
  const removableSizes = imagesNewestFirst.map((image) => (isRemovable(image) ? countImageBytes(image) : 0));
  const otherBytes = requestBytes - removableSizes.reduce((sum, size) => sum + size, 0);
  const imagesThatFit = isBodyTooLarge
    ? countItemsThatFit(removableSizes, bytes * TARGET_BYTES_SHARE - otherBytes)
    : removableSizes.length;
  const minKeptImages = otherBytes + (removableSizes[0] ?? 0) <= bytes ? 1 : 0;
  const fixedImageCount = images.length - removableSizes.filter((size) => size > 0).length;
  const maxKeptImages = hasTooManyImages
    ? Math.max(0, Math.min(MAX_IMAGES_KEPT_AFTER_REMOVAL, manyImages.above - fixedImageCount))
    : Infinity;
  const keepNewest = Math.min(Math.max(imagesThatFit, minKeptImages), maxKeptImages);
  const removesAny = imagesNewestFirst.some(
    (image, newer) => isRemovable(image) && (newer >= keepNewest || isImageTooLarge(image, singleImageLimits)),
  );
  return removesAny ? { ...singleImageLimits, keepNewest } : undefined;
}

function countItemsThatFit(sizes: readonly number[], bytes: number): number {
  let remainingBytes = bytes;
  const firstThatDoesNotFit = sizes.findIndex((size) => (remainingBytes -= size) < 0);
  return firstThatDoesNotFit < 0 ? sizes.length : firstThatDoesNotFit;
}
