import { describe, expect, it } from 'vitest';
import { assistant, call, result, user } from '../testing';
import { findTask, findTurnStart } from './task';

describe('findTask', () => {
  it('is the last of what the user said before the first answer', () => {
    expect(findTask([])).toBe(-1);
    expect(findTask([assistant('x')])).toBe(-1);
    expect(findTask([user('task'), assistant('x'), user('more')])).toBe(0);
    expect(findTask([user('environment'), user('task'), assistant('x'), user('more')])).toBe(1);
  });

  it('stands behind what the agent and the developer put in front', () => {
    const system = { role: 'system', content: 'x' } as const;
    expect(findTask([system, user('environment'), system, user('task'), system, assistant('x'), user('more')])).toBe(3);
  });

  it('is no result and no summary', () => {
    expect(findTask([user('task'), { ...user('so far'), isSummary: true }, user('more')])).toBe(0);
    expect(findTask([user('task'), user(result('c1', 'x')), assistant(call('c2', 'a'))])).toBe(0);
  });
});

describe('findTurnStart', () => {
  const step = [assistant(call('a', 'Read')), user(result('a', 'x'))];

  it('is the last of the words that no call asked for', () => {
    expect(findTurnStart([])).toBe(-1);
    expect(findTurnStart(step)).toBe(-1);
    expect(findTurnStart([user('task'), ...step, ...step])).toBe(0);
    expect(findTurnStart([user('task'), ...step, assistant('done'), user('and'), user('more'), ...step])).toBe(5);
    expect(findTurnStart([user('task'), ...step, assistant('done'), user('more')])).toBe(4);
  });

  it('is not put in behind results', () => {
    expect(findTurnStart([user('task'), ...step, user('faster'), ...step])).toBe(0);
    expect(findTurnStart([user('task'), assistant(call('a', 'Read')), user('look'), user(result('a', 'x'))])).toBe(0);
  });
});
