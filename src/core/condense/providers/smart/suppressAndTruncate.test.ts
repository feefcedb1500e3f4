import { describe, expect, it } from 'vitest';
import { makeAnsweredExchange, makeToolExchange, makeLines } from '../../../testing';
import {
  createPass,
  LONG_TEXT,
  runPasses,
  TASK_MESSAGE,
  RESULT_PATH,
  makeInputPath,
  SUPPRESS_OPERATION,
} from './testing';

describe('the suppress operation', () => {
  it('leaves a result valid and keeps the parameters that identify a call', async () => {
    const messages = [
      TASK_MESSAGE,
      ...makeToolExchange('a', 'Write', { file_path: 'src/a.ts', content: LONG_TEXT }, LONG_TEXT),
      ...makeToolExchange('b', 'Bash', { command: `cat <<EOF\n${LONG_TEXT}\nEOF` }, LONG_TEXT, { is_error: true }),
    ];
    const { getTextAt: at } = await runPasses(messages, [
      createPass({ toolParameters: SUPPRESS_OPERATION, toolResults: SUPPRESS_OPERATION }),
    ]);
    expect(at(1, ...makeInputPath('file_path'))).toBe('src/a.ts');
    expect(at(1, ...makeInputPath('content'))).toBe('[40 lines suppressed]');
    expect(at(2, ...RESULT_PATH)).toBe('[40 lines suppressed]');
    expect(at(3, ...makeInputPath('command'))).toMatch(/^cat <<EOF\na line 0 .*\n?\[\d+ lines suppressed\]$/s);
    expect(at(4, ...RESULT_PATH)).toBe('[40 lines suppressed]');
  });

  it('uses the configured marker text', async () => {
    const messages = [TASK_MESSAGE, ...makeToolExchange('a', 'Bash', {}, LONG_TEXT)];
    const { getTextAt: at } = await runPasses(messages, [
      createPass({ toolResults: { operation: 'suppress', marker: 'output omitted' } }),
    ]);
    expect(at(2, ...RESULT_PATH)).toBe('[output omitted]');
  });

  it('keeps a person’s words in a result', async () => {
    const said = `${LONG_TEXT}\n<feedback>\nNot like that!\n</feedback>\n${LONG_TEXT}`;
    const { getTextAt: at } = await runPasses(
      [TASK_MESSAGE, ...makeAnsweredExchange('a', 'attempt_completion', { result: 'x' }, said)],
      [createPass({ toolResults: SUPPRESS_OPERATION })],
    );
    expect(at(2, ...RESULT_PATH)).toBe(
      '[40 lines suppressed]\n<feedback>\nNot like that!\n</feedback>\n[40 lines suppressed]',
    );
  });
});

describe('the truncate operation', () => {
  it('keeps head, tail and error lines', async () => {
    const output = `${makeLines('a', 20)}\nsrc/a.ts(3,1): error TS2339: no such property\n${makeLines('b', 20)}`;
    const operation = { operation: 'truncate', maxLines: 2 } as const;
    const { getTextAt: at } = await runPasses(
      [TASK_MESSAGE, ...makeToolExchange('a', 'Bash', {}, output)],
      [createPass({ toolResults: operation })],
    );
    expect(at(2, ...RESULT_PATH).split('\n')).toEqual([
      'a line 0 with some words in it',
      '[19 lines truncated]',
      'src/a.ts(3,1): error TS2339: no such property',
      '[19 lines truncated]',
      'b line 19 with some words in it',
    ]);
    const without = await runPasses(
      [TASK_MESSAGE, ...makeToolExchange('a', 'Bash', {}, output)],
      [createPass({ toolResults: { ...operation, keepErrorLines: false } })],
    );
    expect(without.getTextAt(2, ...RESULT_PATH)).not.toContain('TS2339');
    // Lines about errors in a file are code.
    const read = await runPasses(
      [TASK_MESSAGE, ...makeToolExchange('a', 'Read', { file_path: 'a' }, output)],
      [createPass({ toolResults: operation })],
    );
    expect(read.getTextAt(2, ...RESULT_PATH)).not.toContain('TS2339');
  });

  it('truncates each string in parameters separately', async () => {
    const edits = [{ old_string: LONG_TEXT, new_string: 'short' }, { old_string: LONG_TEXT }];
    const messages = [TASK_MESSAGE, ...makeToolExchange('a', 'MultiEdit', { file_path: 'a.ts', edits }, 'done')];
    const { getTextAt: at } = await runPasses(messages, [
      createPass({ toolParameters: { operation: 'truncate', maxLines: 1 } }),
    ]);
    for (const index of [0, 1]) {
      expect(at(1, 'content', 0, 'input', 'edits', index, 'old_string')).toBe(
        'a line 0 with some words in it\n[39 lines truncated]',
      );
    }
    expect(at(1, 'content', 0, 'input', 'edits', 0, 'new_string')).toBe('short');
  });
});
