import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import type { Files } from '../storage/files';
import { nodeFiles } from '../storage/nodeFiles';
import { createSteppedFiles, createSystemError } from '../storage/testing';
import { hashBytes } from './fileBytes';
import { replaceFiles } from './replacement';
import {
  listAllGivenBack,
  listGivenBack,
  recoverAllReplacements,
  undoLastReplacement,
  withReplacementsLock,
} from './replacements';

let folder: string;
let root: string;
let path: string;

beforeEach(() => {
  folder = temporaryFolder();
  root = join(folder, 'replacements');
  path = join(folder, 'file.json');
  writeFileSync(path, 'v0');
});

const bytes = (text: string) => new TextEncoder().encode(text);
const now = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

/** Replaces the file's content, with the clock at this minute of the hour. */
const replace = (conversation: string, to: string, minute: number): Promise<string> =>
  replaceFiles(
    nodeFiles,
    root,
    { conversation },
    [{ path, before: hashBytes(readFileSync(path)), bytes: bytes(to) }],
    now(minute),
  );

describe('files replaced when a conversation is given back', () => {
  it('can be restored one after the other, the last first', async () => {
    await replace('a', 'v1', 1);
    await replace('a', 'v2', 2);
    expect((await listGivenBack(nodeFiles, root)).map(({ conversation }) => conversation)).toEqual(['a', 'a']);
    expect(await undoLastReplacement(nodeFiles, root, { conversation: 'other' })).toBeUndefined();
    expect(await undoLastReplacement(nodeFiles, root, { conversation: 'a' })).toEqual({ copiesLeft: [] });
    expect(readFileSync(path, 'utf8')).toBe('v1');
    expect((await listGivenBack(nodeFiles, root)).map(({ conversation }) => conversation)).toEqual(['a']);
    expect(await undoLastReplacement(nodeFiles, root, { conversation: 'a' })).toEqual({ copiesLeft: [] });
    expect(readFileSync(path, 'utf8')).toBe('v0');
    expect(await undoLastReplacement(nodeFiles, root, { conversation: 'a' })).toBeUndefined();
    expect((await listGivenBack(nodeFiles, root)).map(({ conversation }) => conversation)).toEqual([]);
  });

  it('can be restored by the path of the written file, for example that of a copy of a copy', async () => {
    const copies = ['b', 'c'].map((name) => join(folder, `${name}.json`));
    for (const [at, copy] of copies.entries())
      await replaceFiles(
        nodeFiles,
        root,
        { conversation: 'a' },
        [{ path: copy, before: undefined, bytes: bytes('copy') }],
        now(at),
      );
    const [first = '', second = ''] = copies;
    expect(await undoLastReplacement(nodeFiles, root, { path: first })).toEqual({ copiesLeft: [] });
    expect(await undoLastReplacement(nodeFiles, root, { path: first })).toBeUndefined();
    expect([existsSync(first), existsSync(second)]).toEqual([false, true]);
    expect(await listGivenBack(nodeFiles, root)).toEqual([{ conversation: 'a', path: second }]);
  });

  it('have the remaining copies of a removed copy reported, and the origins of these kept on record', async () => {
    const [a = '', b = '', c = '', d = ''] = ['a', 'b', 'c', 'd'].map((name) => join(folder, `${name}.json`));
    const chain = [
      [a, b],
      [b, c],
      [c, d],
    ] as const;
    for (const [at, [source, copy]] of chain.entries()) {
      const content = { path: copy, before: undefined, bytes: bytes('copy') };
      await replaceFiles(nodeFiles, root, { conversation: source, source }, [content], now(at));
    }
    expect(await undoLastReplacement(nodeFiles, root, { conversation: a })).toEqual({ copiesLeft: [c, d] });
    const records = chain.map(([source, copy]) => ({ conversation: source, source, path: copy }));
    expect(await listGivenBack(nodeFiles, root)).toEqual(records.slice(1));
    expect(await listAllGivenBack(nodeFiles, root)).toEqual(records);
    const files: Files = {
      ...nodeFiles,
      status: (file) => (file === d ? Promise.reject(createSystemError('EACCES')) : nodeFiles.status(file)),
    };
    expect(await undoLastReplacement(files, root, { path: c })).toEqual({ copiesLeft: [d] });
    expect(existsSync(c)).toBe(false);
    expect(await undoLastReplacement(nodeFiles, root, { path: d })).toEqual({ copiesLeft: [] });
  });

  it.skipIf(process.platform === 'win32')('keep their permissions', async () => {
    chmodSync(path, 0o640);
    await replace('a', 'v1', 1);
    expect(statSync(path).mode & 0o777).toBe(0o640);
    await undoLastReplacement(nodeFiles, root, { conversation: 'a' });
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it('are not restored if the agent has continued', async () => {
    await replace('a', 'v1', 1);
    writeFileSync(path, 'the agent went on');
    await expect(undoLastReplacement(nodeFiles, root, { conversation: 'a' })).rejects.toMatchObject({
      kind: 'changed',
    });
    expect(readFileSync(path, 'utf8')).toBe('the agent went on');
  });

  it('are reported if they changed just before they were replaced', async () => {
    const files: Files = {
      ...nodeFiles,
      rename: async (from, to) => {
        await nodeFiles.rename(from, to);
        if (to.endsWith('record.json')) writeFileSync(path, 'the agent was quicker');
      },
    };
    const content = { path, before: hashBytes(bytes('v0')), bytes: bytes('v1') };
    await expect(replaceFiles(files, root, { conversation: 'a' }, [content], now(1))).rejects.toMatchObject({
      kind: 'changed',
    });
    expect(readFileSync(path, 'utf8')).toBe('the agent was quicker');
    expect((await listGivenBack(nodeFiles, root)).map(({ conversation }) => conversation)).toEqual([]);
  });

  it('are reported without waiting if their task was deleted', async () => {
    const task = join(folder, 'tasks', 'one');
    mkdirSync(task, { recursive: true });
    const history = join(task, 'api_conversation_history.json');
    writeFileSync(history, 'v0');
    const content = { path: history, before: hashBytes(bytes('v0')), bytes: bytes('v1') };
    const done = await replaceFiles(nodeFiles, root, { conversation: 'a' }, [content], now(1));
    rmSync(task, { recursive: true });
    await expect(undoLastReplacement(nodeFiles, root, { conversation: 'a' })).rejects.toMatchObject({
      kind: 'missing',
    });
    rmSync(join(done, 'done'));
    expect(await recoverAllReplacements(nodeFiles, root, now(2))).toEqual({ recovered: 1, problems: [] });
    expect(existsSync(task)).toBe(false);
  });

  it('are restored at the second attempt after an interruption, even if the new file is gone', async () => {
    const second = join(folder, 'second.json');
    const contents = [
      { path, before: hashBytes(bytes('v0')), bytes: bytes('v1') },
      { path: second, before: undefined, bytes: bytes('new') },
    ];
    await replaceFiles(nodeFiles, root, { conversation: 'a' }, contents, now(1));
    const full: Files = { ...nodeFiles, rename: () => Promise.reject(Object.assign(new Error(), { code: 'ENOSPC' })) };
    await expect(undoLastReplacement(full, root, { conversation: 'a' })).rejects.toThrow(
      'The disk (or your quota on it) is full',
    );
    expect([existsSync(second), readFileSync(path, 'utf8')]).toEqual([false, 'v1']);
    expect(await undoLastReplacement(nodeFiles, root, { conversation: 'a' })).toEqual({ copiesLeft: [] });
    expect(readFileSync(path, 'utf8')).toBe('v0');
  });

  it('are restored after a process died midway, and failures are reported', async () => {
    const half = await replace('a', 'v1', 1);
    rmSync(join(half, 'done'));
    const unread = await replace('b', 'v2', 2);
    rmSync(join(unread, 'done'));
    writeFileSync(join(unread, 'record.json'), '{"version":9}');
    mkdirSync(join(root, '2026-01-01T00-00-00.000Z-0123abcd'));
    mkdirSync(join(root, '2026-photos'));
    const { recovered, problems } = await recoverAllReplacements(nodeFiles, root, now(3));
    // The second replacement has changed the first one's file since, so the file stays as it is.
    expect(recovered).toBe(1);
    expect(problems).toHaveLength(1);
    expect(readdirSync(root)).not.toContain('2026-01-01T00-00-00.000Z-0123abcd');
    expect(readdirSync(root)).toContain('2026-photos');
    expect(readFileSync(path, 'utf8')).toBe('v2');
  });

  it('have their backups removed only after thirty days', async () => {
    const old = await replace('a', 'v1', 1);
    const fresh = await replace('b', 'v2', 2);
    const day = 24 * 60 * 60;
    const today = Date.now() / 1000;
    utimesSync(old, today - 31 * day, today - 31 * day);
    utimesSync(fresh, today - 29 * day, today - 29 * day);
    // A single reading of the clock may be wrong, so one check removes nothing.
    for (const days of [400, 0, 0.5])
      await recoverAllReplacements(nodeFiles, root, new Date(Date.now() + days * 86_400_000));
    expect((await listGivenBack(nodeFiles, root)).map(({ conversation }) => conversation)).toEqual(['a', 'b']);
    await recoverAllReplacements(nodeFiles, root, new Date(Date.now() + 1.4 * 86_400_000));
    expect((await listGivenBack(nodeFiles, root)).map(({ conversation }) => conversation)).toEqual(['a', 'b']);
    await recoverAllReplacements(nodeFiles, root, new Date(Date.now() + 1.6 * 86_400_000));
    expect((await listGivenBack(nodeFiles, root)).map(({ conversation }) => conversation)).toEqual(['b']);
  });

  it('have their state on disk reported correctly after a failure at any step', async () => {
    const second = join(folder, 'second.json');
    const names = [path, second];
    const seen = { left: 0, part: 0, whole: 0 };
    for (const isLasting of [false, true]) {
      for (let failing = 0; ; failing += 1) {
        for (const name of names) writeFileSync(name, 'v0');
        const kept = join(root, `${isLasting}-${failing}`);
        let count = 0;
        const files = createSteppedFiles(() => {
          const step = count++;
          if (step === failing || (isLasting && step > failing)) throw createSystemError('ENOSPC');
        });
        const contents = names.map((name) => ({ path: name, before: hashBytes(bytes('v0')), bytes: bytes('v1') }));
        const error = await replaceFiles(files, kept, { conversation: 'a' }, contents, now(1)).catch(
          (reason: unknown) => reason,
        );
        if (typeof error === 'string') break;
        const { message } = error as Error;
        const changed = names.filter((name) => readFileSync(name, 'utf8') === 'v1');
        if (changed.length === 0) {
          seen.left += 1;
          expect(message).toMatch(/The conversation was (?:left as it was|not changed)\./);
        } else {
          if (changed.length === names.length) seen.whole += 1;
          else seen.part += 1;
          expect(message).not.toMatch(/left as it was|not changed/);
          expect(message).toContain('The next start of the extension completes this or takes it back');
          for (const name of changed) expect(message).toContain(basename(name));
        }
        // The next start ends with both files old or both new.
        await recoverAllReplacements(nodeFiles, kept, now(2));
        expect(new Set(names.map((name) => readFileSync(name, 'utf8'))).size).toBe(1);
        expect(readdirSync(folder).filter((name) => name.endsWith('.condenser'))).toEqual([]);
      }
    }
    expect(seen.left).toBeGreaterThan(0);
    expect(seen.part).toBeGreaterThan(0);
    expect(seen.whole).toBeGreaterThan(0);
  });

  it('are replaced by one process at a time', async () => {
    const order: string[] = [];
    let open: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const first = withReplacementsLock(nodeFiles, root, async () => {
      order.push('first begins');
      await gate;
      order.push('first ends');
    });
    const second = withReplacementsLock(nodeFiles, root, async () => void order.push('second'));
    open?.();
    await Promise.all([first, second]);
    const begins = order.indexOf('first begins');
    expect(order.indexOf('first ends')).toBe(begins + 1);
    expect(order).toHaveLength(3);
  });
});
