import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { lines } from '../../testing';
import { losslessProvider } from '../providers/lossless';
import { supersededVersions } from './supersededVersions';
import { called, code, counter, did, read, results, run, shown, TASK } from './testing';

const step = supersededVersions(DEFAULT_TOOLS);
const write = (text: string, fields = {}) =>
  called('Write', { file_path: '/src/a.ts', content: text }, 'The file has been written.', fields);
const GONE = '[older version, the file was written anew later]';

/** The content of each write, in order. */
const written = (messages: Parameters<typeof run>[1]): string[] => {
  const draft = run(step, messages);
  return messages.flatMap(({ role, content }, at) =>
    role === 'assistant' && JSON.stringify(content).includes('"Write"')
      ? [shown(draft, at, 'content', 0, 'input', 'content')]
      : [],
  );
};

describe('superseded versions of a file under Lossless', () => {
  it('become references after the whole file is written again; the newest version stays', () => {
    const versions = Array.from({ length: 10 }, (_, version) => lines(`v${version}`, 30));
    const messages = [TASK, ...versions.flatMap((text) => write(text))];
    expect(written(messages)).toEqual([...Array.from({ length: 9 }, () => GONE), versions[9]]);
  });

  it('include earlier reads of the file', () => {
    const messages = [
      TASK,
      ...did('Read', { file_path: '/src/a.ts' }, read(code('old', 1, 20))),
      ...did('Read', { file_path: '/src/b.ts' }, read(code('other', 1, 20))),
      ...write(lines('new', 20)),
      ...did('Read', { file_path: '/src/a.ts' }, read(code('now', 1, 20))),
    ];
    expect(results(run(step, messages))).toEqual([
      GONE,
      read(code('other', 1, 20)),
      'The file has been written.',
      read(code('now', 1, 20)),
    ]);
  });

  it.each([
    ['of another file', called('Write', { file_path: '/src/b.ts', content: lines('new', 20) })],
    ['that failed', write(lines('new', 20), { is_error: true })],
    ['that is an edit', called('Edit', { file_path: '/src/a.ts', old_string: 'x', new_string: lines('new', 20) })],
  ])('stay if they are followed by a write %s', (_what, later) => {
    expect(run(step, [TASK, ...write(lines('old', 30)), ...later]).edits).toEqual([]);
  });

  it('are left to the line steps if later versions have all their lines', () => {
    const old = code('line', 1, 20);
    const edited = [...old.slice(0, 9), 'const changed = true;', ...old.slice(10)];
    const messages = [
      TASK,
      ...write(old.join('\n')),
      ...called('Edit', { file_path: '/src/a.ts', old_string: old[9], new_string: 'const changed = true;' }),
      ...write(edited.join('\n')),
    ];
    expect(run(step, messages).edits).toEqual([]);
  });

  it('stay if only text that is elsewhere in the view may go', async () => {
    const messages = [TASK, ...write(lines('one', 30)), ...write(lines('two', 30)), ...write(lines('three', 30))];
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
