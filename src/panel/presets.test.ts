import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { fake, Uri, window, workspace } from '../../test/support/vscode';
import { BUILT_IN_PRESETS, formatPresetFile, type Preset } from '../core/condense/presets';
import { exportPreset } from './presets';
import { openTestPanel } from './testing';

let folder: string;

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  folder = temporaryFolder();
});

const [builtIn] = BUILT_IN_PRESETS;
const own: Preset = { ...builtIn!, id: 'my-own', name: 'My own' };

describe('a preset', () => {
  it('is written to the file that the user names, built in or their own', async () => {
    fake.settings['contextCondenser.presets'] = [own];
    for (const preset of [builtIn!, own]) {
      fake.saveFile = join(folder, 'out.condense.json');
      expect(await exportPreset(preset.id)).toBe(true);
      expect(JSON.parse(readFileSync(fake.saveFile, 'utf8'))).toMatchObject({ id: preset.id, name: preset.name });
    }
  });

  it('is suggested to stand in the workspace; nothing is written where no file is named', async () => {
    const asked = vi.spyOn(window, 'showSaveDialog');
    expect(await exportPreset(builtIn!.id)).toBe(false);
    workspace.workspaceFolders = [{ uri: Uri.file(folder) }];
    expect(await exportPreset(builtIn!.id)).toBe(false);
    workspace.workspaceFolders = undefined;
    // The double takes no options; VS Code does.
    const [first, second] = asked.mock.calls as unknown as [{ defaultUri?: Uri }][];
    expect(first![0]).not.toHaveProperty('defaultUri');
    expect(second![0].defaultUri?.fsPath).toBe(join(folder, `${builtIn!.id}.condense.json`));
    vi.restoreAllMocks();
  });

  it('that is gone is named', async () => {
    await expect(exportPreset('gone')).rejects.toThrow('The preset "gone" no longer exists.');
  });

  it('is read from a file: beside the others, or in the place of the one with its id', async () => {
    const other = { ...own, id: 'other', name: 'Other' };
    const panel = openTestPanel();
    const read = async (preset: Preset, scope: 'user' | 'workspace') => {
      fake.openFile = join(folder, 'in.condense.json');
      writeFileSync(fake.openFile, formatPresetFile(preset));
      return panel.ask('importPreset', { scope });
    };
    expect(await read(own, 'user')).toMatchObject({ result: { id: 'my-own', problems: [] } });
    await read(other, 'user');
    await read({ ...own, name: 'Renamed' }, 'user');
    const names = (values: Record<string, unknown>) =>
      (values['contextCondenser.presets'] as Preset[] | undefined)?.map(({ name }) => name);
    expect(names(fake.settings)).toEqual(['Renamed', 'Other']);
    workspace.workspaceFolders = [{ uri: Uri.file(folder) }];
    await read(other, 'workspace');
    workspace.workspaceFolders = undefined;
    expect(names(fake.workspaceSettings)).toEqual(['Other']);
    expect(names(fake.settings)).toEqual(['Renamed', 'Other']);
  });

  it('that is wrong is not taken, and what is wrong is said; without a file nothing happens', async () => {
    const panel = openTestPanel();
    expect(await panel.ask('importPreset', { scope: 'user' })).toMatchObject({ result: { problems: [] } });
    fake.openFile = join(folder, 'in.condense.json');
    writeFileSync(fake.openFile, '{"id": "x"}');
    const answer = (await panel.ask('importPreset', { scope: 'user' })) as { result?: { problems: unknown[] } };
    expect(answer.result?.problems.length).toBeGreaterThan(0);
    expect(fake.settings['contextCondenser.presets']).toBeUndefined();
  });
});
