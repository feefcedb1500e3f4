/**
 * After the focused element is removed, or after a dialog or the palette, no element has the focus.
 * Keyboard users would lose their place.
 */

/** Focusable elements; the toolkit's elements contain their field in a shadow root. */
const FOCUSABLE_SELECTOR = [
  'button, input, select, textarea, a[href], [tabindex]:not([tabindex="-1"])',
  'vscode-button, vscode-checkbox, vscode-dropdown, vscode-text-field, vscode-text-area',
].join(', ');

/** An element's position: within its parent, after a sibling, or first. */
interface FocusPosition {
  readonly parent: Node;
  readonly nextNode: Node | null;
}

/**
 * Restores the last focus when the page regains it. If the focused element was removed, focuses a
 * neighbor, first within the parent, then further out.
 * @returns a function that stops this
 */
export function moveFocusWhenRemoved(root: HTMLElement): () => void {
  let lastFocused: HTMLElement | undefined;
  let lostPosition: FocusPosition | undefined;
  let isWindowBlurred = false;

  const restoreFocus = (): void => {
    // A dialog of VS Code has the focus; don't take it away.
    if (isWindowBlurred || document.activeElement !== document.body) return;
    if (lostPosition) findNextFocus(lostPosition, root)?.focus();
    else lastFocused?.focus();
  };
  const observer = new MutationObserver((records) => {
    for (const { target, removedNodes, previousSibling } of records) {
      for (const removedNode of removedNodes)
        lostPosition = findPositionAfter(removedNode, { parent: target, nextNode: previousSibling });
    }
    if (lastFocused && !root.contains(lastFocused)) lastFocused = undefined;
    if (lostPosition) restoreFocus();
  });
  /** Returns where to look for the next focus after a node was removed. */
  const findPositionAfter = (removed: Node, before: FocusPosition): FocusPosition | undefined => {
    if (lastFocused && removed.contains(lastFocused)) return before;
    if (lostPosition && (removed.contains(lostPosition.parent) || removed === lostPosition.nextNode)) return before;
    return lostPosition;
  };

  const events = new AbortController();
  const { signal } = events;
  root.addEventListener(
    'focusin',
    ({ target }) => {
      lastFocused = target instanceof HTMLElement ? target : undefined;
      lostPosition = undefined;
    },
    { signal },
  );
  // A click outside all controls removes the focus on purpose.
  root.addEventListener(
    'pointerdown',
    () => {
      lastFocused = undefined;
      lostPosition = undefined;
    },
    { signal },
  );
  // Blur events of elements don't bubble; these come from the window.
  window.addEventListener('blur', () => (isWindowBlurred = true), { signal });
  window.addEventListener(
    'focus',
    () => {
      isWindowBlurred = false;
      restoreFocus();
    },
    { signal },
  );
  observer.observe(root, { childList: true, subtree: true });
  return () => {
    observer.disconnect();
    events.abort();
  };
}

function findNextFocus({ parent, nextNode }: FocusPosition, root: HTMLElement): HTMLElement | undefined {
  const before = document.createRange();
  if (nextNode?.parentNode === parent) before.setStartAfter(nextNode);
  else before.setStart(parent, 0);
  before.collapse(true);
  for (let ancestor = parent instanceof Element ? parent : null; ancestor; ancestor = ancestor.parentElement) {
    const candidates = [...ancestor.querySelectorAll<HTMLElement>(FOCUSABLE_SELECTOR)].filter(
      (one) => !one.closest('[hidden]'),
    );
    const nextFocusable = candidates.find((one) => before.comparePoint(one, 0) >= 0) ?? candidates.at(-1);
    if (nextFocusable) return nextFocusable;
    if (ancestor === root) return undefined;
  }
  return undefined;
}
