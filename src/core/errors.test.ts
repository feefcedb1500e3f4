import { expect, it } from 'vitest';
import { getErrorCode, getErrorMessage } from './errors';

it('every thrown value has a message, and only system errors have a code', () => {
  const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });
  expect([getErrorMessage(missing), getErrorCode(missing)]).toEqual(['no such file', 'ENOENT']);
  expect([getErrorMessage('text'), getErrorCode('text')]).toEqual(['text', undefined]);
  expect(getErrorCode(Object.assign(new Error('odd'), { code: 7 }))).toBeUndefined();
});
