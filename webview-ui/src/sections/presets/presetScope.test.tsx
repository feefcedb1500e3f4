/** Presets are in the user's list or the workspace's, which VS Code does not merge. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/support/temporaryFolder';
import { fake, workspace } from '../../../../test/support/vscode';
import { openPage, type TestPage } from '../../testing';

const config = {
  version: 1,
  passes: [{ id: 'p', name: 'P', mode: 'individual', selection: { type: 'preserve_recent', count: 5 } }],
};
const preset = (id: string): object => ({ id, name: `Preset ${id}`, config });
const KEY = 'contextCondenser.presets';

/** Returns the IDs of a scope's own list; undefined if it has none. */
const listIds = (values: Readonly<Record<string, unknown>>): string | undefined =>
  (values[KEY] as { id: string }[] | undefined)?.map(({ id }) => id).join();

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = [];
  workspace.name = 'demo';
  fake.settings[KEY] = [preset('a'), preset('b')];
});

const opened = (scope: 'user' | 'workspace'): Promise<TestPage> => openPage({ view: { open: ['smart'], scope } });

const press = (page: TestPage, id: string, button: string): Promise<void> =>
  page.click(
    () =>
      [...page.find('.preset', `Preset ${id}`).querySelectorAll<HTMLElement>('vscode-button')].find(
        ({ textContent }) => textContent.trim() === button,
      ) as HTMLElement,
  );

/** Renames the preset that is shown with this id. */
async function rename(page: TestPage, id: string, name: string): Promise<void> {
  await press(page, id, 'Rename');
  await page.type(() => page.find('.preset vscode-text-field', 'Name'), name);
  await page.click(
    () => page.all('.preset vscode-button').find(({ textContent }) => textContent.trim() === 'Save') as HTMLElement,
  );
}

describe('presets in a workspace without its own', () => {
  it('are deleted and renamed in the user’s list, which can be undone', async () => {
    const page = await opened('workspace');
    await press(page, 'a', 'Delete');
    await page.until(() => listIds(fake.settings) === 'b');
    await page.click(() => page.find('#presets .done button', 'Undo'));
    await page.until(() => listIds(fake.settings) === 'a,b');
    await rename(page, 'b', 'Preset b, renamed');
    await page.until(() => JSON.stringify(fake.settings[KEY]).includes('Preset b, renamed'));
    expect(listIds(fake.workspaceSettings)).toBeUndefined();
    expect(page.all('#presets .problem')).toEqual([]);
    expect(page.find('#presets').textContent).toContain('Presets are saved in your user settings.');
  });

  it('are added to the user’s list, new or from a file, without losing others', async () => {
    fake.workspaceSettings['contextCondenser.smart'] = config;
    const page = await opened('workspace');
    await page.type(() => page.find('vscode-text-field', 'Name of the new preset'), 'c');
    await page.click(() => page.find('vscode-button', 'Save the passes as a preset'));
    await page.until(() => listIds(fake.settings) === 'a,b,c');
    fake.openFile = join(temporaryFolder(), 'd.condense.json');
    writeFileSync(fake.openFile, JSON.stringify({ description: '', ...preset('d') }));
    await page.click(() => page.find('vscode-button', 'Import…'));
    await page.until(() => listIds(fake.settings) === 'a,b,c,d');
    expect(listIds(fake.workspaceSettings)).toBeUndefined();
    await page.until(() => page.find('.preset', 'Preset a'));
  });
});

it.each(['user', 'workspace'] as const)(
  'a workspace’s own list of presets is changed in the workspace: %s',
  async (scope) => {
    fake.workspaceSettings[KEY] = [preset('a'), preset('w')];
    const page = await opened(scope);
    await rename(page, 'a', 'Preset a, here');
    await page.until(() => JSON.stringify(fake.workspaceSettings[KEY]).includes('Preset a, here'));
    await press(page, 'w', 'Delete');
    await page.until(() => listIds(fake.workspaceSettings) === 'a');
    expect(fake.settings[KEY]).toEqual([preset('a'), preset('b')]);
    expect(page.root.textContent.includes('This workspace has its own presets')).toBe(scope === 'user');
  },
);

it('a workspace’s list of presets that the user has not allowed is not changed', async () => {
  fake.settings['contextCondenser.profiles'] = [{ id: 'dear', name: 'Dear', vendor: 'anthropic', model: 'm' }];
  const batch = { operation: 'summarize', apiProfile: 'dear' };
  const pass = { ...config.passes[0], mode: 'batch', batchConfig: batch };
  fake.workspaceSettings[KEY] = [{ ...preset('w'), config: { version: 1, passes: [pass] } }];
  const page = await opened('workspace');
  await press(page, 'a', 'Delete');
  await page.until(() => listIds(fake.settings) === 'b');
  expect(listIds(fake.workspaceSettings)).toBe('w');
});
