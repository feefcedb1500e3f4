/**
 * Ctrl+Z undoes the newest change for which the page shows Undo. A text field keeps its own undo.
 */
import { useEffect, useRef } from 'react';

type UndoAction = () => void;

/** Changes that can be undone now, oldest first. */
const undoStack: { readonly run: UndoAction }[] = [];

/**
 * Lets Ctrl+Z run the undo while the component is shown.
 * @param undo undefined: nothing to undo
 */
export function useUndoKey(undo: UndoAction | undefined): void {
  const latestUndo = useRef(undo);
  latestUndo.current = undo;
  const hasUndo = undo !== undefined;
  useEffect(() => {
    if (!hasUndo) return undefined;
    const entry = {
      run: () => {
        latestUndo.current?.();
      },
    };
    undoStack.push(entry);
    return () => {
      undoStack.splice(undoStack.indexOf(entry), 1);
    };
  }, [hasUndo]);
}

const INPUTS_WITHOUT_TEXT = new Set(['button', 'checkbox', 'radio', 'range', 'submit', 'reset']);

const isTextField = (target: EventTarget | undefined): boolean =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && !INPUTS_WITHOUT_TEXT.has(target.type)) ||
  (target instanceof HTMLElement && target.isContentEditable);

/**
 * Without this, VS Code would undo the last typing in any of the page's fields.
 * @returns a function that stops listening
 */
export function listenForUndoKey(): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const isUndo =
      (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'z';
    if (!isUndo || isTextField(event.composedPath()[0])) return;
    event.preventDefault();
    event.stopPropagation();
    undoStack.at(-1)?.run();
  };
  document.addEventListener('keydown', onKey, true);
  return () => {
    document.removeEventListener('keydown', onKey, true);
  };
}
