import { formatLocalDay } from '../localDay';

const HOUR_MS = 60 * 60_000;

/** Claude's and ChatGPT's plans limit usage per period of this length. */
export const USAGE_BLOCK_MS = 5 * HOUR_MS;

interface RequestTime {
  readonly agent: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * As in ccusage's `blocks`, each block starts at the hour of its first request. Only requests made
 * on this device are known.
 * @returns a function that gives a block's start in milliseconds since the epoch
 */
export function createUsageBlockFinder(moments: readonly RequestTime[]): (agent: string, at: number) => number {
  const startsByAgent = new Map<string, number[]>();
  for (const { agent, at: timeMs } of [...moments].sort((a, b) => a.at - b.at)) {
    const starts = startsByAgent.get(agent) ?? [];
    startsByAgent.set(agent, starts);
    const lastStart = starts.at(-1);
    if (lastStart === undefined || timeMs >= lastStart + USAGE_BLOCK_MS)
      starts.push(Math.floor(timeMs / HOUR_MS) * HOUR_MS);
  }
  return (agent, timeMs) => {
    const starts = startsByAgent.get(agent) ?? [];
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middleIndex = (low + high) >> 1;
      if ((starts[middleIndex] ?? Infinity) <= timeMs) low = middleIndex + 1;
      else high = middleIndex;
    }
    return starts[low - 1] ?? Math.floor(timeMs / HOUR_MS) * HOUR_MS;
  };
}

export function getMondayOfWeek(day: string): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const weekday = (new Date(year, month - 1, date).getDay() + 6) % 7;
  return formatLocalDay(new Date(year, month - 1, date - weekday).getTime());
}

export function formatUsageBlockName(start: number): string {
  const date = new Date(start);
  const padToTwoDigits = (value: number): string => String(value).padStart(2, '0');
  return `${formatLocalDay(start)} ${padToTwoDigits(date.getHours())}:${padToTwoDigits(date.getMinutes())}`;
}
