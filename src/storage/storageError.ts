import { getErrorCode, getErrorMessage } from '../core/errors';

export type StorageErrorKind =
  | 'no-space'
  | 'no-permission'
  | 'read-only'
  | 'locked'
  | 'outside-root'
  | 'not-ours'
  | 'newer-version'
  | 'missing-original'
  | 'damaged-original'
  | 'wrong-original'
  | 'io';

export interface StorageErrorDetails {
  readonly kind: StorageErrorKind;
  readonly path: string;
  /** Sentences for the user. */
  readonly happened: string;
  readonly notDone: string;
  readonly advice: string;
}

export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly kind: StorageErrorKind;
  readonly path: string;

  constructor(
    readonly data: StorageErrorDetails,
    options?: ErrorOptions,
  ) {
    super(`${data.path}: ${data.happened} ${data.notDone} ${data.advice}`, options);
    this.kind = data.kind;
    this.path = data.path;
  }
}

export const isStorageError = (error: unknown): error is StorageError => error instanceof StorageError;

interface StorageErrorTexts {
  readonly kind: StorageErrorKind;
  readonly happened: string;
  readonly advice: string;
}

const NO_SPACE_TEXTS: StorageErrorTexts = {
  kind: 'no-space',
  happened: 'The disk (or your quota on it) is full.',
  advice: 'Free some space and try again.',
};
const NO_PERMISSION_TEXTS: StorageErrorTexts = {
  kind: 'no-permission',
  happened: 'The system does not permit access.',
  advice: 'Give your user read and write permission for this path.',
};
const ERROR_TEXTS_BY_CODE: Readonly<Record<string, StorageErrorTexts>> = {
  ENOSPC: NO_SPACE_TEXTS,
  EDQUOT: NO_SPACE_TEXTS,
  EACCES: NO_PERMISSION_TEXTS,
  EPERM: NO_PERMISSION_TEXTS,
  EROFS: {
    kind: 'read-only',
    happened: 'The file system is read-only.',
    advice: 'Choose a storage folder that can be written.',
  },
};

export const createNewerVersionError = (path: string, notDone: string): StorageError =>
  new StorageError({
    kind: 'newer-version',
    path,
    happened: 'A newer version of Context Condenser wrote this ledger.',
    notDone,
    advice: 'Update Context Condenser.',
  });

/** Returns a StorageError unchanged. */
export function toStorageError(error: unknown, path: string, notDone: string): StorageError {
  if (isStorageError(error)) return error;
  const errorTexts = ERROR_TEXTS_BY_CODE[getErrorCode(error) ?? ''] ?? {
    kind: 'io',
    happened: `The system reported: ${getErrorMessage(error)}.`,
    advice: 'Check the disk and try again.',
  };
  return new StorageError({ ...errorTexts, path, notDone }, { cause: error });
}

export async function convertFileErrors<T>(path: string, notDone: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw toStorageError(error, path, notDone);
  }
}
