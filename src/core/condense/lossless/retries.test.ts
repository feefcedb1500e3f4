import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { retriedErrors } from './retries';
import { called, code, run, shown, TASK } from './testing';

const LONG = code('a', 1, 8).join('\n');
const FILE = { file_path: '/work/a.ts' };
const FAILED = { is_error: true };
const condense = retriedErrors(DEFAULT_TOOLS);
const MARKER = '[this call failed and was made again later]';

describe('parameters of failed calls under Lossless', () => {
  it('are removed if the same file was edited successfully soon after', () => {
    const draft = run(condense, [
      TASK,
      ...called('Edit', { ...FILE, old_string: LONG, new_string: 'short' }, 'no match', FAILED),
      ...called('Edit', { ...FILE, old_string: LONG, new_string: 'short' }),
    ]);
    expect(shown(draft, 1, 'content', 0, 'input', 'old_string')).toBe(MARKER);
    expect(shown(draft, 1, 'content', 0, 'input', 'new_string')).toBe('short');
    expect(shown(draft, 1, 'content', 0, 'input', 'file_path')).toBe(FILE.file_path);
    expect(shown(draft, 2, 'content', 0, 'content')).toBe('no match');
    expect(shown(draft, 3, 'content', 0, 'input', 'old_string')).toBe(LONG);
  });

  it('are removed if a command or an unknown tool was called similarly soon after', () => {
    const command = `npm run build -- ${LONG}`;
    const draft = run(condense, [
      TASK,
      ...called('Bash', { command }, 'failed', FAILED),
      ...called('issue', { body: LONG }, 'failed', FAILED),
      ...called('Bash', { command: 'cd /work && npm run build' }),
      ...called('issue', { body: `${LONG}\nmore` }),
    ]);
    expect(shown(draft, 1, 'content', 0, 'input', 'command')).toBe(MARKER);
    expect(shown(draft, 3, 'content', 0, 'input', 'body')).toBe(MARKER);
  });

  it('stay if the call was not made again', () => {
    const edit = { old_string: LONG };
    const messages = [
      TASK,
      ...called('Edit', { ...FILE, ...edit }),
      ...called('Edit', { ...FILE, ...edit }, 'no match', FAILED),
      ...called('Edit', { file_path: '/work/b.ts', ...edit }),
      ...called('Edit', edit, 'no path', FAILED),
      ...called('Read', { ...FILE, note: LONG }, 'no file', FAILED),
      ...called('Bash', { command: LONG.replaceAll(' ', '') }, 'failed', FAILED),
      ...called('Bash', {}, 'failed', FAILED),
    ];
    expect(run(condense, messages).edits).toEqual([]);
  });

  it('stay if the next successful call does something else', () => {
    const messages = [
      TASK,
      ...called('issue', { id: 1, body: LONG }, 'rejected', FAILED),
      ...called('issue', { id: 1, state: 'closed' }),
      ...called('Edit', { ...FILE, old_string: LONG, new_string: code('b', 1, 8).join('\n') }, 'no match', FAILED),
      ...called('Edit', { ...FILE, old_string: code('c', 1, 8).join('\n'), new_string: 'c' }),
      ...called('issue', { id: 1, body: 'short' }),
    ];
    expect(run(condense, messages).edits).toEqual([]);
  });

  it('stay if the success came too late to be a retry', () => {
    const between = Array.from({ length: 30 }, (_, at) => called('Bash', { command: `ls ${at}` })).flat();
    const edit = { ...FILE, old_string: LONG };
    const messages = [TASK, ...called('Edit', edit, 'no match', FAILED), ...between, ...called('Edit', edit)];
    expect(run(condense, messages).edits).toEqual([]);
  });
});
