/** Measures how long the thread is blocked, which users notice in the extension host. */
const HAS_THREAD_CPU_USAGE = Number.parseInt(process.versions.node) >= 24;

/**
 * CPU time of this thread in milliseconds; older versions of Node report only that of all threads,
 * including the collector.
 */
const readThreadCpuMs = (): number => {
  const { user, system } = HAS_THREAD_CPU_USAGE ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
};

/**
 * Measures the longest time between two turns of the event loop, until the returned function is
 * called. The time is the lesser of wall time and CPU time, since other programs may delay the
 * thread. It is checked every millisecond.
 */
export function startBlockMonitor(): () => Promise<number> {
  let longest = 0;
  let [last, lastCpu] = [performance.now(), readThreadCpuMs()];
  let isMonitoring = true;
  const checkTurn = (): void => {
    const [now, cpu] = [performance.now(), readThreadCpuMs()];
    longest = Math.max(longest, Math.min(now - last, cpu - lastCpu));
    [last, lastCpu] = [now, cpu];
    if (isMonitoring) setTimeout(checkTurn, 1);
  };
  setTimeout(checkTurn, 1);
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    isMonitoring = false;
    return longest;
  };
}
