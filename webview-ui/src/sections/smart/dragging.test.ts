import type { Active, ClientRect, DroppableContainer, SensorContext, UniqueIdentifier } from '@dnd-kit/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { detectClosestTitle, moveDraggedOneStep } from './dragging';

const rect = (top: number, height: number): ClientRect => ({
  top,
  height,
  bottom: top + height,
  left: 0,
  right: 300,
  width: 300,
});

/** Creates the rectangles of passes that have these heights and are placed below each other. */
function createPasses(heights: readonly number[]): Map<UniqueIdentifier, ClientRect> {
  let top = 0;
  return new Map(
    heights.map((height, index) => {
      const entry = [index, rect(top, height)] as const;
      top += height;
      return entry;
    }),
  );
}

// Contains only the parts of the library's objects that are read.
const active = { id: 0 } as Active;
const contextOf = (droppableRects: Map<UniqueIdentifier, ClientRect>, active: Active | null, over: number) =>
  ({ active, over: { id: over }, droppableRects }) as SensorContext;

/** Returns the pass below a dragged one. */
function findPassBelow(
  rects: Map<UniqueIdentifier, ClientRect>,
  top: number,
  height: number,
): UniqueIdentifier | undefined {
  const droppableContainers = [...rects.keys()].map((id) => ({ id }) as DroppableContainer);
  return detectClosestTitle({
    active,
    collisionRect: rect(top, height),
    droppableRects: rects,
    droppableContainers,
    pointerCoordinates: null,
  })[0]?.id;
}

const heights = fc.array(fc.oneof(fc.constant(40), fc.integer({ min: 20, max: 3000 })), { minLength: 2, maxLength: 9 });

it('each arrow key press moves by one pass, whatever the passes’ heights', () => {
  fc.assert(
    fc.property(heights, fc.nat(), (list, seed) => {
      const rects = createPasses(list);
      const picked = seed % list.length;
      const height = list[picked] ?? 0;
      const walk = (code: string, from: number, to: number): void => {
        let at = { x: 0, y: rects.get(from)?.top ?? 0 };
        for (let place = from; place !== to;) {
          const event = new KeyboardEvent('keydown', { code, cancelable: true });
          const next = moveDraggedOneStep(event, {
            active: picked,
            currentCoordinates: at,
            context: contextOf(rects, { id: picked } as Active, place),
          });
          expect(event.defaultPrevented).toBe(true);
          expect(next).toBeDefined();
          if (!next) return;
          at = next;
          place += code === 'ArrowDown' ? 1 : -1;
          expect(findPassBelow(rects, at.y, height)).toBe(place);
        }
      };
      walk('ArrowDown', picked, list.length - 1);
      walk('ArrowUp', list.length - 1, 0);
    }),
  );
});

it('arrow keys stop at the ends of the list, and other keys do not move a pass', () => {
  const rects = createPasses([40, 800]);
  const press = (code: string, place: number, dragged: Active | null = active) =>
    moveDraggedOneStep(new KeyboardEvent('keydown', { code }), {
      active: 0,
      currentCoordinates: { x: 0, y: 0 },
      context: contextOf(rects, dragged, place),
    });
  expect(press('ArrowUp', 0)).toBeUndefined();
  expect(press('ArrowDown', 1)).toBeUndefined();
  expect(press('ArrowRight', 0)).toBeUndefined();
  expect(press('ArrowDown', 0, null)).toBeUndefined();
});
