import { describe, expect, it } from 'vitest';
import {
  MAX_TASK_IDLE_MS,
  MIN_TASK_IDLE_MS,
  selectIdleTasks,
  type IdleTaskOfferAnswer,
  type StoredTask,
} from './idleTask';

const NOW = Date.UTC(2026, 0, 5);
const THRESHOLD = 1_000;
const zoo = (id: string, changes: Partial<StoredTask> = {}): StoredTask => ({
  path: `/home/me/globalStorage/zoocodeorganization.zoo-code/tasks/${id}/api_conversation_history.json`,
  agent: 'Zoo Code',
  modified: NOW - MIN_TASK_IDLE_MS,
  tokens: THRESHOLD,
  threshold: THRESHOLD,
  share: '75%',
  ...changes,
});
const dueOf = (tasks: readonly StoredTask[], answers: Readonly<Record<string, IdleTaskOfferAnswer>> = {}) =>
  selectIdleTasks(tasks, new Map(Object.entries(answers)), NOW).due?.path;

describe('the task offered for condensing before it is resumed', () => {
  it('is the newest one that is idle and above its threshold', () => {
    const [older, newer] = [zoo('a', { modified: NOW - MIN_TASK_IDLE_MS - 1 }), zoo('b')];
    expect(dueOf([older, newer])).toBe(newer.path);
    expect(dueOf([zoo('a', { tokens: THRESHOLD - 1 })])).toBeUndefined();
    expect(dueOf([zoo('a', { modified: NOW - MAX_TASK_IDLE_MS })])).toBeUndefined();
  });

  it('belongs to an agent that can continue with the condensed version', () => {
    const codex = zoo('a', { path: '/home/me/.codex/sessions/rollout-1.jsonl', agent: 'Codex' });
    expect(dueOf([codex])).toBeUndefined();
    const moved = '/data/tasks/1/api_conversation_history.json';
    expect(dueOf([zoo('a', { path: moved })])).toBe(moved);
    expect(dueOf([zoo('a', { path: moved, agent: 'Cline' })])).toBeUndefined();
  });

  it('was not written a moment ago; otherwise the time still to wait is returned', () => {
    const tasks = [zoo('a', { modified: NOW - 60_000 }), zoo('b', { modified: NOW - 1 }), zoo('c', { tokens: 1 })];
    expect(selectIdleTasks(tasks, new Map(), NOW)).toEqual({
      due: undefined,
      waitMs: MIN_TASK_IDLE_MS - 60_000,
    });
    expect(selectIdleTasks([], new Map(), NOW)).toEqual({ due: undefined, waitMs: undefined });
  });

  it('was neither offered at this size before nor declined for good', () => {
    const task = zoo('a', { tokens: 1_099 });
    expect(dueOf([task], { [task.path]: 1_000 })).toBeUndefined();
    expect(dueOf([{ ...task, tokens: 1_100 }], { [task.path]: 1_000 })).toBe(task.path);
    expect(dueOf([{ ...task, tokens: 9_000 }], { [task.path]: 'never' })).toBeUndefined();
  });

  it('was not condensed after it was last written', () => {
    const task = zoo('a');
    expect(dueOf([{ ...task, condensedAt: task.modified }])).toBeUndefined();
    expect(dueOf([{ ...task, condensedAt: task.modified - 1 }])).toBe(task.path);
  });
});
