import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { USAGE_BLOCK_MS, formatUsageBlockName, createUsageBlockFinder, getMondayOfWeek } from './blocks';

const HOUR = 3_600_000;
const agent = 'Claude Code';
const listStarts = (times: readonly number[]): readonly number[] => {
  const start = createUsageBlockFinder(times.map((at) => ({ agent, at })));
  return times.map((at) => start(agent, at));
};

/**
 * Implements the rule of ccusage's `blocks` (session-blocks, `identifySessionBlocks`): a block
 * starts at a full UTC hour and ends after five hours, or after five hours without requests.
 */
function peerStarts(times: readonly number[]): Map<number, number> {
  const starts = new Map<number, number>();
  let start: number | undefined;
  let last = 0;
  for (const at of [...times].sort((a, b) => a - b)) {
    if (start === undefined || at - start >= USAGE_BLOCK_MS || at - last > USAGE_BLOCK_MS) start = at - (at % HOUR);
    last = at;
    starts.set(at, start);
  }
  return starts;
}

describe('five-hour blocks', () => {
  const times = fc.array(fc.integer({ min: 0, max: 60 * HOUR }).map((at) => Date.UTC(2026, 2, 28) + at));

  it('equal those of ccusage for the same requests', () => {
    fc.assert(
      fc.property(times, (all) => {
        const peer = peerStarts(all);
        expect(listStarts(all)).toEqual(all.map((at) => peer.get(at)));
      }),
    );
  });

  it('are separate for each agent', () => {
    const at = Date.UTC(2026, 2, 28, 10, 30);
    const start = createUsageBlockFinder([
      { agent, at },
      { agent: 'Codex', at: at + HOUR },
    ]);
    expect(start(agent, at)).toBe(Date.UTC(2026, 2, 28, 10));
    expect(start('Codex', at + HOUR)).toBe(Date.UTC(2026, 2, 28, 11));
  });

  it('continue past midnight, and start over after a pause', () => {
    const day = Date.UTC(2026, 2, 28);
    expect(listStarts([day + 22.5 * HOUR, day + 26 * HOUR, day + 27 * HOUR, day + 40 * HOUR])).toEqual(
      [22, 22, 27, 40].map((hour) => day + hour * HOUR),
    );
  });
});

describe("names of blocks and weeks in the user's time zone", () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  it.each([
    ['UTC', '2026-03-29 01:00', '2026-03-23'],
    ['Europe/Berlin', '2026-03-29 03:00', '2026-03-23'],
    ['Asia/Kolkata', '2026-03-29 06:30', '2026-03-23'],
    ['America/New_York', '2026-03-28 21:00', '2026-03-23'],
    ['Pacific/Auckland', '2026-03-29 14:00', '2026-03-23'],
  ])('in %s are right for a block during a clock change, and for its week', (name, block, week) => {
    process.env['TZ'] = name;
    expect(formatUsageBlockName(Date.UTC(2026, 2, 29, 1))).toBe(block);
    expect(getMondayOfWeek(block.slice(0, 10))).toBe(week);
  });
});
