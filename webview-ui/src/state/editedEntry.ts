/** An entry of a setting's list that is being edited: its fields change a draft of it, and the settings once it is applied. */
import { createContext } from 'react';
import type { Path } from './path';

export interface EditedEntry {
  /** The setting. */
  readonly name: string;
  /** Path of the entry within the setting. */
  readonly path: Path;
  readonly value: unknown;
  /** The effective value, the defaults filled in; undefined as long as it is unknown. */
  readonly effective: unknown;
  readonly isChanged: boolean;
  /**
   * Changes the draft, unless something is wrong with the value.
   * @param path inside of the entry; @param isTrial nothing is changed, only judged.
   * @returns what is wrong, each with its place in the setting.
   */
  readonly change: (path: Path, value: unknown, isTrial: boolean) => Promise<readonly EntryProblem[]>;
  /** Reports whether a field contains text that is not a valid value, which prevents applying the draft. */
  readonly hold: (id: string, isWrong: boolean) => void;
}

const runningValidations = new Set<Promise<unknown>>();

/** Notes a change of a draft until it has been judged. */
export function trackValidation(change: Promise<unknown>): void {
  runningValidations.add(change);
  const forget = (): void => {
    runningValidations.delete(change);
  };
  change.then(forget, forget);
}

/** Waits until every change of a draft that is on its way has been judged. */
export const waitForValidations = (): Promise<unknown> => Promise.allSettled(runningValidations);

interface EntryProblem {
  readonly path: string;
  readonly message: string;
}

/** Set inside of an editor whose changes are a draft first. */
export const EditedEntryContext = createContext<EditedEntry | undefined>(undefined);

/** Returns the part of a path inside the entry; undefined if the path leads elsewhere. */
export function getPathInside(entry: EditedEntry | undefined, name: string, path: Path): Path | undefined {
  if (entry?.name !== name || path.length < entry.path.length) return undefined;
  return entry.path.every((key, at) => path[at] === key) ? path.slice(entry.path.length) : undefined;
}
