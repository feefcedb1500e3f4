/**
 * The few things that the storage asks of a file system, so that tests can put a full disk or a sudden death in its
 * place. All of it throws the system's own errors, with their codes.
 */

export interface OpenFile {
  /** Reads into the buffer from a position of the file; gives the number of bytes, 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Writes at the end of the file; gives the number of bytes written, which may be fewer than were given. */
  write(bytes: Uint8Array): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Returns once the content is on the disk. */
  sync(): Promise<void>;
  status(): Promise<FileStatus>;
  close(): Promise<void>;
}

export interface FileStatus {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Tells a file from one that took its place. */
  readonly identity: number;
  /** Who may read and write it: the permission bits. */
  readonly permissions: number;
}

/** `append` creates the file where there is none; `create` fails with EEXIST where there is one (a link too). */
export type OpenMode = 'read' | 'append' | 'create';

export interface Files {
  readonly open: (path: string, mode: OpenMode) => Promise<OpenFile>;
  /** Of the path itself: links are not followed. */
  readonly status: (path: string) => Promise<FileStatus>;
  readonly realPath: (path: string) => Promise<string>;
  readonly list: (folder: string) => Promise<readonly string[]>;
  /** With the folders above it, for the user alone. */
  readonly makeFolder: (path: string) => Promise<void>;
  /** Puts what was created, renamed or removed in a folder on the disk. */
  readonly syncFolder: (path: string) => Promise<void>;
  /** Replaces what stands at `to`, in one step. */
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly removeFile: (path: string) => Promise<void>;
  /** Fails where something is in it. */
  readonly removeEmptyFolder: (path: string) => Promise<void>;
  /** With all that is in it; a link is removed, not followed. */
  readonly removeFolder: (path: string) => Promise<void>;
  readonly setPermissions: (path: string, permissions: number) => Promise<void>;
  /** Sets the time of the last change. */
  readonly touch: (path: string, time: number) => Promise<void>;
}
