/**
 * Tracks which threads of this process have ended, since a process ID can't distinguish a killed
 * thread from a running one. All threads share one bit per thread ID; Node never reuses IDs.
 */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const ENDED_THREADS_KEY = 'context-condenser.ended-threads';
/** Locks of threads with higher IDs expire like other machines' locks. */
const MAX_TRACKED_THREADS = 1 << 16;

/** The bits, also shared with threads started after the first call. */
function getEndedThreads(): Uint8Array {
  const known = getEnvironmentData(ENDED_THREADS_KEY);
  const bits = known instanceof SharedArrayBuffer ? known : new SharedArrayBuffer(MAX_TRACKED_THREADS / 8);
  if (bits !== known) setEnvironmentData(ENDED_THREADS_KEY, bits);
  return new Uint8Array(bits);
}

/** Call before starting a thread whose end will be recorded. */
export const shareEndedThreads = (): void => void getEndedThreads();

const isCounted = (thread: number): boolean => thread >= 0 && thread < MAX_TRACKED_THREADS;

/** @param thread its `threadId` while it ran */
export function noteEndedThread(thread: number): void {
  if (isCounted(thread)) Atomics.or(getEndedThreads(), thread >> 3, 1 << (thread & 7));
}

export const hasThreadEnded = (thread: number): boolean =>
  isCounted(thread) && (Atomics.load(getEndedThreads(), thread >> 3) & (1 << (thread & 7))) !== 0;
