export type GiveBackTrouble =
  /** The agent is working on it or was a moment ago. */
  | 'running'
  /** The file changed since it was read. */
  | 'changed'
  | 'locked'
  /** Files of this agent are never written. */
  | 'not-supported'
  /** This version can't write the file's shape. */
  | 'unexpected-shape'
  | 'newer-version'
  | 'outside-folder'
  | 'missing';

export interface GiveBackErrorData {
  readonly trouble: GiveBackTrouble;
  readonly path: string;
  /** Sentences for a person: what happened, what was not done, what to do. */
  readonly happened: string;
  readonly notDone: string;
  readonly advice: string;
}

export const NOTHING_WRITTEN_TEXT = 'Nothing was written.';

/** A refusal. Errors of the disk are StorageErrors instead. */
export class GiveBackError extends Error {
  override readonly name = 'GiveBackError';
  readonly trouble: GiveBackTrouble;

  constructor(
    readonly data: GiveBackErrorData,
    options?: ErrorOptions,
  ) {
    super(`${data.happened} ${data.notDone} ${data.advice} File: ${data.path}`, options);
    this.trouble = data.trouble;
  }
}

/**
 * The agent works, or may be working, on the conversation. @param happened a sentence with the
 * evidence
 */
export const createRunningError = (path: string, happened: string): GiveBackError =>
  new GiveBackError({
    trouble: 'running',
    path,
    happened,
    notDone: NOTHING_WRITTEN_TEXT,
    advice: 'Stop or close the task in its agent, and try again.',
  });

/**
 * The file was written between reading and writing. @param notDone a sentence: what was left undone
 */
export const createChangedError = (path: string, notDone = NOTHING_WRITTEN_TEXT): GiveBackError =>
  new GiveBackError({
    trouble: 'changed',
    path,
    happened: 'The file has changed since it was read.',
    notDone,
    advice: 'Condense the conversation as it is now.',
  });

/**
 * The file was deleted or moved since it was read. @param notDone a sentence: what was left undone
 */
export const createMissingError = (path: string, notDone = NOTHING_WRITTEN_TEXT): GiveBackError =>
  new GiveBackError({
    trouble: 'missing',
    path,
    happened: 'The file no longer exists.',
    notDone,
    advice: 'It may have been deleted in its agent, or moved.',
  });
