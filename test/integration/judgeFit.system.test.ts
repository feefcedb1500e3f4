/** `judge --fit`, from stored sessions to a preset. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/args';
import { EXIT } from '../../src/cli/io';
import { judged, sessionOf, writeSession } from '../../src/cli/testing';
import { exchange, lines, user } from '../../src/core/testing';
import { inTemporaryFolder } from '../support/inTemporaryFolder';

/** Each file is edited as soon as it was read: what is needed is never lost. With 16 it is judged between a read and its edit. */
const atOnce = (name: string) => ({
  messages: [
    user(`Mend ${name}`),
    ...Array.from({ length: 16 }, (_, at) => {
      const [path, text] = [`/src/${name}${at}.ts`, lines(`${name}${at}`, 150)];
      const old = text.split('\n').slice(70, 76).join('\n');
      return [
        ...exchange(`r${at}`, 'Read', { file_path: path }, text),
        ...exchange(`e${at}`, 'Edit', { file_path: path, old_string: old, new_string: 'gone' }, 'ok'),
      ];
    }).flat(),
  ],
});

describe('weights of its own', () => {
  it('writes weights of its own as a preset where they pay, which --preset takes', () =>
    inTemporaryFolder(async (folder) => {
      for (let at = 0; at < 10; at++) writeSession(folder, `${at}.json`, sessionOf(`name${at}`, 0, 12));
      const file = join(folder, 'own.condense.json');
      const { code, stdout } = await judged(folder, '--fit', file);
      expect(stdout).toMatch(/learned from 5 sessions \(\d+ needed lines\) and judged on 5 sessions/);
      expect(stdout).toContain(`They are better, and are in ${file}`);
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
      writeSession(folder, '0.json', atOnce('name0'));
      const few = await judged(folder, '--fit', file);
      expect(few.code).toBe(EXIT.nothingToGain);
      expect(few.stdout).toContain(
        'too little data; each half takes 5 sessions and 50 needed lines. Nothing was written.',
      );
      for (let at = 1; at < 10; at++) writeSession(folder, `${at}.json`, atOnce(`name${at}`));
      const { code, stdout } = await judged(folder, '--fit', file);
      expect(stdout).toContain('The difference is not significant. Nothing was written.');
      expect(code).toBe(EXIT.nothingToGain);
      expect(existsSync(file)).toBe(false);
    }));
});
