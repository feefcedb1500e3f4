import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { exchange, lines, user } from '../core/testing';
import { freshCounter } from '../core/testingCounter';
import { fitSessions } from './fitSessions';

const counter = freshCounter();
const tokens = { count: (text: string) => counter.text(text) };

/** Thirty files are read, then lines of the oldest ones are edited: the weights that ship expect the latest to be needed. */
const session = (name: string) => ({
  messages: [
    user(`Mend ${name}`),
    ...Array.from({ length: 30 }, (_, at) =>
      exchange(`r${at}`, 'Read', { file_path: `/src/${name}${at}.ts` }, lines(`${name}${at}`, 60)),
    ).flat(),
    ...Array.from({ length: 8 }, (_, at) =>
      exchange(
        `e${at}`,
        'Edit',
        {
          file_path: `/src/${name}${at}.ts`,
          old_string: lines(`${name}${at}`, 60).split('\n').slice(28, 32).join('\n'),
          new_string: 'gone',
        },
        'ok',
      ),
    ).flat(),
  ],
});

const write = (folder: string, names: readonly string[]): string[] =>
  names.map((name) => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(session(name)));
    return file;
  });

const NAMES = ['ash', 'birch', 'cedar', 'elm', 'fir', 'gorse', 'hazel', 'ivy', 'juniper', 'larch'];

it('learns from one half what the other half needs, the same in whatever order the sessions come', () =>
  inTemporaryFolder(async (folder) => {
    const files = write(folder, NAMES);
    const told: string[] = [];
    const fit = await fitSessions(files, { tokens, onProgress: (done, of) => told.push(`${done}/${of}`) });
    expect([fit.learnt.sessions, fit.judged.sessions]).toEqual([5, 5]);
    const { verdict } = fit;
    if (verdict.kind !== 'pays') throw new Error(JSON.stringify(verdict));
    expect(verdict.difference.high).toBeLessThan(0);
    expect(verdict.own.share).toBeLessThan(verdict.shipped.share);
    expect(told).toContain('0/10');
    expect(told.at(-1)).toBe('10/10');
    expect(await fitSessions(files.toReversed(), { tokens })).toEqual(fit);
    const reason = new Error('stop');
    await expect(fitSessions(files, { tokens, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  }));

it('says that it is too little where a half has too few sessions', () =>
  inTemporaryFolder(async (folder) => {
    const fit = await fitSessions(write(folder, NAMES.slice(0, 9)), { tokens });
    expect(fit).toMatchObject({ learnt: { sessions: 5 }, judged: { sessions: 4 }, verdict: { kind: 'too-little' } });
    expect(await fitSessions([], { tokens })).toMatchObject({ learnt: { sessions: 0, lines: 0 } });
  }));
