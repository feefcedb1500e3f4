import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { cpuNow, lines } from '../../testing';
import { Draft } from '../draft/draft';
import { repeatedCommands, repeatedListings, similarResults } from './consolidation';
import { duplicateReads, duplicateResults } from './duplicates';
import { obsoleteState } from './obsoleteState';
import { terminalNoise } from './terminal';
import { counter, did, TASK } from './testing';

const tools = DEFAULT_TOOLS;

const A = lines('a', 20);

describe('the running time of Lossless', () => {
  it('is linear for 1,000 exchanges of one group and 10,000 messages', () => {
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
      step.run(draft);
    }
    expect(draft.edits.length).toBeGreaterThan(9_000);
    expect(cpuNow() - started).toBeLessThan(10_000);
  });

  it('is cut short by an abort from another thread', () => {
    const messages = [TASK];
    for (let index = 0; index < 100; index++)
      messages.push(...did('Bash', { command: 'make' }, `\u001b[31m${A}\u001b[0m`));
    const draft = new Draft(messages, counter);
    // As the engine's: it looks at a shared flag whenever it is asked.
    const { signal } = new AbortController();
    let asked = 0;
    signal.throwIfAborted = () => {
      if (++asked > 10) throw new Error('stop');
    };
    expect(() => {
      terminalNoise(tools).run(draft, signal);
    }).toThrow('stop');
    expect(draft.edits.length).toBeLessThanOrEqual(10);
  });
});
