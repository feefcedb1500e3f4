/** How long the thread was held: what the extension host's users feel of work, however long it takes in all. */
const KNOWS_THREADS = Number.parseInt(process.versions.node) >= 24;

/** Milliseconds of this thread's processor time; in an older Node that of all threads, the collector's too. */
const threadNow = (): number => {
  const { user, system } = KNOWS_THREADS ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
};

/**
 * How long the thread was held between two turns of the event loop at most, until it is asked: by the clock, or by the
 * thread's processor time where that is less, for other programs held it then. It looks every millisecond: a loop that never rested
 * would take a core from the thread that it waits for.
 */
export function monitorHeld(): () => Promise<number> {
  let longest = 0;
  let [last, lastCpu] = [performance.now(), threadNow()];
  let isOn = true;
  const turn = (): void => {
    const [now, cpu] = [performance.now(), threadNow()];
    longest = Math.max(longest, Math.min(now - last, cpu - lastCpu));
    [last, lastCpu] = [now, cpu];
    if (isOn) setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    isOn = false;
    return longest;
  };
}
