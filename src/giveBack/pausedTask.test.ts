import { utimesSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { nodeFiles } from '../storage/nodeFiles';
import { parseRooApi, runWhileTaskPaused, type WaitingClock } from './pausedTask';
import { writeZooTask } from './testing';

let home: string;
let path: string;
let calls: string[];
let time: number;

beforeEach(() => {
  home = temporaryFolder();
  path = writeZooTask(home);
  calls = [];
  time = Date.now();
});

/** A clock that only advances while something waits. */
const clock: WaitingClock = { now: () => time, wait: async (ms) => void (time += ms) };

const task = () => basename(dirname(path));

/** Creates the agent's interface; `stop` runs when the agent is told to cancel. */
const agent = (stack: unknown, stop: () => void = () => undefined) => ({
  getCurrentTaskStack: () => stack,
  cancelCurrentTask: async () => {
    calls.push('cancel');
    stop();
  },
  clearCurrentTask: async () => void calls.push('clear'),
  resumeTask: async (id: string) => void calls.push(`resume ${id === task() ? 'it' : id}`),
});

const writeNow = () => utimesSync(path, time / 1000, time / 1000);
const act = async () => void calls.push('act');

describe('acting on a task that is paused meanwhile', () => {
  it('cancels and closes the task, waits for its last write, acts, and resumes it', async () => {
    const began = time;
    await runWhileTaskPaused(agent([task()], writeNow), nodeFiles, path, clock, act);
    expect(calls).toEqual(['cancel', 'clear', 'act', 'resume it']);
    expect(time - began).toBeGreaterThanOrEqual(5_000);
  });

  it('resumes the task even if the action fails, and rethrows the error', async () => {
    const fail = () => Promise.reject(new Error('full disk'));
    await expect(runWhileTaskPaused(agent([task()]), nodeFiles, path, clock, fail)).rejects.toThrow('full disk');
    expect(calls.at(-1)).toBe('resume it');
  });

  it('leaves tasks with subtasks or in other windows unchanged', async () => {
    for (const stack of [[], ['another'], ['parent', task()], undefined]) {
      await expect(runWhileTaskPaused(agent(stack), nodeFiles, path, clock, act)).rejects.toMatchObject({
        kind: 'running',
      });
    }
    expect(calls).toEqual([]);
  });

  it('does nothing to a task that keeps writing', async () => {
    const busy: WaitingClock = {
      ...clock,
      wait: async (ms) => {
        time += ms;
        writeNow();
      },
    };
    await expect(runWhileTaskPaused(agent([task()], writeNow), nodeFiles, path, busy, act)).rejects.toThrow(
      /kept writing/,
    );
    expect(calls).toEqual(['cancel', 'clear', 'resume it']);
  });
});

describe("Roo's API for pausing tasks", () => {
  it('is used only if it has every method that is needed', () => {
    const api = agent([]);
    expect(parseRooApi(api)).toBe(api);
    for (const other of [undefined, null, {}, { ...api, resumeTask: 1 }]) expect(parseRooApi(other)).toBeUndefined();
  });
});
