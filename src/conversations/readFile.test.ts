import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isConversationReadError } from './readError';
import { convertFileError, readConversationFile, type FileHead } from './readFile';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'conversations-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const problemOf = (path: string, maxBytes?: number): unknown => {
  try {
    readConversationFile(path, {}, maxBytes === undefined ? {} : { maxBytes });
  } catch (error) {
    return isConversationReadError(error) ? error.problem : error;
  }
  return 'was read';
};

describe('a conversation file', () => {
  it('is read whatever its name', () => {
    const path = file('notes.txt', '[{"role":"user","content":"hi"}]');
    expect(readConversationFile(path)).toMatchObject({ format: 'anthropic', title: 'hi' });
  });

  it('that is missing, a folder, or not a regular file is reported specifically', () => {
    expect(problemOf(join(folder, 'missing.jsonl'))).toBe('not-found');
    expect(problemOf(join(file('plain', 'x'), 'below.jsonl'))).toBe('not-found');
    mkdirSync(join(folder, 'task'));
    expect(problemOf(join(folder, 'task'))).toBe('not-a-file');
  });

  it('is read from the end of its cached beginning if it is unchanged', () => {
    const path = file('known.json', '[{"role":"user","content":"old"}]');
    const { mtimeMs: modified, size } = statSync(path);
    // These bytes differ from the file's, which shows whether the beginning was read again.
    const bytes = new TextEncoder().encode('[{"role":"user","content":"new"');
    const titleWith = (head: FileHead): string => readConversationFile(path, {}, { head }).title;
    expect(titleWith({ bytes, modified, size })).toBe('new');
    expect(titleWith({ bytes, modified: modified + 1, size })).toBe('old');
    expect(titleWith({ bytes, modified, size: size + 1 })).toBe('old');
  });

  it.skipIf(process.platform === 'win32')('that is a pipe does not block reading', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(problemOf(pipe)).toBe('not-a-file');
  });

  it('that is too large is rejected by its size before it is read', () => {
    const path = file('large.jsonl', '');
    // The file is sparse, so its 2 GB take no disk space.
    truncateSync(path, 2 * 1024 ** 3);
    expect(() => readConversationFile(path)).toThrow('found a file of 2.00 GB; expected at most 1.00 GB');
    expect(problemOf(file('small', '[ ]'), 2)).toBe('too-large');
  });

  it.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
    'without read permission is reported as such',
    () => {
      const path = file('secret.jsonl', '[]');
      chmodSync(path, 0);
      expect(problemOf(path)).toBe('no-permission');
    },
  );

  it('with a value longer than the longest possible string causes a clear error', () => {
    const path = file('endless.json', '[');
    truncateSync(path, 600 * 1024 ** 2);
    writeFileSync(path, `[${' '.repeat(9000)}`, { flag: 'r+' });
    expect(() => readConversationFile(path)).toThrow('found a single JSON value of 629 MB');
  });
});

describe('a file-system error while reading', () => {
  it.each([
    ['EACCES', 'no-permission'],
    ['EPERM', 'no-permission'],
    ['ENOENT', 'not-found'],
    ['EIO', 'io'],
  ])('is described in words: %s', (code, problem) => {
    const error = convertFileError('/x', Object.assign(new Error(`${code}: oh`), { code }));
    expect(error.problem).toBe(problem);
    expect(error.cause).toBeInstanceOf(Error);
  });

  it('when opening a file is described once, with a remedy', () => {
    const message = (code: string): string => convertFileError('/x', Object.assign(new Error(), { code })).message;
    expect(message('ENOENT')).toBe('/x: no such file. Check the path.');
    expect(message('EACCES')).toBe('/x: no permission to read it. Check its permissions.');
    expect(message('EIO')).toMatch(/^\/x: found .*; expected a readable file\.$/);
  });

  it('of an unknown kind is reported too', () => {
    expect(convertFileError('/x', 'odd').message).toContain('an error while reading');
  });
});

it('a bug in the reader of conversations ends the worker with an error instead of returning an answer', () => {
  const path = file('roo.json', '[{"role":"user","content":"hi","ts":1}]');
  const broken = {
    get history(): never {
      throw new TypeError('boom');
    },
  };
  expect(() => readConversationFile(path, broken)).toThrow('boom');
});
