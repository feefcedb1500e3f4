/**
 * Ctrl+Z undoes the newest change for which the page shows Undo; Ctrl+Y and Ctrl+Shift+Z redo what it
 * undid in the passes. A text field keeps its own undo.
 */
import { useEffect, useRef } from 'react';

type UndoAction = () => void;

interface StackEntry {
  readonly run: UndoAction;
}

/** Changes that can be undone now, oldest first. */
const undoStack: StackEntry[] = [];
const redoStack: StackEntry[] = [];

/**
 * Lets Ctrl+Z run the undo while the component is shown.
 * @param undo undefined: nothing to undo
 */
export const useUndoKey = (undo: UndoAction | undefined): void => {
  useStackEntry(undoStack, undo);
};

export const useRedoKey = (redo: UndoAction | undefined): void => {
  useStackEntry(redoStack, redo);
};

function useStackEntry(stack: StackEntry[], action: UndoAction | undefined): void {
  const latestAction = useRef(action);
  latestAction.current = action;
  const hasAction = action !== undefined;
  useEffect(() => {
    if (!hasAction) return undefined;
    const entry = {
      run: () => {
        latestAction.current?.();
      },
    };
    stack.push(entry);
    return () => {
      stack.splice(stack.indexOf(entry), 1);
    };
  }, [hasAction]);
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
    const key = `${event.shiftKey ? 'shift+' : ''}${event.key.toLowerCase()}`;
    const stack = key === 'z' ? undoStack : key === 'y' || key === 'shift+z' ? redoStack : undefined;
    if (!stack || !(event.ctrlKey || event.metaKey) || event.altKey || isTextField(event.composedPath()[0])) return;
    event.preventDefault();
    event.stopPropagation();
    stack.at(-1)?.run();
  };
  document.addEventListener('keydown', onKey, true);
  return () => {
    document.removeEventListener('keydown', onKey, true);
  };
}
