import { expect, it } from 'vitest';
import { errorCode, errorMessage } from './errors';

it('every thrown value has a message, and only system errors have a code', () => {
  const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });
  expect([errorMessage(missing), errorCode(missing)]).toEqual(['no such file', 'ENOENT']);
  expect([errorMessage('text'), errorCode('text')]).toEqual(['text', undefined]);
  expect(errorCode(Object.assign(new Error('odd'), { code: 7 }))).toBeUndefined();
});
