import { describe, expect, it } from 'vitest';
import { answeredExchange, exchange, lines } from '../../../testing';
import { createPass, LONG, run, TASK, RESULT, input, SUPPRESS } from './testing';

describe('the suppress operation', () => {
  it('leaves a result valid and keeps what identifies a call', async () => {
    const messages = [
      TASK,
      ...exchange('a', 'Write', { file_path: 'src/a.ts', content: LONG }, LONG),
      ...exchange('b', 'Bash', { command: `cat <<EOF\n${LONG}\nEOF` }, LONG, { is_error: true }),
    ];
    const { at } = await run(messages, [createPass({ toolParameters: SUPPRESS, toolResults: SUPPRESS })]);
    expect(at(1, ...input('file_path'))).toBe('src/a.ts');
    expect(at(1, ...input('content'))).toBe('[40 lines suppressed]');
    expect(at(2, ...RESULT)).toBe('[40 lines suppressed]');
    expect(at(3, ...input('command'))).toMatch(/^cat <<EOF\na line 0 .*\n?\[\d+ lines suppressed\]$/s);
    expect(at(4, ...RESULT)).toBe('[40 lines suppressed]');
  });

  it('uses the configured marker text', async () => {
    const messages = [TASK, ...exchange('a', 'Bash', {}, LONG)];
    const { at } = await run(messages, [
      createPass({ toolResults: { operation: 'suppress', marker: 'output omitted' } }),
    ]);
    expect(at(2, ...RESULT)).toBe('[output omitted]');
  });

  it('keeps a person’s words in a result', async () => {
    const said = `${LONG}\n<feedback>\nNot like that!\n</feedback>\n${LONG}`;
    const { at } = await run(
      [TASK, ...answeredExchange('a', 'attempt_completion', { result: 'x' }, said)],
      [createPass({ toolResults: SUPPRESS })],
    );
    expect(at(2, ...RESULT)).toBe(
      '[40 lines suppressed]\n<feedback>\nNot like that!\n</feedback>\n[40 lines suppressed]',
    );
  });
});

describe('the truncate operation', () => {
  it('keeps head, tail and error lines', async () => {
    const output = `${lines('a', 20)}\nsrc/a.ts(3,1): error TS2339: no such property\n${lines('b', 20)}`;
    const operation = { operation: 'truncate', maxLines: 2 } as const;
    const { at } = await run([TASK, ...exchange('a', 'Bash', {}, output)], [createPass({ toolResults: operation })]);
    expect(at(2, ...RESULT).split('\n')).toEqual([
      'a line 0 with some words in it',
      '[19 lines truncated]',
      'src/a.ts(3,1): error TS2339: no such property',
      '[19 lines truncated]',
      'b line 19 with some words in it',
    ]);
    const without = await run(
      [TASK, ...exchange('a', 'Bash', {}, output)],
      [createPass({ toolResults: { ...operation, keepErrorLines: false } })],
    );
    expect(without.at(2, ...RESULT)).not.toContain('TS2339');
    // Words about errors in a file are code.
    const read = await run(
      [TASK, ...exchange('a', 'Read', { file_path: 'a' }, output)],
      [createPass({ toolResults: operation })],
    );
    expect(read.at(2, ...RESULT)).not.toContain('TS2339');
  });

  it('truncates each string in parameters separately', async () => {
    const edits = [{ old_string: LONG, new_string: 'short' }, { old_string: LONG }];
    const messages = [TASK, ...exchange('a', 'MultiEdit', { file_path: 'a.ts', edits }, 'done')];
    const { at } = await run(messages, [createPass({ toolParameters: { operation: 'truncate', maxLines: 1 } })]);
    for (const index of [0, 1]) {
      expect(at(1, 'content', 0, 'input', 'edits', index, 'old_string')).toBe(
        'a line 0 with some words in it\n[39 lines truncated]',
      );
    }
    expect(at(1, 'content', 0, 'input', 'edits', 0, 'new_string')).toBe('short');
  });
});
