import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../../core/messages/types';
import { counter, exported, user, assistant, text, call, result } from './testing';

describe('the hand-over prompt', () => {
  it('has the task, the facts and the end, with keys masked', () => {
    const { text: output, notes } = exported(
      {
        messages: [
          user(text('Fix the test in src/a.ts')),
          assistant(call('c1', { file_path: 'src/a.ts' })),
          user(result('c1', 'key sk-ant-abcdefghijklmnopqrst')),
          assistant(text('Found it.')),
        ],
      },
      'handover',
    );
    expect(output).toContain('## The conversation\nA title');
    expect(output).toContain('src/a.ts');
    expect(output).toContain('[4] assistant:\nFound it.');
    expect(output).not.toContain('sk-ant');
    expect(notes).toEqual(['1 prompt: what looks like a key is masked in it.']);
  });

  it('of a long conversation tells the end and what was summed up before', () => {
    const long = Array.from({ length: 60 }, (_, index): ApiMessage[] => [
      user(text(`ask ${index} ${'word '.repeat(400)}`)),
      assistant(text(`say ${index}`)),
    ]).flat();
    const { text: output, notes } = exported(
      { messages: [{ role: 'user', content: 'EARLIER', isCompactSummary: true }, ...long] },
      'handover',
    );
    expect(output).toContain('## Summary of what came before\nEARLIER');
    expect(output).toContain('say 59');
    expect(output).not.toContain('say 1\n');
    expect(output).toMatch(/\(\d+ earlier messages are left out\)/);
    expect(counter.text(output)).toBeLessThan(14_000);
    expect(notes[0]).toMatch(/^\d+ messages: covered only by the facts/);
  });
});
