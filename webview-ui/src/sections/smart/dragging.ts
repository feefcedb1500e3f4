/**
 * Unfolded passes are much higher than folded ones, so the title lines, not centers or corners,
 * determine where a dragged pass belongs.
 */
import { closestCenter, KeyboardCode, type ClientRect, type CollisionDetection } from '@dnd-kit/core';
import type { KeyboardCoordinateGetter } from '@dnd-kit/core';

/** The title is at the upper edge. */
const limitRectToTitle = ({ top, left, right, width }: ClientRect): ClientRect => ({
  top,
  bottom: top,
  height: 0,
  left,
  right,
  width,
});

/** The target is the pass whose title line is closest to the dragged one's. */
export const detectClosestTitle: CollisionDetection = ({ collisionRect, droppableRects, ...rest }) =>
  closestCenter({
    ...rest,
    collisionRect: limitRectToTitle(collisionRect),
    droppableRects: new Map([...droppableRects].map(([id, rect]) => [id, limitRectToTitle(rect)])),
  });

/** An arrow key moves one place, whatever the heights. */
export const moveDraggedOneStep: KeyboardCoordinateGetter = (event, { currentCoordinates, context }) => {
  const { active, over, droppableRects } = context;
  const step = POSITION_CHANGE_BY_ARROW_KEY[event.code];
  if (step === undefined || !active) return undefined;
  event.preventDefault();
  // Positions of the passes in order, as if the dragged one had not moved.
  const titlesInOrder = [...droppableRects].toSorted(([, a], [, b]) => a.top - b.top);
  const currentIndex = titlesInOrder.findIndex(([id]) => id === (over ?? active).id);
  const nextRect = titlesInOrder[currentIndex + step]?.[1];
  return nextRect && { x: currentCoordinates.x, y: nextRect.top };
};

const POSITION_CHANGE_BY_ARROW_KEY: Readonly<Record<string, number>> = {
  [KeyboardCode.Up]: -1,
  [KeyboardCode.Down]: 1,
};
