import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { fake, Uri, window, workspace } from '../../test/support/vscode';
import { BUILT_IN_PRESETS, formatPresetFile, type Preset } from '../core/condense/providers/smart/presets';
import type { ListChange } from '../core/settingValue';
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

describe('a preset of the panel', () => {
  it("is exported to the chosen file, whether built in or the user's own", async () => {
    fake.settings['contextCondenser.presets'] = [own];
    for (const preset of [builtIn!, own]) {
      fake.saveFile = join(folder, 'out.condense.json');
      expect(await exportPreset(preset.id)).toBe(true);
      expect(JSON.parse(readFileSync(fake.saveFile, 'utf8'))).toMatchObject({ id: preset.id, name: preset.name });
    }
  });

  it('is suggested to be saved in the workspace, and not written if no file is chosen', async () => {
    const asked = vi.spyOn(window, 'showSaveDialog');
    expect(await exportPreset(builtIn!.id)).toBe(false);
    workspace.workspaceFolders = [{ uri: Uri.file(folder) }];
    expect(await exportPreset(builtIn!.id)).toBe(false);
    workspace.workspaceFolders = undefined;
    // The test double's function declares no parameters, unlike VS Code's.
    const [first, second] = asked.mock.calls as unknown as [{ defaultUri?: Uri }][];
    expect(first![0]).not.toHaveProperty('defaultUri');
    expect(second![0].defaultUri?.fsPath).toBe(join(folder, `${builtIn!.id}.condense.json`));
    vi.restoreAllMocks();
  });

  it('is reported by name if it was deleted before an action on it', async () => {
    await expect(exportPreset('gone')).rejects.toThrow('The preset “gone” no longer exists.');
  });

  const importFrom = async (preset: Preset, scope: 'user' | 'workspace' = 'user') => {
    fake.openFile = join(folder, 'in.condense.json');
    writeFileSync(fake.openFile, formatPresetFile(preset));
    const panel = openTestPanel();
    const { result } = (await panel.ask('importPreset', { scope })) as { result: { id?: string; undo: ListChange[] } };
    const undo = async (): Promise<void> => {
      for (const change of result.undo) await panel.ask('changeList', { name: 'presets', scope, path: [], change });
    };
    return { ...result, undo };
  };
  const namesIn = (values: Record<string, unknown>) =>
    (values['contextCondenser.presets'] as Preset[] | undefined)?.map(({ name }) => name);
  const other: Preset = { ...own, id: 'other', name: 'Other' };

  it('is imported in addition to the others, for the user or the workspace, and the import can be undone', async () => {
    expect(await importFrom(own)).toMatchObject({ id: 'my-own' });
    const { undo } = await importFrom(other);
    workspace.workspaceFolders = [{ uri: Uri.file(folder) }];
    await importFrom(other, 'workspace');
    workspace.workspaceFolders = undefined;
    expect(namesIn(fake.workspaceSettings)).toEqual(['Other']);
    expect(namesIn(fake.settings)).toEqual(['My own', 'Other']);
    await undo();
    expect(namesIn(fake.settings)).toEqual(['My own']);
  });

  it('replaces a preset with the same ID on import only after the user agreed, and undo restores that preset', async () => {
    fake.settings['contextCondenser.presets'] = [own, other];
    fake.answers = ['Replace'];
    const { undo } = await importFrom({ ...own, name: 'Renamed' });
    expect(namesIn(fake.settings)).toEqual(['Renamed', 'Other']);
    await undo();
    expect(fake.settings['contextCondenser.presets']).toEqual([own, other]);
  });

  it('is imported under a free ID if the user wants to keep both', async () => {
    fake.settings['contextCondenser.presets'] = [own, { ...other, id: 'my-own-2' }];
    fake.answers = ['Import as a Copy'];
    expect(await importFrom({ ...own, name: 'Renamed' })).toMatchObject({ id: 'my-own-3' });
    expect(namesIn(fake.settings)).toEqual(['My own', 'Other', 'Renamed']);
  });

  it('is not imported if the user cancels the question', async () => {
    fake.settings['contextCondenser.presets'] = [own];
    expect(await importFrom({ ...own, name: 'Renamed' })).not.toHaveProperty('id');
    expect(namesIn(fake.settings)).toEqual(['My own']);
  });

  it('is not imported if it is invalid, with the reason, or if no file is chosen', async () => {
    const panel = openTestPanel();
    expect(await panel.ask('importPreset', { scope: 'user' })).toMatchObject({ result: { problems: [] } });
    fake.openFile = join(folder, 'in.condense.json');
    writeFileSync(fake.openFile, '{"id": "x"}');
    const answer = (await panel.ask('importPreset', { scope: 'user' })) as { result?: { problems: unknown[] } };
    expect(answer.result?.problems.length).toBeGreaterThan(0);
    expect(fake.settings['contextCondenser.presets']).toBeUndefined();
  });
});
