/** Measures how long the thread is blocked, which users of the extension host notice. */
const KNOWS_THREADS = Number.parseInt(process.versions.node) >= 24;

/**
 * CPU time of this thread in milliseconds; in older Node versions of all threads, including the
 * collector.
 */
const threadNow = (): number => {
  const { user, system } = KNOWS_THREADS ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
};

/**
 * Maximum time between two event loop turns until queried: the lesser of wall and CPU time, since
 * other programs may delay it. Checks every millisecond.
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
