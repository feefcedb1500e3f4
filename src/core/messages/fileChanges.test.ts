import { expect, it } from 'vitest';
import { makeToolExchange } from '../testing';
import { listToolExchanges } from './exchanges';
import { listFileChanges } from './fileChanges';
import { DEFAULT_TOOLS } from './tools';

const changes = (tool: string, input: unknown): unknown => {
  const [call] = listToolExchanges(makeToolExchange('x', tool, input, 'ok'));
  return listFileChanges(DEFAULT_TOOLS, call!);
};

const PATCH = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n one\n-two\n+2\n*** End Patch';
const PATCHED = { path: 'src/a.ts', before: ['one', 'two'], after: ['one', '2'] };
const SEARCH = '<<<<<<< SEARCH\n:start_line:3\n-------\none\ntwo\n=======\n2\n>>>>>>> REPLACE';
const program = (literal: string): string => `await tools.apply_patch(${literal})`;

it.each<[string, string, unknown, unknown]>([
  [
    'a file that is written',
    'Write',
    { file_path: 'a.ts', content: 'one\ntwo' },
    [{ path: 'a.ts', before: [], after: ['one', 'two'] }],
  ],
  ['what is written nowhere', 'Write', { content: 'one' }, []],
  [
    'a replacement',
    'Edit',
    { file_path: 'a.ts', old_string: 'one\ntwo', new_string: '2' },
    [{ path: 'a.ts', before: ['one', 'two'], after: ['2'] }],
  ],
  [
    'a replacement whose new text is missing',
    'Edit',
    { file_path: 'a.ts', old_string: 'one' },
    [{ path: 'a.ts', before: ['one'], after: [''] }],
  ],
  [
    'a replacement whose old text is missing',
    'Edit',
    { file_path: 'a.ts', new_string: 'one' },
    [{ path: 'a.ts', before: [''], after: ['one'] }],
  ],
  ['a replacement nowhere', 'Edit', { old_string: 'one', new_string: '2' }, []],
  [
    'blocks to search and replace',
    'apply_diff',
    { path: 'a.ts', diff: SEARCH },
    [{ path: 'a.ts', before: ['one', 'two'], after: ['2'] }],
  ],
  ['a patch as text', 'apply_patch', { input: PATCH }, [PATCHED]],
  ['a patch in a command', 'Bash', { command: `apply_patch <<'EOF'\n${PATCH}\nEOF` }, [PATCHED]],
  [
    'a here-document in a command',
    'Bash',
    { command: "cat > a.txt <<'EOF'\none\ntwo\nEOF" },
    // The file ends with a line break.
    [{ path: 'a.txt', before: [], after: ['one', 'two', ''] }],
  ],
  ['a command that changes no file', 'Bash', { command: 'ls' }, []],
  ['a read', 'Read', { file_path: 'a.ts' }, []],
  ['a tool that nobody knows', 'ponder', { about: 'life' }, []],
])('the file changes of a call are read from %s', (_, tool, input, expected) => {
  expect(changes(tool, input)).toEqual(expected);
});

it.each<[string, string, unknown]>([
  ['in double quotes', program(JSON.stringify(PATCH)), [PATCHED]],
  [
    'in backquotes',
    program(`\`${PATCH.replace('two', 'two \\`x\\`')}\``),
    [{ ...PATCHED, before: ['one', 'two `x`'] }],
  ],
  [
    'that moves its file',
    program(JSON.stringify(PATCH.replace('@@', '*** Move to: src/b.ts\n@@'))),
    [{ ...PATCHED, path: 'src/b.ts' }],
  ],
  ['that is no string of JSON', program(String.raw`"*** Begin Patch\q"`), []],
  ['outside of strings', `tools.exec(1)\n// ${PATCH}`, []],
  ['in what calls no tool', JSON.stringify(PATCH), []],
])("changes of files are recognized in a patch in Codex' code mode %s", (_, input, expected) => {
  expect(changes('exec', { input })).toEqual(expected);
});
