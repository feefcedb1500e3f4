import { describe, expect, it } from 'vitest';
import { assistant, call, result, user } from '../testing';
import { getCallsPart, messageKey } from './messageKey';

describe('messageKey', () => {
  it('is that of the content, whatever the object', () => {
    expect(messageKey(user('one'))).toBe(messageKey(user('one')));
    expect(messageKey(user('one'))).not.toBe(messageKey(user('two')));
    expect(messageKey(user('one'))).not.toBe(messageKey(assistant('one')));
  });

  it('names the calls and results of a message, so that it is known again when its content changes', () => {
    const before = user(result('c1', [{ type: 'image', source: {} }]), result('c2', 'text'));
    const after = user(result('c1', 'shown before'), result('c2', 'text'));
    expect(messageKey(before)).not.toBe(messageKey(after));
    expect(getCallsPart(messageKey(before))).toBe(getCallsPart(messageKey(after)));
    const others = [user(result('c1', 'x')), user(result('c2', 'x'), result('c1', 'x')), assistant(call('c1', 'a'))];
    expect(new Set([before, ...others].map((message) => getCallsPart(messageKey(message)))).size).toBe(4);
    expect(getCallsPart(messageKey(user('text')))).toBeUndefined();
  });
});
