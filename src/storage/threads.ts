/**
 * Tracks which threads of this process have ended, since a process ID can't distinguish a killed
 * thread from a running one. All threads share one bit per thread ID; Node never reuses IDs.
 */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const KEY = 'context-condenser.ended-threads';
/** Locks of threads with higher IDs expire like those of other machines. */
const MOST_THREADS = 1 << 16;

/** The bits, also shared with threads started after the first call. */
function endedThreads(): Uint8Array {
  const known = getEnvironmentData(KEY);
  const bits = known instanceof SharedArrayBuffer ? known : new SharedArrayBuffer(MOST_THREADS / 8);
  if (bits !== known) setEnvironmentData(KEY, bits);
  return new Uint8Array(bits);
}

/** Call before starting a thread whose end will be recorded. */
export const shareEndedThreads = (): void => void endedThreads();

const isCounted = (thread: number): boolean => thread >= 0 && thread < MOST_THREADS;

/** @param thread its `threadId` while it ran */
export function noteEndedThread(thread: number): void {
  if (isCounted(thread)) Atomics.or(endedThreads(), thread >> 3, 1 << (thread & 7));
}

export const hasThreadEnded = (thread: number): boolean =>
  isCounted(thread) && (Atomics.load(endedThreads(), thread >> 3) & (1 << (thread & 7))) !== 0;
