import { describe, expect, it } from 'vitest';
import { assistant, call, result, user } from '../testing';
import { getCallsPartOfKey, makeMessageKey } from './messageKey';

describe('the key that identifies a message', () => {
  it('depends on the content, not the object', () => {
    expect(makeMessageKey(user('one'))).toBe(makeMessageKey(user('one')));
    expect(makeMessageKey(user('one'))).not.toBe(makeMessageKey(user('two')));
    expect(makeMessageKey(user('one'))).not.toBe(makeMessageKey(assistant('one')));
  });

  it('includes the calls and results of a message, so that it is recognized after its content changed', () => {
    const before = user(result('c1', [{ type: 'image', source: {} }]), result('c2', 'text'));
    const after = user(result('c1', 'shown before'), result('c2', 'text'));
    expect(makeMessageKey(before)).not.toBe(makeMessageKey(after));
    expect(getCallsPartOfKey(makeMessageKey(before))).toBe(getCallsPartOfKey(makeMessageKey(after)));
    const others = [user(result('c1', 'x')), user(result('c2', 'x'), result('c1', 'x')), assistant(call('c1', 'a'))];
    expect(new Set([before, ...others].map((message) => getCallsPartOfKey(makeMessageKey(message)))).size).toBe(4);
    expect(getCallsPartOfKey(makeMessageKey(user('text')))).toBeUndefined();
  });
});
