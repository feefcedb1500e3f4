import { expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { Draft } from '../draft/draft';
import { getLineCache } from './knownLines';
import { counter, TASK_MESSAGE } from './testing';

it('the lines of a conversation are split only once by the runs of a task, one after the other', () => {
  const messages = [TASK_MESSAGE];
  const first = new Draft(messages, counter);
  const lineCache = getLineCache(first, DEFAULT_TOOLS);
  const simultaneous = new Draft(messages, counter);
  expect(getLineCache(simultaneous, DEFAULT_TOOLS)).not.toBe(lineCache);
  simultaneous.releaseResources();
  first.releaseResources();
  expect(getLineCache(new Draft(messages, counter), DEFAULT_TOOLS)).toBe(lineCache);
});
