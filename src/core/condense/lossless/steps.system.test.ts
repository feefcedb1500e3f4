import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { readCpuMs, makeLines } from '../../testing';
import { Draft } from '../draft/draft';
import { createRepeatedCommandsStep, createRepeatedListingsStep, createSimilarResultsStep } from './consolidation';
import { createDuplicateReadsStep, createDuplicateResultsStep } from './duplicates';
import { createObsoleteStateStep } from './obsoleteState';
import { createTerminalNoiseStep } from './terminal';
import { counter, makeExchange, TASK_MESSAGE } from './testing';

const tools = DEFAULT_TOOLS;

const A = makeLines('a', 20);

describe('the running time of Lossless', () => {
  it('is linear for 1,000 exchanges of one group and 10,000 messages', () => {
    const messages = [TASK_MESSAGE];
    for (let index = 0; index < 5_000; index++) {
      const group = index < 1_000 ? 'same' : `g${index}`;
      messages.push(
        ...makeExchange('Bash', { command: group }, `${A} ${index}`),
        ...makeExchange('Read', {}, A),
        ...makeExchange('Grep', { group }, A),
      );
    }
    const started = readCpuMs();
    const draft = new Draft(messages, counter);
    for (const step of [
      createRepeatedCommandsStep(tools),
      createSimilarResultsStep(tools),
      createDuplicateReadsStep(tools, 'latest'),
      createDuplicateResultsStep(tools, 'latest'),
      createRepeatedListingsStep(tools, 'latest'),
      createObsoleteStateStep(tools),
    ]) {
      step.run(draft);
    }
    expect(draft.edits.length).toBeGreaterThan(9_000);
    expect(readCpuMs() - started).toBeLessThan(10_000);
  });

  it('is cut short by an abort from another thread', () => {
    const messages = [TASK_MESSAGE];
    for (let index = 0; index < 100; index++)
      messages.push(...makeExchange('Bash', { command: 'make' }, `\u001b[31m${A}\u001b[0m`));
    const draft = new Draft(messages, counter);
    // This signal acts like the engine's, which looks at a shared flag whenever it is asked.
    const { signal } = new AbortController();
    let asked = 0;
    signal.throwIfAborted = () => {
      if (++asked > 10) throw new Error('stop');
    };
    expect(() => {
      createTerminalNoiseStep(tools).run(draft, signal);
    }).toThrow('stop');
    expect(draft.edits.length).toBeLessThanOrEqual(10);
  });
});
