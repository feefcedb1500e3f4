import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { UsageError } from './args';
import { EXIT_CODE } from './io';
import { runJudge, makeSession, writeSession } from './testing';

describe('the judge command', () => {
  it('says that the given folders contain too few sessions, and how many are missing', () =>
    inTemporaryFolder(async (folder) => {
      writeSession(folder, 'settings.json', { theme: 'dark' });
      const { code, stdout, stderr, progress } = await runJudge(folder);
      expect(code).toBe(EXIT_CODE.nothingToGain);
      expect(stdout).toContain('0 sessions read (not a session: 1 file); in 0 of them, later edits used 0 lines');
      expect(stdout).toContain('Too little data for a recommendation');
      // Without needed lines there is no table.
      expect(stdout).not.toContain('target');
      expect(progress).toEqual(['0 of 1 files', '1 of 1 files']);
      // A log must not receive progress lines.
      expect(stderr).toBe('');
    }));

  it('recommends a configuration that loses less than the current one, with a row per configuration and target', () =>
    inTemporaryFolder(async (folder) => {
      for (const name of ['ash', 'birch', 'cedar', 'elm', 'fir'])
        writeSession(folder, `${name}.json`, makeSession(name));
      const { code, stdout } = await runJudge(folder, '--provider', 'truncation');
      expect(code).toBe(EXIT_CODE.done);
      expect(stdout).toContain('5 sessions read; in 5 of them, later edits used ');
      const rows = stdout.split('\n').filter((line) => line.includes(']') && !line.includes('target'));
      // Truncation is both the current configuration and one of the five that are compared, but it
      // is evaluated once.
      expect(rows).toHaveLength(5 * 4);
      expect(rows.filter((row) => row.startsWith('Truncation (current)'))).toHaveLength(4);
      // Each configuration's first row removes as much as possible. Its other rows have target
      // shares.
      expect(rows[0]).toMatch(/^Truncation \(current\) {2} +– /);
      expect(rows.slice(1, 4).map((row) => / (\d+)% /.exec(row)?.[1])).toEqual(['70', '50', '35']);
      expect(stdout).toMatch(/leaves no more tokens and loses [\d.]+% fewer of the needed lines/);
    }));

  it('prints one JSON object, without a confidence interval if there is only one session', () =>
    inTemporaryFolder(async (folder) => {
      writeSession(folder, 'oak.json', makeSession('oak'));
      const { code, stdout } = await runJudge(folder, '--json', '--preset', 'file-aware');
      expect(code).toBe(EXIT_CODE.nothingToGain);
      const found = JSON.parse(stdout) as { choices: { provider: string; config: unknown }[] };
      expect(found).toMatchObject({ read: 1, others: 0, sessions: 1, verdict: { kind: 'too-little' } });
      expect(found.choices[0]).toMatchObject({ id: 'current', provider: 'smart', config: 'file-aware' });
      const words = await runJudge(folder, '--provider', 'lossless');
      expect(words.stdout).toMatch(/^Lossless \(current\).*\[–\]/m);
    }));

  it('says that a configuration that calls a model is evaluated without the model', () =>
    inTemporaryFolder(async (folder) => {
      const { stderr } = await runJudge(folder, '--preset', 'balanced');
      expect(stderr).toContain('The current settings call a model, so what runs without one was judged.');
    }));

  it.each([
    ['no folder', [], 'Missing folder: '],
    ['an option that it does not have', ['.', '--model', 'x'], "Unknown option '--model'"],
    ['both choices to set', ['.', '--preset', 'speed', '--config', '{}'], 'use one of them'],
    ['a folder that is not there', ['/nowhere/at/all'], '/nowhere/at/all: no such folder or file.'],
    [
      'a preset that is not there',
      ['.', '--preset', 'no-such'],
      '--preset: there is no preset "no-such"; known presets: conservative',
    ],
    ['a preset whose file is not there', ['.', '--preset', 'no-such.json'], "can't be read as a file (ENOENT)"],
  ])('rejects wrong usage: %s', async (_, argv, words) => {
    const failed = runJudge(...argv);
    await expect(failed).rejects.toBeInstanceOf(UsageError);
    await expect(failed).rejects.toThrow(words);
  });
});
