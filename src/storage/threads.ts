/**
 * Records which threads have ended, since a process ID can't tell a killed thread from a running
 * one. Threads share one bit per thread ID; Node never reuses IDs.
 */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const ENDED_THREADS_KEY = 'context-condenser.ended-threads';
/**
 * Number of thread IDs that are tracked. Locks of threads with higher IDs expire like other
 * machines' locks.
 */
const MAX_TRACKED_THREADS = 1 << 16;

/** Returns the shared bits. Only threads started after the first call share them. */
function getEndedThreads(): Uint8Array {
  const stored = getEnvironmentData(ENDED_THREADS_KEY);
  const bits = stored instanceof SharedArrayBuffer ? stored : new SharedArrayBuffer(MAX_TRACKED_THREADS / 8);
  if (bits !== stored) setEnvironmentData(ENDED_THREADS_KEY, bits);
  return new Uint8Array(bits);
}

/** Call this before starting a thread whose end is to be recorded. */
export const shareEndedThreads = (): void => void getEndedThreads();

const isTrackedThread = (thread: number): boolean => thread >= 0 && thread < MAX_TRACKED_THREADS;

export function recordEndedThread(thread: number): void {
  if (isTrackedThread(thread)) Atomics.or(getEndedThreads(), thread >> 3, 1 << (thread & 7));
}

export const hasThreadEnded = (thread: number): boolean =>
  isTrackedThread(thread) && (Atomics.load(getEndedThreads(), thread >> 3) & (1 << (thread & 7))) !== 0;
