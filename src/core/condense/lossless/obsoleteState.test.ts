import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { assistant, shortenMarkers, call, makeLines, result, text, user } from '../../testing';
import { createObsoleteStateStep } from './obsoleteState';
import { runSteps, TASK_MESSAGE } from './testing';

const tools = DEFAULT_TOOLS;

describe('superseded information under Lossless', () => {
  const env = (time: string): string =>
    `<environment_details>\n${makeLines('tab', 15)}\n\nnow ${time}\n</environment_details>`;

  it('in environment details keeps what differs from the latest', () => {
    const messages = [
      user(text('task'), text(env('0'))),
      assistant('a'),
      user(text('and'), text(env('1'))),
      assistant('b'),
      user('more', text(env('2'))),
    ];
    const draft = runSteps(createObsoleteStateStep(tools), messages);
    expect(draft.messages[0]).toBe(messages[0]);
    expect(draft.messages[4]).toBe(messages[4]);
    const standing = draft.getText({ message: 2, path: ['content', 1, 'text'] });
    expect(shortenMarkers(standing)).toBe('[17 lines as in later environment details]\nnow 1\n</environment_details>');
  });

  it('on a single line is described as one line', () => {
    const line = 'a mode that tells much, '.repeat(20);
    const details = (time: string): string => `<environment_details> ${time}\n${line}\n${time} </environment_details>`;
    const messages = [TASK_MESSAGE, assistant('a'), user(text(details('1'))), assistant('b'), user(text(details('2')))];
    const draft = runSteps(createObsoleteStateStep(tools), messages);
    const older = shortenMarkers(draft.getText({ message: 2, path: ['content', 0, 'text'] }));
    expect(older).toContain('\n[1 line as in later environment details]\n');
  });

  it('in plans keeps what differs, also if one text has several plans in XML', () => {
    const plan = (mark: string): string => `${makeLines('step', 12)}\n[${mark}] last`;
    const xml = (mark: string): string => `<update_todo_list><todos>${plan(mark)}</todos></update_todo_list>`;
    const messages = [
      TASK_MESSAGE,
      assistant(`first ${xml('1')} then ${xml('2')} so`),
      user('go on'),
      assistant(call('p', 'update_todo_list', { todos: plan('3') })),
      user(result('p', 'refused', { is_error: true })),
      assistant(call('q', 'update_todo_list', { todos: plan('4') })),
    ];
    const draft = runSteps(createObsoleteStateStep(tools), messages);
    const rest = (mark: string): string =>
      `<update_todo_list><todos>[12 lines as in a later plan]\n[${mark}] last</todos></update_todo_list>`;
    expect(shortenMarkers(draft.messages[1]!.content as string)).toBe(`first ${rest('1')} then ${rest('2')} so`);
    expect(draft.messages.slice(2)).toEqual(messages.slice(2));
  });

  it('in listings keeps what no later listing says, whether full or incremental', () => {
    const listing = (...names: string[]): string =>
      `<system-reminder>\nThe following skills are available:\n\n${names
        .map((name) => `- ${name}: use this skill whenever the task is about ${name} and nothing else`)
        .join('\n')}\n</system-reminder>`;
    const all = ['charts', 'tables', 'forms', 'tests', 'styles', 'audits', 'icons'];
    const messages = [
      TASK_MESSAGE,
      assistant('so'),
      user(text(listing(...all, 'gone'))),
      assistant('a'),
      user(text(listing(...all))),
      assistant('b'),
      user(text(listing('one', 'two', 'three', 'four', 'five'))),
      assistant('c'),
      user(text('- not\n- a\n- listing\n- of\n- the\n- agent:\n')),
    ];
    const draft = runSteps(createObsoleteStateStep(tools), messages);
    expect(shortenMarkers(draft.getText({ message: 2, path: ['content', 0, 'text'] }))).toBe(
      '<system-reminder>\n[9 lines as in a later listing]\n- gone: use this skill whenever the task is about gone and nothing else\n</system-reminder>',
    );
    expect(draft.messages.slice(3)).toEqual(messages.slice(3));
  });

  it('stays if it is the only one of its kind', () => {
    expect(
      runSteps(createObsoleteStateStep(tools), [TASK_MESSAGE, assistant('x'), user(text(env('1')), 'y')]).edits,
    ).toEqual([]);
  });
});
