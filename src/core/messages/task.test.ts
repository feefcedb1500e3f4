import { describe, expect, it } from 'vitest';
import { assistant, call, result, user } from '../testing';
import { findTaskMessage, findStartOfUnfinishedTurn } from './task';

describe('the task message', () => {
  it("is the user's last message before the first answer", () => {
    expect(findTaskMessage([])).toBe(-1);
    expect(findTaskMessage([assistant('x')])).toBe(-1);
    expect(findTaskMessage([user('task'), assistant('x'), user('more')])).toBe(0);
    expect(findTaskMessage([user('environment'), user('task'), assistant('x'), user('more')])).toBe(1);
  });

  it('comes after what the agent and the developer put in front of it', () => {
    const system = { role: 'system', content: 'x' } as const;
    expect(
      findTaskMessage([system, user('environment'), system, user('task'), system, assistant('x'), user('more')]),
    ).toBe(3);
  });

  it('is neither a result nor a summary', () => {
    expect(findTaskMessage([user('task'), { ...user('so far'), isSummary: true }, user('more')])).toBe(0);
    expect(findTaskMessage([user('task'), user(result('c1', 'x')), assistant(call('c2', 'a'))])).toBe(0);
  });
});

describe('the message that starts a turn', () => {
  const step = [assistant(call('a', 'Read')), user(result('a', 'x'))];

  it('is the latest user message that is not a reply to a call', () => {
    expect(findStartOfUnfinishedTurn([])).toBe(-1);
    expect(findStartOfUnfinishedTurn(step)).toBe(-1);
    expect(findStartOfUnfinishedTurn([user('task'), ...step, ...step])).toBe(0);
    expect(
      findStartOfUnfinishedTurn([user('task'), ...step, assistant('done'), user('and'), user('more'), ...step]),
    ).toBe(5);
    expect(findStartOfUnfinishedTurn([user('task'), ...step, assistant('done'), user('more')])).toBe(4);
  });

  it('is not a message that the user inserted between calls', () => {
    expect(findStartOfUnfinishedTurn([user('task'), ...step, user('faster'), ...step])).toBe(0);
    expect(
      findStartOfUnfinishedTurn([user('task'), assistant(call('a', 'Read')), user('look'), user(result('a', 'x'))]),
    ).toBe(0);
  });
});
