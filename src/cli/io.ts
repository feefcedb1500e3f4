import type { Home } from '../storage/home';

/** The parts of its process that the command line needs; tests bring their own. */
export interface CliIo extends Home {
  /** Results: the report, or the one JSON object. A terminal obeys nothing in them: see `terminal.ts`. */
  readonly stdout: (text: string) => void;
  /** A conversation's own text, for a file or another program; absent where it goes the way of results. A terminal never gets it raw. */
  readonly data?: (text: string) => void;
  /** Everything else. */
  readonly stderr: (text: string) => void;
  /** Shows how far long work is in the place of what it showed before; an empty text takes it away. Absent without a terminal. */
  readonly showProgress?: (words: string) => void;
  /** Folder of the bundles and assets. */
  readonly assets: string;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly version: string;
}

/** The command's end, as the shell sees it. */
export const EXIT = { done: 0, nothingToGain: 1, badInput: 2, failed: 3, cancelled: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
