import { expect, it } from 'vitest';
import { formatReadablePath } from './readablePath';

it.each([
  [{ a: { b: 1 } }, 'a.b', 'a.b'],
  [[{ name: 'Work', threshold: 101 }], '0.threshold', '“Work” › threshold'],
  [[{ id: 'work' }], '0', '“work”'],
  [[{ name: ' ' }, 7], '1', 'entry 2'],
  [
    { passes: [{ name: 'Shorten', selection: {} }] },
    'passes.0.selection.count',
    'passes › “Shorten” › selection › count',
  ],
  [undefined, '0.x', '0.x'],
  [[], '', ''],
])('in %j, the path "%s" is shown as "%s"', (value, path, words) => {
  expect(formatReadablePath(value, path)).toBe(words);
});
