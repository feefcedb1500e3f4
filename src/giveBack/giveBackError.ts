/** Why a condensed conversation was not given back. */
export type GiveBackTrouble =
  /** The agent works on it, or did a moment ago. */
  | 'running'
  /** The file is not the one that was read. */
  | 'changed'
  | 'locked'
  /** This agent's files are never written. */
  | 'not-supported'
  /** The file has a shape that this version doesn't write. */
  | 'unexpected-shape'
  | 'newer-version'
  | 'outside-folder'
  | 'missing';

export interface GiveBackErrorData {
  readonly trouble: GiveBackTrouble;
  readonly path: string;
  /** Sentences for a person: what happened, what was therefore not done, what to do. */
  readonly happened: string;
  readonly notDone: string;
  readonly advice: string;
}

export const NOTHING_WRITTEN = 'Nothing was written.';

/** A refusal in words. What the disk itself refuses is a StorageError. */
export class GiveBackError extends Error {
  override readonly name = 'GiveBackError';
  readonly trouble: GiveBackTrouble;

  constructor(
    readonly data: GiveBackErrorData,
    options?: ErrorOptions,
  ) {
    super(`${data.path}: ${data.happened} ${data.notDone} ${data.advice}`, options);
    this.trouble = data.trouble;
  }
}

/** The agent works on the conversation, or may. @param happened a sentence: how that is known */
export const runningError = (path: string, happened: string): GiveBackError =>
  new GiveBackError({
    trouble: 'running',
    path,
    happened,
    notDone: NOTHING_WRITTEN,
    advice: 'Stop or close the task in its agent, and try again.',
  });

/** Somebody wrote to the file between reading and writing. @param notDone a sentence: what was left undone */
export const changedError = (path: string, notDone = NOTHING_WRITTEN): GiveBackError =>
  new GiveBackError({
    trouble: 'changed',
    path,
    happened: 'The file has changed since it was read.',
    notDone,
    advice: 'Condense the conversation as it is now.',
  });

/** The file was deleted or moved since it was read. @param notDone a sentence: what was left undone */
export const missingError = (path: string, notDone = NOTHING_WRITTEN): GiveBackError =>
  new GiveBackError({
    trouble: 'missing',
    path,
    happened: 'The file no longer exists.',
    notDone,
    advice: 'It may have been deleted in its agent, or moved.',
  });
