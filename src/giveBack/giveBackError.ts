export type GiveBackErrorKind =
  /** The agent is working on the conversation or was a moment ago. */
  | 'running'
  | 'changed'
  | 'locked'
  | 'not-supported'
  | 'unexpected-shape'
  | 'newer-version'
  | 'outside-folder'
  | 'missing';

export interface GiveBackErrorDetails {
  readonly kind: GiveBackErrorKind;
  readonly path: string;
  /** Sentences for the user. */
  readonly happened: string;
  readonly notDone: string;
  readonly advice: string;
}

export const NOTHING_WRITTEN_TEXT = 'Nothing was written.';

/** The conversation could not be given back. Errors of the disk are StorageErrors. */
export class GiveBackError extends Error {
  override readonly name = 'GiveBackError';
  readonly kind: GiveBackErrorKind;

  constructor(
    readonly data: GiveBackErrorDetails,
    options?: ErrorOptions,
  ) {
    super(`${data.happened} ${data.notDone} ${data.advice} File: ${data.path}`, options);
    this.kind = data.kind;
  }
}

export const createTaskRunningError = (path: string, whatHappened: string): GiveBackError =>
  new GiveBackError({
    kind: 'running',
    path,
    happened: whatHappened,
    notDone: NOTHING_WRITTEN_TEXT,
    advice: 'Stop or close the task in its agent, and try again.',
  });

/** @param notDone a sentence about what was not done */
export const createFileChangedError = (path: string, notDone = NOTHING_WRITTEN_TEXT): GiveBackError =>
  new GiveBackError({
    kind: 'changed',
    path,
    happened: 'The file has changed since it was read.',
    notDone,
    advice: 'Condense the conversation as it is now.',
  });

/** @param notDone a sentence about what was not done */
export const createFileMissingError = (path: string, notDone = NOTHING_WRITTEN_TEXT): GiveBackError =>
  new GiveBackError({
    kind: 'missing',
    path,
    happened: 'The file no longer exists.',
    notDone,
    advice: 'It may have been deleted in its agent, or moved.',
  });

/** Undoing would lose what the agent has added. */
export const createContinuedError = (path: string): GiveBackError =>
  new GiveBackError({
    kind: 'changed',
    path,
    happened: 'The file is kept: the agent has continued in it.',
    notDone: 'Nothing was undone.',
    advice: 'To remove it, delete it in the agent.',
  });
