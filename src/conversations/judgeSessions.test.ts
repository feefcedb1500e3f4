import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { CURRENT_CHOICE_ID, JUDGED_CHOICES } from '../core/condense/futureNeed/judgedChoices';
import { makeToolExchange, makeLines, user } from '../core/testing';
import { createCounter } from '../core/testingCounter';
import { judgeSessions, listSessionFiles } from './judgeSessions';

const counter = createCounter();
const tokens = { count: (text: string) => counter.countText(text) };
const choices = [{ ...JUDGED_CHOICES[0]!, id: CURRENT_CHOICE_ID }];

const session = (name: string, turns: number) => ({
  messages: [
    user(`Look at ${name}`),
    ...Array.from({ length: turns }, (_, at) =>
      makeToolExchange(`r${at}`, 'Read', { file_path: `/src/${name}${at}.ts` }, makeLines(name, 3)),
    ).flat(),
  ],
});

it('judging reads each session once, uses the longest of those with the same beginning, and counts other files', () =>
  inTemporaryFolder(async (folder) => {
    mkdirSync(join(folder, 'deep'));
    const write = (name: string, content: unknown): void => {
      writeFileSync(join(folder, name), JSON.stringify(content));
    };
    write('a.json', session('a', 3));
    write('deep/a-resumed.json', session('a', 6));
    write('b.json', session('b', 4));
    write('settings.json', { theme: 'dark' });
    writeFileSync(join(folder, 'notes.txt'), 'no session');
    symlinkSync(join(folder, 'b.json'), join(folder, 'link.json'));
    const files = await listSessionFiles([folder, join(folder, 'deep')]);
    expect(files.map((file) => file.slice(folder.length + 1))).toEqual([
      'deep/a-resumed.json',
      'b.json',
      'a.json',
      'settings.json',
    ]);
    const told: string[] = [];
    const judged = await judgeSessions(files, choices, {
      tokens,
      onProgress: (done, of) => told.push(`${done}/${of}`),
    });
    expect(judged).toMatchObject({ read: 2, others: 1, sessions: 0, lines: 0, verdict: { kind: 'too-little' } });
    expect(told).toEqual(['0/4', '1/4', '2/4', '3/4', '4/4']);
    const reason = new Error('stop');
    await expect(judgeSessions(files, choices, { tokens, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  }));
