/**
 * Which threads of this process have ended. A process id does not tell a thread that was killed from one that still works; all threads of
 * the process see the same bits, one for each thread id, and Node gives each id out once.
 */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const KEY = 'context-condenser.ended-threads';
/** Of more threads nothing is known: their locks go as those of other machines do. */
const MOST_THREADS = 1 << 16;

/** The bits. Threads that are started after the first call have them, too. */
function endedThreads(): Uint8Array {
  const known = getEnvironmentData(KEY);
  const bits = known instanceof SharedArrayBuffer ? known : new SharedArrayBuffer(MOST_THREADS / 8);
  if (bits !== known) setEnvironmentData(KEY, bits);
  return new Uint8Array(bits);
}

/** To be called before a thread is started whose end will be noted. */
export const shareEndedThreads = (): void => void endedThreads();

const isCounted = (thread: number): boolean => thread >= 0 && thread < MOST_THREADS;

/** @param thread its `threadId` while it ran */
export function noteEndedThread(thread: number): void {
  if (isCounted(thread)) Atomics.or(endedThreads(), thread >> 3, 1 << (thread & 7));
}

export const hasThreadEnded = (thread: number): boolean =>
  isCounted(thread) && (Atomics.load(endedThreads(), thread >> 3) & (1 << (thread & 7))) !== 0;
