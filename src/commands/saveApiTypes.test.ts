import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { testServices } from '../../test/support/services';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { fake } from '../../test/support/vscode';
import { saveApiTypes } from './saveApiTypes';

beforeEach(() => {
  fake.reset();
});

it("the command to save the API's types writes them to a chosen file", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'dist'));
  const types = readFileSync('src/extensionApi/api.ts', 'utf8');
  writeFileSync(join(folder, 'dist', 'api.d.ts'), types);
  const { services } = testServices(folder, folder);
  await saveApiTypes(services);
  expect(fake.shown).toEqual([]);
  fake.saveFile = join(folder, 'condenserApi.d.ts');
  await saveApiTypes(services);
  expect(readFileSync(fake.saveFile, 'utf8')).toBe(types);
});

it("the command to save the API's types reports that nothing was saved if the file can't be written", async () => {
  const folder = temporaryFolder();
  const { services } = testServices(join(folder, 'gone'), folder);
  fake.saveFile = join(folder, 'condenserApi.d.ts');
  await saveApiTypes(services);
  expect(fake.shown.at(-1)).toMatchObject({ kind: 'error' });
});
