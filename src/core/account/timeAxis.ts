const DAY_MS = 24 * 60 * 60_000;
const MIN_BAR_WIDTH = 2;
const MAX_BAR_WIDTH = 16;

export interface DayBar {
  readonly x: number;
  readonly width: number;
}

/**
 * Places one bar per day on a time axis, so that days without costs are gaps.
 * @param days in order, such as "2026-01-31"
 */
export function placeDayBars(days: readonly string[], axisWidth: number): readonly DayBar[] {
  const first = Date.parse(days[0] ?? '');
  const span = (Date.parse(days.at(-1) ?? '') - first) / DAY_MS;
  const width = Math.min(MAX_BAR_WIDTH, Math.max(MIN_BAR_WIDTH, (0.8 * axisWidth) / (span + 1)));
  return days.map((day) => ({
    x: span === 0 ? 0 : ((Date.parse(day) - first) / DAY_MS / span) * (axisWidth - width),
    width,
  }));
}
