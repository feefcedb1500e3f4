import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { nodeFiles } from '../storage/nodeFiles';

import { MIN_QUIET_MS, rejectRunningTask } from './runningTask';
import { writeOldFile, writeZooTask } from './testing';

const withTask = (check: (history: string, item: string) => Promise<void>): Promise<void> =>
  inTemporaryFolder(async (home) => {
    const history = writeZooTask(home);
    await check(history, join(dirname(history), 'history_item.json'));
  });
const rests = (history: string, now = Date.now()): Promise<void> => rejectRunningTask(nodeFiles, history, now);

test("an agent's task counts as idle if it was not written for a while", () =>
  withTask(async (history) => {
    await expect(rests(history)).resolves.toBeUndefined();
    writeFileSync(history, '[]');
    const { modified } = await nodeFiles.status(history);
    await expect(rests(history, modified + MIN_QUIET_MS - 1)).rejects.toMatchObject({
      kind: 'running',
      message: expect.stringContaining('a moment ago'),
    });
    await expect(rests(history, modified + MIN_QUIET_MS)).resolves.toBeUndefined();
  }));

test.each([
  ['handed on to a subtask', { status: 'delegated' }],
  ['waits for its subtask', { status: 'active', awaitingChildId: 'child' }],
])("an agent's task that was %s does not count as idle", (_what, item) =>
  withTask(async (history, path) => {
    writeOldFile(path, JSON.stringify(item));
    await expect(rests(history)).rejects.toMatchObject({
      kind: 'running',
      message: expect.stringContaining('is waiting for a subtask'),
    });
  }),
);

test.each([
  ['says nothing of a subtask', '{"status":"active","awaitingChildId":null}'],
  ['is no object', '[]'],
  ['is half written', '{"status":"dele'],
])("an item of an agent's history that %s is ignored", (_what, text) =>
  withTask(async (history, path) => {
    writeOldFile(path, text);
    await expect(rests(history)).resolves.toBeUndefined();
  }),
);

test("an agent's task without an item in the history counts as idle, and a missing task is reported", () =>
  withTask(async (history, path) => {
    rmSync(path);
    await expect(rests(history)).resolves.toBeUndefined();
    rmSync(history);
    await expect(rests(history)).rejects.toMatchObject({ kind: 'missing' });
  }));
