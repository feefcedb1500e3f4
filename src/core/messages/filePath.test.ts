import { expect, it } from 'vitest';
import { isSameFile, joinPath } from './filePath';

it.each([
  ['', 'src/a.c', 'src/a.c'],
  ['src', './a.c', 'src/a.c'],
  ['src', '../a.c', 'a.c'],
  ['', '../../a.c', '../../a.c'],
  ['/repo/src', '../a.c', '/repo/a.c'],
  ['/', '../a.c', '/a.c'],
  ['/repo', '/other/a.c', '/other/a.c'],
  ['/repo', '~/a.c', '~/a.c'],
  ['C:\\repo', 'src\\a.c', 'C:/repo/src/a.c'],
  ['C:/repo', 'D:\\a.c', 'D:/a.c'],
  [undefined, '/a.c', '/a.c'],
  [undefined, 'a.c', undefined],
])('joining the folder %s with the path %s gives %s', (folder, path, expected) => {
  expect(joinPath(folder, path)).toBe(expected);
});

it.each([
  ['/repo/src/a.c', 'src/a.c', true],
  ['/repo/src/a.c', './src/a.c', true],
  ['C:\\Repo\\src\\a.c', 'c:/repo/src/a.c', true],
  ['C:\\repo\\src\\a.c', 'src\\a.c', true],
  ['/c/repo/a.c', 'C:\\repo\\a.c', true],
  ['c:/Repo/src/a.c', '/c:/repo/SRC/a.c', true],
  ['\\\\?\\C:\\repo\\a.c', 'C:/repo/a.c', true],
  ['\\\\?\\UNC\\server\\share\\a.c', '\\\\Server\\share\\A.c', true],
  ['C:\\Repo\\Src\\a.c', 'src/A.c', true],
  ['C:\\repo\\a.c', 'D:\\repo\\a.c', false],
  ['C:\\repo\\.\\x\\..\\a.c', 'c:\\REPO\\a.c', true],
  ['/repo/src/a.c', 'rc/a.c', false],
  ['/repo/src/a.c', '/src/a.c', false],
  ['/repo/a.c', '/repo/A.c', false],
  ['src/a.c', 'test/a.c', false],
  ['a.c', '', false],
])('%s and %s are the same file: %s', (a, b, expected) => {
  expect(isSameFile(a, b)).toBe(expected);
  expect(isSameFile(b, a)).toBe(expected);
});
