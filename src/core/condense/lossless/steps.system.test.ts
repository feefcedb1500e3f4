import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { cpuNow, lines } from '../../testing';
import { Draft } from '../draft/draft';
import { Pace } from '../../pace';
import { repeatedCommands, repeatedListings, similarResults } from './consolidation';
import { duplicateReads, duplicateResults } from './duplicates';
import { obsoleteState } from './obsoleteState';
import { counter, did, TASK } from './testing';

const tools = DEFAULT_TOOLS;

const A = lines('a', 20);

describe('time', () => {
  it('is linear: 1,000 exchanges of one group, 10,000 messages', async () => {
    const messages = [TASK];
    for (let index = 0; index < 5_000; index++) {
      const group = index < 1_000 ? 'same' : `g${index}`;
      messages.push(
        ...did('Bash', { command: group }, `${A} ${index}`),
        ...did('Read', {}, A),
        ...did('Grep', { group }, A),
      );
    }
    const started = cpuNow();
    const draft = new Draft(messages, counter);
    for (const step of [
      repeatedCommands(tools),
      similarResults(tools),
      duplicateReads(tools, 'latest'),
      duplicateResults(tools, 'latest'),
      repeatedListings(tools, 'latest'),
      obsoleteState(tools),
    ]) {
      await step.run(draft, new Pace());
    }
    expect(draft.edits.length).toBeGreaterThan(9_000);
    expect(cpuNow() - started).toBeLessThan(10_000);
  });

  it('gives the thread back and hears a cancel', async () => {
    const stop = new AbortController();
    const messages = [TASK];
    for (let index = 0; index < 3_000; index++) messages.push(...did('Read', {}, A));
    const draft = new Draft(messages, counter);
    setImmediate(() => {
      stop.abort(new Error('stop'));
    });
    await expect(duplicateReads(tools, 'latest').run(draft, new Pace(stop.signal))).rejects.toThrow('stop');
    expect(draft.edits.length).toBeLessThan(2_999);
  });
});
