import { describe, expect, it } from 'vitest';
import type { CliIo } from './io';
import { withProgressLine } from './progressLine';

/** Records what is written, in order, with progress in brackets. */
function createTerminal(): { readonly io: CliIo; readonly written: string[] } {
  const written: string[] = [];
  const io: CliIo = {
    stdout: (text) => written.push(text),
    stderr: (text) => written.push(text),
    showProgress: (words) => written.push(`[${words}]`),
    assets: '',
    signal: new AbortController().signal,
    now: () => new Date(0),
    version: '1.2.3',
    platform: 'linux',
    env: {},
    homedir: '/home/me',
  };
  return { io, written };
}

describe('the progress line of a long command', () => {
  it('appears after a second, changes at most ten times a second, and is erased before other output', () => {
    const { io, written } = createTerminal();
    let time = 0;
    const told = withProgressLine(io, () => time);
    const at = (ms: number, words: string): void => {
      time = ms;
      told.showProgress?.(words);
    };
    at(500, 'too early');
    told.stderr('Note: nothing to take away\n');
    at(1_100, 'one');
    at(1_150, 'too soon');
    at(1_250, 'two');
    told.stdout('done\n');
    told.stderr('Written\n');
    expect(written).toEqual(['Note: nothing to take away\n', '[one]', '[two]', '[]', 'done\n', 'Written\n']);
  });

  it('does not appear if the output is not a terminal', () => {
    const { showProgress: _none, ...io } = createTerminal().io;
    expect(withProgressLine(io)).toBe(io);
  });
});
