/** Elements up to this height mark a place well enough, even after their text is wrapped anew. */
const MAX_MARK_HEIGHT_PIXELS = 120;
const PROBE_STEP_PIXELS = 16;

interface Mark {
  readonly element: Element;
  /** Pixels below the bar at the top. */
  readonly offset: number;
}

/**
 * Keeps in view what is at the top of it while the width of the page changes. The browser does so
 * only for changes of the content.
 * @returns stops it
 */
export function keepPlaceOnResize(main: HTMLElement): () => void {
  let width = window.innerWidth;
  let mark: Mark | undefined;
  const getTop = (): number => document.querySelector('.top')?.getBoundingClientRect().bottom ?? 0;
  const setMark = (): void => {
    // Wrapping the text anew can scroll the page before the resize event.
    if (window.innerWidth === width) mark = findMark(main, getTop());
  };
  const onResize = (): void => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    const box = mark?.element.getBoundingClientRect();
    // A mark that was folded or removed has no height.
    if (!mark || !box || box.height === 0) return;
    document.documentElement.scrollTop += box.top - getTop() - mark.offset;
  };
  const events = new AbortController();
  window.addEventListener('scroll', setMark, { passive: true, signal: events.signal });
  window.addEventListener('resize', onResize, { passive: true, signal: events.signal });
  return () => {
    events.abort();
  };
}

/** Returns the first small element below the bar at the top. */
function findMark(main: HTMLElement, top: number): Mark | undefined {
  const { left, width } = main.getBoundingClientRect();
  for (let y = top + 1; y < window.innerHeight; y += PROBE_STEP_PIXELS) {
    const element = document.elementFromPoint(left + width / 4, y);
    if (!element || !main.contains(element)) continue;
    const box = element.getBoundingClientRect();
    if (box.height <= MAX_MARK_HEIGHT_PIXELS) return { element, offset: box.top - top };
  }
  return undefined;
}
