import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { makeLines } from '../../testing';
import { losslessProvider } from '../providers/lossless';
import { createSupersededVersionsStep } from './supersededVersions';
import {
  makeCall,
  makeCodeLines,
  counter,
  makeExchange,
  numberLines,
  listShownResults,
  runSteps,
  getShownText,
  TASK_MESSAGE,
} from './testing';

const step = createSupersededVersionsStep(DEFAULT_TOOLS);
const write = (text: string, fields = {}) =>
  makeCall('Write', { file_path: '/src/a.ts', content: text }, 'The file has been written.', fields);
const GONE = '[older version, the file was written anew later]';

/** Returns the content of each write, in order. */
const listWrittenContents = (messages: Parameters<typeof runSteps>[1]): string[] => {
  const draft = runSteps(step, messages);
  return messages.flatMap(({ role, content }, at) =>
    role === 'assistant' && JSON.stringify(content).includes('"Write"')
      ? [getShownText(draft, at, 'content', 0, 'input', 'content')]
      : [],
  );
};

describe('superseded versions of a file under Lossless', () => {
  it('become references after the whole file is written again, and the newest version stays', () => {
    const versions = Array.from({ length: 10 }, (_, version) => makeLines(`v${version}`, 30));
    const messages = [TASK_MESSAGE, ...versions.flatMap((text) => write(text))];
    expect(listWrittenContents(messages)).toEqual([...Array.from({ length: 9 }, () => GONE), versions[9]]);
  });

  it('include earlier reads of the file', () => {
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Read', { file_path: '/src/a.ts' }, numberLines(makeCodeLines('old', 1, 20))),
      ...makeExchange('Read', { file_path: '/src/b.ts' }, numberLines(makeCodeLines('other', 1, 20))),
      ...write(makeLines('new', 20)),
      ...makeExchange('Read', { file_path: '/src/a.ts' }, numberLines(makeCodeLines('now', 1, 20))),
    ];
    expect(listShownResults(runSteps(step, messages))).toEqual([
      GONE,
      numberLines(makeCodeLines('other', 1, 20)),
      'The file has been written.',
      numberLines(makeCodeLines('now', 1, 20)),
    ]);
  });

  it.each([
    ['of another file', makeCall('Write', { file_path: '/src/b.ts', content: makeLines('new', 20) })],
    ['that failed', write(makeLines('new', 20), { is_error: true })],
    [
      'that is an edit',
      makeCall('Edit', { file_path: '/src/a.ts', old_string: 'x', new_string: makeLines('new', 20) }),
    ],
  ])('stay if they are followed by a write %s', (_what, later) => {
    expect(runSteps(step, [TASK_MESSAGE, ...write(makeLines('old', 30)), ...later]).edits).toEqual([]);
  });

  it('are left to the steps for single lines if later versions have all their lines', () => {
    const old = makeCodeLines('line', 1, 20);
    const edited = [...old.slice(0, 9), 'const changed = true;', ...old.slice(10)];
    const messages = [
      TASK_MESSAGE,
      ...write(old.join('\n')),
      ...makeCall('Edit', { file_path: '/src/a.ts', old_string: old[9], new_string: 'const changed = true;' }),
      ...write(edited.join('\n')),
    ];
    expect(runSteps(step, messages).edits).toEqual([]);
  });

  it('stay if Lossless may remove only text that is elsewhere in the conversation', async () => {
    const messages = [
      TASK_MESSAGE,
      ...write(makeLines('one', 30)),
      ...write(makeLines('two', 30)),
      ...write(makeLines('three', 30)),
    ];
    const condensed = async (config: unknown) => {
      const checked = losslessProvider.validateConfig(config);
      if (!checked.valid) throw new Error('invalid');
      return (await losslessProvider.condense({ messages, edits: [], counter }, checked.config, {})).edits;
    };
    expect(await condensed({ strictOnly: true })).toEqual([]);
    expect(await condensed({ removeObsoleteState: false })).toEqual([]);
    expect(await condensed({})).toHaveLength(2);
  });
});
