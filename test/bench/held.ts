/** Measures how long the thread is blocked, which users notice in the extension host. */
const KNOWS_THREADS = Number.parseInt(process.versions.node) >= 24;

/**
 * CPU time of this thread in milliseconds; older versions of Node report only that of all threads,
 * including the collector.
 */
const threadNow = (): number => {
  const { user, system } = KNOWS_THREADS ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
};

/**
 * Measures the longest time between two turns of the event loop until it is queried. This is the
 * lesser of wall time and CPU time, since other programs may delay the thread. It is checked every
 * millisecond.
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
