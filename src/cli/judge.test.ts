import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { exchange, lines, user } from '../core/testing';
import { UsageError } from './args';
import { EXIT } from './io';
import { judgeCommand } from './judge';

/** Runs the command in this process; what it says on both ways comes back with its end. */
async function judged(...argv: string[]) {
  let [stdout, stderr] = ['', ''];
  const code = await judgeCommand(argv, {
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
    assets: inject('bundles'),
    signal: new AbortController().signal,
    now: () => new Date('2026-01-02T03:04:05Z'),
    version: '1.2.3',
    platform: 'linux',
    env: {},
    homedir: '/home/me',
  });
  return { code, stdout, stderr };
}

/** Thirty files are read, then lines from the middle of eight of them are edited: of the newest, where no other is said. */
const session = (name: string, first = 22) => ({
  messages: [
    user(`Mend ${name}`),
    ...Array.from({ length: 30 }, (_, at) =>
      exchange(`r${at}`, 'Read', { file_path: `/src/${name}${at}.ts` }, lines(`${name}${at}`, 100)),
    ).flat(),
    ...Array.from({ length: 8 }, (_, edit) => first + edit).flatMap((at) =>
      exchange(
        `e${at}`,
        'Edit',
        {
          file_path: `/src/${name}${at}.ts`,
          old_string: lines(`${name}${at}`, 100).split('\n').slice(48, 52).join('\n'),
          new_string: 'gone',
        },
        'ok',
      ),
    ),
  ],
});

/** Each file is edited as soon as it was read: what is needed is never lost. */
const atOnce = (name: string) => ({
  messages: [
    user(`Mend ${name}`),
    ...Array.from({ length: 30 }, (_, at) => {
      const [path, text] = [`/src/${name}${at}.ts`, lines(`${name}${at}`, 150)];
      const old = text.split('\n').slice(70, 76).join('\n');
      return [
        ...exchange(`r${at}`, 'Read', { file_path: path }, text),
        ...exchange(`e${at}`, 'Edit', { file_path: path, old_string: old, new_string: 'gone' }, 'ok'),
      ];
    }).flat(),
  ],
});

const write = (folder: string, name: string, content: unknown): void => {
  writeFileSync(join(folder, name), JSON.stringify(content));
};

describe('judge', () => {
  it('says that it takes more where the folders hold too little, and how far it is', () =>
    inTemporaryFolder(async (folder) => {
      write(folder, 'settings.json', { theme: 'dark' });
      const { code, stdout, stderr } = await judged(folder);
      expect(code).toBe(EXIT.nothingToGain);
      expect(stdout).toContain('0 sessions read (not a session: 1 file); in 0 of them edits needed 0 lines');
      expect(stdout).toContain('Too little to recommend anything');
      // Without a needed line there is no table.
      expect(stdout).not.toContain('may stay');
      expect(stderr).toBe('\r0 of 1 files\r1 of 1 files\n');
    }));

  it('recommends what loses less than what is set, with a row for each way and target', () =>
    inTemporaryFolder(async (folder) => {
      for (const name of ['ash', 'birch', 'cedar', 'elm', 'fir']) write(folder, `${name}.json`, session(name));
      const { code, stdout } = await judged(folder, '--provider', 'truncation');
      expect(code).toBe(EXIT.done);
      expect(stdout).toContain('5 sessions read; in 5 of them edits needed ');
      const rows = stdout.split('\n').filter((line) => line.includes(']') && !line.includes('may stay'));
      // Truncation is the one that is set and one of the five ways: it is not judged twice.
      expect(rows).toHaveLength(5 * 4);
      expect(rows.filter((row) => row.startsWith('Truncation (as set)'))).toHaveLength(4);
      // Each way as far as it goes, then with shares that may stay.
      expect(rows[0]).toMatch(/^Truncation \(as set\) {2} +– /);
      expect(rows.slice(1, 4).map((row) => / (\d+) % /.exec(row)?.[1])).toEqual(['70', '50', '35']);
      expect(stdout).toMatch(/leaves no more and loses [\d.]+ % fewer of the needed lines/);
    }));

  it('gives one object of JSON, in which one session has no interval', () =>
    inTemporaryFolder(async (folder) => {
      write(folder, 'oak.json', session('oak'));
      const { code, stdout } = await judged(folder, '--json', '--preset', 'file-aware');
      expect(code).toBe(EXIT.nothingToGain);
      const found = JSON.parse(stdout) as { ways: { provider: string; config: unknown }[] };
      expect(found).toMatchObject({ read: 1, others: 0, sessions: 1, verdict: { kind: 'too-little' } });
      expect(found.ways[0]).toMatchObject({ id: 'current', provider: 'smart', config: 'file-aware' });
      const words = await judged(folder, '--provider', 'lossless');
      expect(words.stdout).toMatch(/^Lossless \(as set\).*\[–\]/m);
    }));

  it('writes weights of its own as a preset where they pay, which --preset takes', () =>
    inTemporaryFolder(async (folder) => {
      for (let at = 0; at < 10; at++) write(folder, `${at}.json`, session(`name${at}`, 0));
      const file = join(folder, 'own.condense.json');
      const { code, stdout } = await judged(folder, '--fit', file);
      expect(stdout).toMatch(/learnt from 5 sessions \(\d+ needed lines\) and judged on 5 sessions/);
      expect(stdout).toContain(`They pay, and are in ${file}`);
      expect(code).toBe(EXIT.done);
      const written = readFileSync(file, 'utf8');
      const again = await judged(folder, '--preset', file, '--json', '--fit', file);
      const { ways, fit } = JSON.parse(again.stdout) as { ways: { config: { weights: object } }[]; fit: object };
      expect(Object.keys(ways[0]?.config.weights ?? {}).length).toBeGreaterThan(50);
      expect(fit).toMatchObject({ verdict: { kind: 'pays' } });
      // A second fit gives the same bytes; the preset itself is no session.
      expect(readFileSync(file, 'utf8')).toBe(written);
      writeFileSync(file, written.replace('"tests":', '"texts":'));
      const damaged = judged(folder, '--preset', file);
      await expect(damaged).rejects.toBeInstanceOf(UsageError);
      await expect(damaged).rejects.toThrow('config.weights: Unrecognized key: "texts"');
    }));

  it('writes no weights where there is too little, or where they do not pay', () =>
    inTemporaryFolder(async (folder) => {
      const file = join(folder, 'own.condense.json');
      for (let at = 0; at < 9; at++) write(folder, `${at}.json`, atOnce(`name${at}`));
      const few = await judged(folder, '--fit', file);
      expect(few.code).toBe(EXIT.nothingToGain);
      expect(few.stdout).toContain('too little, each half takes 5 sessions and 50 needed lines. Nothing was written.');
      write(folder, '9.json', atOnce('name9'));
      const { code, stdout } = await judged(folder, '--fit', file);
      expect(stdout).toContain('That does not pay for sure. Nothing was written.');
      expect(code).toBe(EXIT.nothingToGain);
      expect(existsSync(file)).toBe(false);
    }));

  it('says that a way with a model is judged without it', () =>
    inTemporaryFolder(async (folder) => {
      const { stderr } = await judged(folder, '--preset', 'balanced');
      expect(stderr).toContain('What is set calls a model: judged is what runs without one.');
    }));

  it.each([
    ['no folder', [], 'A folder is missing'],
    ['an option that it does not have', ['.', '--model', 'x'], "Unknown option '--model'"],
    ['both ways to set', ['.', '--preset', 'speed', '--config', '{}'], 'give one of them'],
    ['a folder that is not there', ['/nowhere/at/all'], "A folder can't be listed: ENOENT"],
    ['a preset that is not there', ['.', '--preset', 'no-such'], '--preset does not fit the provider smart'],
    ['a preset whose file is not there', ['.', '--preset', 'no-such.json'], "as a file it can't be read (ENOENT)"],
    ['a file in no folder', ['.', '--fit', '/nowhere/at/all.json'], '--fit: there is no folder /nowhere/at'],
  ])('refuses %s', async (_, argv, words) => {
    const failed = judged(...argv);
    await expect(failed).rejects.toBeInstanceOf(UsageError);
    await expect(failed).rejects.toThrow(words);
  });
});
