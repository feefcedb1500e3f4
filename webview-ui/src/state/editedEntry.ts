import { createContext } from 'react';
import type { Path } from './path';

export interface EditedEntry {
  readonly name: string;
  /** Path of the entry within the setting. */
  readonly path: Path;
  readonly value: unknown;
  /** The effective value with defaults; undefined while unknown. */
  readonly effective: unknown;
  readonly isChanged: boolean;
  /**
   * Changes the draft unless the value has problems.
   * @param path within the entry
   * @param isTrial only checks the value
   * @returns problems with paths within the setting
   */
  readonly change: (path: Path, value: unknown, isTrial: boolean) => Promise<readonly EntryProblem[]>;
  /** Reports whether a field contains invalid text, which prevents applying the draft. */
  readonly hold: (id: string, isWrong: boolean) => void;
}

const runningValidations = new Set<Promise<unknown>>();

export function trackValidation(change: Promise<unknown>): void {
  runningValidations.add(change);
  const forgetEntry = (): void => {
    runningValidations.delete(change);
  };
  change.then(forgetEntry, forgetEntry);
}

/** Waits until all pending changes of drafts have been checked. */
export const waitForValidations = (): Promise<unknown> => Promise.allSettled(runningValidations);

interface EntryProblem {
  readonly path: string;
  readonly message: string;
}

/** Set inside an editor whose changes go to a draft first. */
export const EditedEntryContext = createContext<EditedEntry | undefined>(undefined);

/** Returns undefined if the path leads outside the entry. */
export function getPathInEntry(entry: EditedEntry | undefined, name: string, path: Path): Path | undefined {
  if (entry?.name !== name || path.length < entry.path.length) return undefined;
  return entry.path.every((key, at) => path[at] === key) ? path.slice(entry.path.length) : undefined;
}
