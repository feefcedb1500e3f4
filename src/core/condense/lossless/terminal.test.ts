import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { makeCodeLines, makeExchange, getShownResult, runSteps, TASK_MESSAGE } from './testing';
import { findTerminalNoise, createTerminalNoiseStep } from './terminal';

const cut = (text: string): string => {
  let shown = text;
  for (const { start, end, marker } of findTerminalNoise(text).toReversed()) {
    shown = shown.slice(0, start) + (marker === null ? '' : `[${marker}]`) + shown.slice(end);
  }
  return shown;
};

describe('terminal noise that Lossless removes', () => {
  it('includes control sequences', () => {
    expect(cut('\u001b[1;32mok\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u001b\\ \u001bMend')).toBe(
      'ok link end',
    );
  });

  it('includes text overwritten by a carriage return, but not a line that ends with one', () => {
    expect(cut('10 %\r50 %\r100 %\nnext\r\nlast')).toBe('100 %\nnext\nlast');
  });

  it('includes blanks at line ends', () => {
    expect(cut('one  \ntwo\t\n   \nthree')).toBe('one\ntwo\n\nthree');
  });

  it('includes repeated equal lines', () => {
    expect(cut(`start\n${'waiting…\n'.repeat(40)}done`)).toBe('start\nwaiting…\n[the line above × 39 more]\ndone');
    expect(cut('a\na\na\nb')).toBe('a\na\na\nb');
    expect(cut('\n\n\n\n\n\nb')).toBe('\n\n\n\n\n\nb');
  });

  it('is removed with the line if it is inside a repeated line', () => {
    expect(cut(`${'\u001b[1mx\u001b[0m  \n'.repeat(9)}end`)).toBe('x\n[the line above × 8 more]\nend');
  });

  it('does not include ordinary lines or indentation', () => {
    const output = `${makeCodeLines('a', 1, 30).join('\n')}\n  indented`;
    expect(findTerminalNoise(output)).toEqual([]);
  });
});

describe('the step that removes terminal noise', () => {
  const noisy = `start\n${'\u001b[33mwaiting for the server to come up\u001b[0m\n'.repeat(40)}done`;

  it('changes only results of commands', () => {
    const draft = runSteps(createTerminalNoiseStep(DEFAULT_TOOLS), [
      TASK_MESSAGE,
      ...makeExchange('Bash', { command: 'npm run dev' }, noisy),
      ...makeExchange('Read', { file_path: 'log' }, noisy),
      ...makeExchange('Bash', { command: 'true' }, 'quiet'),
    ]);
    expect(getShownResult(draft, 2)).toBe('start\nwaiting for the server to come up\n[the line above × 39 more]\ndone');
    expect(getShownResult(draft, 4)).toBe(noisy);
    expect(draft.edits.map(({ strict }) => strict)).toEqual([false]);
  });

  it('does not change the task', () => {
    const task = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'id', content: noisy }] } as const;
    const messages = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'id', name: 'Bash', input: {} }] },
      task,
    ] as const;
    expect(runSteps(createTerminalNoiseStep(DEFAULT_TOOLS), messages).edits).toEqual([]);
  });
});
