/**
 * File operations, which tests replace to simulate a full disk or a crash. Errors are the system's,
 * with their codes.
 */

export interface OpenFile {
  /** @returns the number of bytes, 0 at the end */
  read(into: Uint8Array, position: number): Promise<number>;
  /**
   * Appends bytes.
   * @returns the number written, possibly fewer than given
   */
  write(bytes: Uint8Array): Promise<number>;
  truncate(length: number): Promise<void>;
  sync(): Promise<void>;
  status(): Promise<FileStatus>;
  close(): Promise<void>;
}

export interface FileStatus {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly bytes: number;
  /** When the file was last modified, in milliseconds since the epoch. */
  readonly modified: number;
  /** A number that changes if the file is replaced. */
  readonly identity: number;
  readonly permissions: number;
}

/**
 * `append` creates a missing file; `create` fails with EEXIST if the path exists, even as a link.
 */
export type OpenMode = 'read' | 'append' | 'create';

export interface Files {
  readonly open: (path: string, mode: OpenMode) => Promise<OpenFile>;
  /** Reads the status of a path without following links. */
  readonly status: (path: string) => Promise<FileStatus>;
  readonly realPath: (path: string) => Promise<string>;
  readonly list: (folder: string) => Promise<readonly string[]>;
  /** Creates a folder with missing parents, accessible only to the user. */
  readonly makeFolder: (path: string) => Promise<void>;
  /** Waits until created, renamed and removed entries of a folder are on the disk. */
  readonly syncFolder: (path: string) => Promise<void>;
  /** Renames a file, atomically replacing one at `to`. */
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly removeFile: (path: string) => Promise<void>;
  /** Fails if the folder isn't empty. */
  readonly removeEmptyFolder: (path: string) => Promise<void>;
  /** Removes a folder with its content; links in it are removed, not followed. */
  readonly removeFolder: (path: string) => Promise<void>;
  readonly setPermissions: (path: string, permissions: number) => Promise<void>;
  readonly touch: (path: string, time: number) => Promise<void>;
}
