import type { HomeEnvironment } from '../storage/home';

/** The process's environment and streams, which tests replace. */
export interface CliIo extends HomeEnvironment {
  /**
   * Receives the report or JSON object. Terminal control characters are escaped (see
   * `terminal.ts`).
   */
  readonly stdout: (text: string) => void;
  /**
   * Receives a conversation's text; absent if stdout is a terminal, which must not receive it raw.
   */
  readonly data?: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Replaces the previous progress text; an empty text removes it. Absent without a terminal. */
  readonly showProgress?: (words: string) => void;
  /** Folder of bundles and assets. */
  readonly assets: string;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly version: string;
}

export const EXIT_CODE = { done: 0, nothingToGain: 1, badInput: 2, failed: 3, cancelled: 130 } as const;
export type ExitCode = (typeof EXIT_CODE)[keyof typeof EXIT_CODE];
