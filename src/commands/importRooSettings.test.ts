import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { openTestWindow } from '../../test/support/testWindow';
import { fake, window } from '../../test/support/vscode';
import { importRooSettings } from './importRooSettings';
import type { Services } from '../window/services';

const KEY = 'sk-roo-0123456789';
let home: string;
let services: Services;

beforeEach(() => {
  ({ home, services } = openTestWindow());
});

const setting = (name: string): unknown => fake.settings[`contextCondenser.${name}`];
const lastShown = (): string => fake.shown.at(-1)?.message ?? '';

function exported(value: unknown): void {
  fake.openFile = join(home, 'roo-code-settings.json');
  writeFileSync(fake.openFile, typeof value === 'string' ? value : JSON.stringify(value));
}

const ROO = {
  providerProfiles: {
    apiConfigs: {
      Work: { id: 'a', apiProvider: 'anthropic', apiModelId: 'claude-sonnet-4-5', apiKey: KEY },
      Odd: { id: 'b', apiProvider: 'gemini-cli' },
    },
  },
  globalSettings: {
    autoCondenseContextPercent: 85,
    condensingApiConfigId: 'a',
    customCondensingPrompt: 'x'.repeat(80),
  },
};
const ALL =
  'contextCondenser.threshold, contextCondenser.condensingPrompt, contextCondenser.condensingProfile, Work, API keys of these models';

it("importing Roo's settings imports the selection, keeps keys only in the secret storage, and can be undone", async () => {
  exported(ROO);
  fake.settings['contextCondenser.threshold'] = 70;
  fake.picks = [ALL];
  fake.answers = ['Undo'];
  let during: unknown[] = [];
  const store = services.context.secrets;
  const set = store.delete.bind(store);
  store.delete = async (name) => {
    during = [...fake.secrets.values()];
    return set(name);
  };
  await importRooSettings(services);
  expect(during.join()).toContain(KEY);
  expect(fake.secrets.size).toBe(0);
  expect(setting('threshold')).toBe(70);
  expect(setting('profiles')).toBeUndefined();
  expect(lastShown()).toContain('Undone');

  fake.picks = [ALL];
  fake.answers = [];
  await importRooSettings(services);
  expect(setting('threshold')).toBe(85);
  expect(setting('condensingProfile')).toBe('work');
  expect(setting('profiles')).toMatchObject([{ id: 'work', vendor: 'anthropic' }]);
  expect([...fake.secrets.values()].join()).toContain(KEY);
  expect(lastShown()).toContain('Not imported: profile "Odd"');
  expect(JSON.stringify([fake.settings, fake.shown, fake.offered])).not.toContain(KEY);
});

it("importing Roo's settings skips an invalid profile and imports the others", async () => {
  const typo = { id: 'work', vendor: 'antropic' };
  fake.settings['contextCondenser.profiles'] = [typo];
  exported(ROO);
  fake.picks = [ALL];
  await importRooSettings(services);
  expect(setting('profiles')).toEqual([typo, expect.objectContaining({ id: 'work-2' })]);
});

it("importing Roo's settings again updates the imported profiles, and undoing that restores the earlier ones", async () => {
  exported(ROO);
  fake.picks = [ALL];
  await importRooSettings(services);
  exported(JSON.stringify(ROO).replace(KEY, 'sk-roo-another'));
  fake.picks = [ALL];
  fake.answers = ['Undo'];
  await importRooSettings(services);
  expect(lastShown()).toBe('Undone. The settings are as they were before.');
  expect(setting('profiles')).toMatchObject([{ id: 'work', vendor: 'anthropic' }]);
  expect([...fake.secrets.values()].join()).toContain(KEY);
});

it("undoing an import of Roo's settings leaves later changes", async () => {
  exported(ROO);
  fake.picks = [ALL];
  fake.answers = ['Undo'];
  const { showInformationMessage } = window;
  window.showInformationMessage = (message: string, ...rest: string[]) => {
    if (message.startsWith('Imported from')) fake.settings['contextCondenser.profiles'] = [];
    return showInformationMessage(message, ...rest);
  };
  await importRooSettings(services);
  window.showInformationMessage = showInformationMessage;
  expect(lastShown()).toContain('settings that have changed since the import: contextCondenser.profiles.');
  expect(setting('threshold')).toBeUndefined();
  expect([...fake.secrets.values()].join()).toContain(KEY);
});

it("importing Roo's settings imports only what was selected", async () => {
  exported(ROO);
  fake.picks = ['contextCondenser.condensingProfile'];
  await importRooSettings(services);
  expect(setting('condensingProfile')).toBeUndefined();
  expect(setting('profiles')).toBeUndefined();
  for (const left of [undefined, '']) {
    fake.picks = left === undefined ? [] : [left];
    await importRooSettings(services);
  }
  expect(fake.secrets.size).toBe(0);
});

it("importing Roo's settings offers no keys if the file has none", async () => {
  exported({ providerProfiles: { apiConfigs: { Local: { apiProvider: 'lmstudio', lmStudioModelId: 'm' } } } });
  fake.picks = ['Local'];
  await importRooSettings(services);
  expect(fake.offered.at(-1)?.map(({ label }) => label)).toEqual(['Local']);
  expect(setting('profiles')).toMatchObject([{ id: 'local', baseUrl: 'http://localhost:1234/v1' }]);
});

it("importing Roo's settings explains an invalid file", async () => {
  await importRooSettings(services);
  expect(fake.shown).toEqual([]);
  exported('{');
  await importRooSettings(services);
  expect(lastShown()).toMatch(/^Nothing was imported\. roo-code-settings\.json is not JSON/);
  exported({ globalSettings: { autoCondenseContextPercent: 1 } });
  await importRooSettings(services);
  expect(lastShown()).toContain('contains nothing that can be imported. autoCondenseContextPercent');
  exported(' '.repeat(5 * 1024 * 1024));
  await importRooSettings(services);
  expect(lastShown()).toContain('is larger than 4 MB');
});
