import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lock } from 'proper-lockfile';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { appendToTitle } from '../conversations/title';
import { readConversation } from '../conversations/read';
import { applyCompactionSidecar } from '../conversations/write/clineCompaction';
import { getContextTokens } from '../conversations/write/roo';
import { nodeFiles } from '../storage/nodeFiles';

import { giveBackConversation, type GiveBackDependencies } from './giveBack';
import { undoReplacement } from './replacement';
import {
  writeClaudeSession,
  writeClineSession,
  condenseFile,
  makeFileOld,
  writeOldFile,
  writeZooTask,
} from './testing';

const ROW = { cost: 0, tokensBefore: 12_000, tokensAfter: 7_000, text: 'Context Condenser: Truncation' };
const partsIn = (home: string): GiveBackDependencies => ({
  files: nodeFiles,
  root: join(home, 'kept'),
  now: () => new Date(),
});
const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const said = (value: unknown): string => JSON.stringify(value);

test('giving a task back makes the agent send the condensed version with fewer tokens, and undo restores both files', () =>
  inTemporaryFolder(async (home) => {
    const path = writeZooTask(home);
    const rows = join(dirname(path), 'ui_messages.json');
    const before = [readFileSync(path), readFileSync(rows)];
    const { edits, view, read } = await condenseFile(path, readFileSync(path));
    const given = await giveBackConversation({ path, edits, row: ROW }, partsIn(home));

    expect(given).toMatchObject({ target: 'roo-task', path });
    const sent = readConversation(readFileSync(path), { path });
    expect(said(sent.messages.map(({ role, content }) => ({ role, content })))).toBe(
      said(view.map(({ role, content }) => ({ role, content }))),
    );
    const history = json(path) as Record<string, unknown>[];
    const [summary] = history.filter((message) => message['isSummary'] === true);
    expect(
      history.slice(0, read.messages.length).every((one) => one['condenseParent'] === summary?.['condenseId']),
    ).toBe(true);
    const times = history.map(({ ts }) => ts as number);
    expect(new Set(times).size).toBe(times.length);
    const shown = json(rows) as Record<string, unknown>[];
    const wasShown = getContextTokens(JSON.parse(String(before[1])) as unknown[]) ?? 0;
    expect(getContextTokens(shown)).toBe(Math.max(ROW.tokensAfter, wasShown - 5_000));
    expect(shown.at(-1)).toMatchObject({
      say: 'condense_context',
      contextCondense: { condenseId: summary?.['condenseId'] },
    });
    expect(Math.max(...times, ...shown.slice(0, -1).map(({ ts }) => ts as number))).toBeLessThan(
      shown.at(-1)?.['ts'] as number,
    );

    await undoReplacement(nodeFiles, given.replacement);
    expect([readFileSync(path), readFileSync(rows)]).toEqual(before);
    expect(readdirSync(dirname(path)).sort()).toEqual([
      'api_conversation_history.json',
      'history_item.json',
      'ui_messages.json',
    ]);
  }));

test('giving a task back includes messages added after the condensation', () =>
  inTemporaryFolder(async (home) => {
    const path = writeZooTask(home);
    const { edits, view } = await condenseFile(path, readFileSync(path));
    const history = json(path) as unknown[];
    const late = { role: 'user', content: 'one more thing', ts: Date.UTC(2026, 1, 1) };
    writeOldFile(path, said([...history, late]));
    await giveBackConversation({ path, edits, row: ROW }, partsIn(home));
    const { messages } = readConversation(readFileSync(path), { path });
    expect(messages).toHaveLength(view.length + 1);
    expect(messages.at(-1)?.content).toBe('one more thing');
  }));

test('undoing is refused for a task that was given back and has continued since', () =>
  inTemporaryFolder(async (home) => {
    const path = writeZooTask(home);
    const { edits } = await condenseFile(path, readFileSync(path));
    const { replacement } = await giveBackConversation({ path, edits, row: ROW }, partsIn(home));
    const wentOn = said([...(json(path) as unknown[]), { role: 'user', content: 'more' }]);
    writeFileSync(path, wentOn);
    await expect(undoReplacement(nodeFiles, replacement)).rejects.toMatchObject({ kind: 'changed' });
    expect(readFileSync(path, 'utf8')).toBe(wentOn);
  }));

test.each([
  ['was written to a moment ago', 'running', (path: string) => writeFileSync(path, readFileSync(path))],
  [
    'waits for its subtask',
    'running',
    (path: string) => writeOldFile(join(dirname(path), 'history_item.json'), said({ status: 'delegated' })),
  ],
  [
    'went another way',
    'changed',
    (path: string) =>
      writeOldFile(path, readFileSync(path, 'utf8').replaceAll('function', 'fonction').replaceAll('the ', 'teh ')),
  ],
  ['holds no list', 'unexpected-shape', (path: string) => writeOldFile(path, '{"messages":[]}')],
  [
    'is half written',
    'unexpected-shape',
    (path: string) => writeOldFile(path, readFileSync(path, 'utf8').slice(0, -40)),
  ],
])('giving back is refused for a task that %s, and nothing is written', async (_, trouble, change) => {
  await inTemporaryFolder(async (home) => {
    const path = writeZooTask(home);
    const { edits } = await condenseFile(path, readFileSync(path));
    change(path);
    const now = readFileSync(path);
    await expect(giveBackConversation({ path, edits, row: ROW }, partsIn(home))).rejects.toMatchObject({
      kind: trouble,
    });
    expect(readFileSync(path)).toEqual(now);
    expect(existsSync(join(home, 'kept'))).toBe(false);
  });
});

test('giving back is refused for a task locked by its agent', () =>
  inTemporaryFolder(async (home) => {
    const path = writeZooTask(home);
    const { edits } = await condenseFile(path, readFileSync(path));
    const before = readFileSync(path);
    const release = await lock(path, { realpath: false, stale: 31_000 });
    await expect(giveBackConversation({ path, edits, row: ROW }, partsIn(home))).rejects.toMatchObject({
      kind: 'locked',
    });
    await release();
    expect(readFileSync(path)).toEqual(before);
    makeFileOld(path);
    await giveBackConversation({ path, edits, row: ROW }, partsIn(home));
  }));

test('giving back to Cline 4 writes a sidecar file that Cline accepts, and undo deletes the file', () =>
  inTemporaryFolder(async (home) => {
    const path = writeClineSession(home);
    const before = readFileSync(path);
    const { edits, view } = await condenseFile(path, before);
    const given = await giveBackConversation({ path, edits, row: ROW }, partsIn(home));
    expect(readFileSync(path)).toEqual(before);
    const sidecar = json(given.path) as Record<string, unknown>;
    const session = json(path) as Record<string, unknown>;
    const sent = applyCompactionSidecar(sidecar, session) as readonly { role: string; content: unknown }[];
    expect(sent.map(({ role, content }) => ({ role, content }))).toEqual(
      view.map(({ role, content }) => ({
        role,
        content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
      })),
    );
    const messages = session['messages'] as readonly Record<string, unknown>[];
    const renamed = messages.map((message, index) => ({ ...message, id: `other${index}`, ts: index }));
    expect(applyCompactionSidecar(sidecar, { ...session, messages: [...renamed, renamed[0]] })).toHaveLength(
      sent.length + 1,
    );
    expect(
      applyCompactionSidecar(sidecar, {
        ...session,
        messages: [{ ...messages[0], content: [] }, ...messages.slice(1)],
      }),
    ).toBeUndefined();
    await undoReplacement(nodeFiles, given.replacement);
    expect(existsSync(given.path)).toBe(false);
  }));

test('giving back to Claude Code writes a new session with its own IDs, which Claude Code resumes condensed', () =>
  inTemporaryFolder(async (home) => {
    const path = writeClaudeSession(home);
    const before = readFileSync(path);
    const { edits, view, read } = await condenseFile(path, before);
    const given = await giveBackConversation({ path, edits, row: ROW }, partsIn(home));
    expect(readFileSync(path)).toEqual(before);
    const made = readConversation(readFileSync(given.path), { path: given.path });
    expect(made.id).not.toBe(read.id);
    expect(made.title).toBe(appendToTitle(read.title, '(condensed)'));
    expect(made.messages.map(({ role }) => role)).toEqual(view.map(({ role }) => role));
    const lines = readFileSync(given.path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const old = new Set(before.toString('utf8').match(/"uuid":"[^"]+"/g));
    expect(lines.some(({ uuid }) => old.has(`"uuid":"${String(uuid)}"`))).toBe(false);
    // The first two lines are titles, which lack these fields.
    expect(lines.slice(2).every(({ cwd, gitBranch }) => cwd === '/home/me/notes' && gitBranch === 'main')).toBe(true);
    await undoReplacement(nodeFiles, given.replacement);
    expect(existsSync(given.path)).toBe(false);
  }));

test('giving back to Claude Code omits what Claude Code itself announces in each session', () =>
  inTemporaryFolder(async (home) => {
    const path = writeClaudeSession(home);
    const [first = '', second = '', ...rest] = readFileSync(path, 'utf8').split('\n');
    const prompt = JSON.parse(first) as Record<string, unknown>;
    const attachment = { type: 'deferred_tools_delta', addedLines: ['WebFetch'], removedNames: [] };
    const uuid = '0f6b1c52-6a1d-4d0e-9f5b-6e1f6d6f0a01';
    const announced = JSON.stringify({
      ...prompt,
      type: 'attachment',
      message: undefined,
      attachment,
      uuid,
      parentUuid: prompt['uuid'],
    });
    const answer = JSON.stringify({ ...(JSON.parse(second) as object), parentUuid: uuid });
    writeOldFile(path, [first, announced, answer, ...rest].join('\n'));
    const { edits, view } = await condenseFile(path, readFileSync(path));
    expect(JSON.stringify(view)).toContain('deferred tools');
    const given = await giveBackConversation({ path, edits, row: ROW }, partsIn(home));
    const made = readConversation(readFileSync(given.path), { path: given.path }).messages;
    expect(JSON.stringify(made)).not.toContain('deferred tools');
    expect(made.length).toBe(view.length - 1);
  }));

test('giving back is refused for an agent that would not continue with the written file', () =>
  inTemporaryFolder(async (home) => {
    const path = join(home, 'globalStorage', 'saoudrizwan.claude-dev', 'tasks', '1', 'api_conversation_history.json');
    writeOldFile(path, '[]');
    await expect(giveBackConversation({ path, edits: [], row: ROW }, partsIn(home))).rejects.toMatchObject({
      kind: 'not-supported',
    });
  }));

/** No JavaScript object can hold these parameters as they were written. */
const RAW = '"input":{"n":12345678901234567890,"n":1e400,';

test.each([
  ['a task in place', writeZooTask],
  ['a sidecar', writeClineSession],
  ['a new session', writeClaudeSession],
])('giving back %s keeps the exact numbers of parameters, even in edited calls', (_what, write) =>
  inTemporaryFolder(async (home) => {
    const path = write(home);
    writeOldFile(path, readFileSync(path, 'utf8').replaceAll('"input":{"', `${RAW}"`));
    const { edits, view } = await condenseFile(path, readFileSync(path));
    expect(edits.some((edit) => edit.kind === 'cut' && edit.place.path.includes('input'))).toBe(true);
    const given = await giveBackConversation({ path, edits, row: ROW }, partsIn(home));
    const text = readFileSync(given.path, 'utf8');
    const inputs = [...text.matchAll(/"input":\{/g)].length;
    expect(inputs).toBeGreaterThan(5);
    expect(text.split(RAW).length - 1).toBe(inputs);
    expect(view.length).toBeGreaterThan(5);
  }),
);
