import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { createRetriedErrorsStep } from './retries';
import { makeCall, makeCodeLines, runSteps, getShownText, TASK_MESSAGE } from './testing';

const LONG = makeCodeLines('a', 1, 8).join('\n');
const FILE = { file_path: '/work/a.ts' };
const FAILED = { is_error: true };
const condense = createRetriedErrorsStep(DEFAULT_TOOLS);
const MARKER = '[this call failed and was made again later]';

describe('parameters of failed calls under Lossless', () => {
  it('are removed if the same file was edited successfully soon after', () => {
    const draft = runSteps(condense, [
      TASK_MESSAGE,
      ...makeCall('Edit', { ...FILE, old_string: LONG, new_string: 'short' }, 'no match', FAILED),
      ...makeCall('Edit', { ...FILE, old_string: LONG, new_string: 'short' }),
    ]);
    expect(getShownText(draft, 1, 'content', 0, 'input', 'old_string')).toBe(MARKER);
    expect(getShownText(draft, 1, 'content', 0, 'input', 'new_string')).toBe('short');
    expect(getShownText(draft, 1, 'content', 0, 'input', 'file_path')).toBe(FILE.file_path);
    expect(getShownText(draft, 2, 'content', 0, 'content')).toBe('no match');
    expect(getShownText(draft, 3, 'content', 0, 'input', 'old_string')).toBe(LONG);
  });

  it('are removed if a command or an unknown tool was called similarly soon after', () => {
    const command = `npm run build -- ${LONG}`;
    const draft = runSteps(condense, [
      TASK_MESSAGE,
      ...makeCall('Bash', { command }, 'failed', FAILED),
      ...makeCall('issue', { body: LONG }, 'failed', FAILED),
      ...makeCall('Bash', { command: 'cd /work && npm run build' }),
      ...makeCall('issue', { body: `${LONG}\nmore` }),
    ]);
    expect(getShownText(draft, 1, 'content', 0, 'input', 'command')).toBe(MARKER);
    expect(getShownText(draft, 3, 'content', 0, 'input', 'body')).toBe(MARKER);
  });

  it('stay if the call was not made again', () => {
    const edit = { old_string: LONG };
    const messages = [
      TASK_MESSAGE,
      ...makeCall('Edit', { ...FILE, ...edit }),
      ...makeCall('Edit', { ...FILE, ...edit }, 'no match', FAILED),
      ...makeCall('Edit', { file_path: '/work/b.ts', ...edit }),
      ...makeCall('Edit', edit, 'no path', FAILED),
      ...makeCall('Read', { ...FILE, note: LONG }, 'no file', FAILED),
      ...makeCall('Bash', { command: LONG.replaceAll(' ', '') }, 'failed', FAILED),
      ...makeCall('Bash', {}, 'failed', FAILED),
    ];
    expect(runSteps(condense, messages).edits).toEqual([]);
  });

  it('stay if the next successful call does something else', () => {
    const messages = [
      TASK_MESSAGE,
      ...makeCall('issue', { id: 1, body: LONG }, 'rejected', FAILED),
      ...makeCall('issue', { id: 1, state: 'closed' }),
      ...makeCall(
        'Edit',
        { ...FILE, old_string: LONG, new_string: makeCodeLines('b', 1, 8).join('\n') },
        'no match',
        FAILED,
      ),
      ...makeCall('Edit', { ...FILE, old_string: makeCodeLines('c', 1, 8).join('\n'), new_string: 'c' }),
      ...makeCall('issue', { id: 1, body: 'short' }),
    ];
    expect(runSteps(condense, messages).edits).toEqual([]);
  });

  it('stay if the success came too late to be a retry', () => {
    const between = Array.from({ length: 30 }, (_, at) => makeCall('Bash', { command: `ls ${at}` })).flat();
    const edit = { ...FILE, old_string: LONG };
    const messages = [
      TASK_MESSAGE,
      ...makeCall('Edit', edit, 'no match', FAILED),
      ...between,
      ...makeCall('Edit', edit),
    ];
    expect(runSteps(condense, messages).edits).toEqual([]);
  });
});
