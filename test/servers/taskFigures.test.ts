import { expect, test } from 'vitest';
import type { RecordedRequest } from './modelServer';
import { breakText, prefixBreaks } from './taskFigures';

test('the test bench reports a broken prefix with the difference, even far into a message', () => {
  const ending = (text: string): RecordedRequest => {
    const messages = ['begin', `${'z'.repeat(900)}${text}`].map((content) => ({ role: 'user', content }));
    return { body: { messages } } as unknown as RecordedRequest;
  };
  const requests = [ending('one'), ending('one'), ending('two')];
  const breaks = prefixBreaks(requests);
  expect(breaks).toEqual([{ request: 2, message: 1 }]);
  const words = breaks.map((each) => breakText(requests, each)).join();
  expect(words).toMatch(/^request 2 of 2 messages .* at message 1:\n {2}before: z+one"}\]\n {2}after: {2}z+two"}\]$/);
});
