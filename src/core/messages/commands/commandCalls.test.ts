import { describe, expect, it } from 'vitest';
import { parseCommandCall, findSlicePrintedByCommand } from './commandCalls';

const CODE =
  'const r = await tools.exec_command({cmd:"cat \\"a b\\"","workdir":"/w",yield_time_ms:1}); text(r.output);\n';

describe('the command line and folder of a call', () => {
  it.each([
    [{ command: 'ls' }, 'ls', undefined],
    [{ cmd: 'ls', workdir: '/w' }, 'ls', '/w'],
    [{ command: ['bash', '-lc', 'cat a | head'] }, 'cat a | head', undefined],
    [{ command: ['cat', 'a b', "it's"] }, "cat 'a b' 'it'\\''s'", undefined],
    [{ commands: ['cat a'] }, 'cat a', undefined],
    [{ input: CODE }, 'cat "a b"', '/w'],
    [{ input: CODE + CODE }, undefined, undefined],
    [{ input: 'text(await tools.apply_patch("x"))' }, undefined, undefined],
    [{ path: 'a' }, undefined, undefined],
  ])('are read from the input %j', (input, line, folder) => {
    const call = parseCommandCall('shell', input);
    expect(call?.line).toBe(line);
    expect(call?.folder).toBe(folder);
  });
});

describe('the text that a command printed', () => {
  it.each([
    ['one\ntwo\n', 'one\ntwo\n'],
    [
      'Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\none\n',
      'one\n',
    ],
    ['Exit code: 0\nWall time: 0.1 seconds\nTotal output lines: 9\nOutput:\none\n', 'one\n'],
    ['Script completed\nWall time 0.1 seconds\nOutput:\n\none\n', 'one\n'],
    ['Output: one\nProcess Group PGID: 12', 'one'],
    ['one\n<shellId: 8 completed with exit code 0>', 'one'],
    ['one\n\n\nWall time: 0.60 seconds\n', 'one'],
    ['Exit code 2\none', 'one'],
  ])('is found in the result %j', (text, printed) => {
    const { start, end } = findSlicePrintedByCommand(text);
    expect(text.slice(start, end)).toBe(printed);
  });
});
