import { expect, it, vi } from 'vitest';
import * as vscode from 'vscode';
import { fake } from '../../../test/support/vscode';
import { SETTING_NAMES, SETTINGS } from '../../settings/table';
import { readSetting, listSettingProblems, getUserSetting } from './settings';

it('settings are read without a resource, because VS Code would log a warning for each', () => {
  const read = vi.spyOn(vscode.workspace, 'getConfiguration');
  for (const name of SETTING_NAMES) {
    readSetting(name);
    getUserSetting(name);
  }
  expect(new Set(read.mock.calls.map(([, scope]) => scope))).toEqual(new Set([null]));
  read.mockRestore();
});

it('a setting is read from VS Code once per task of the event loop, however often it is used', async () => {
  const read = vi.spyOn(vscode.workspace, 'getConfiguration');
  try {
    fake.settings['contextCondenser.threshold'] = 60;
    expect([readSetting('threshold'), readSetting('threshold'), getUserSetting('threshold')]).toEqual([60, 60, 60]);
    expect(read).toHaveBeenCalledTimes(1);
    await Promise.resolve();
    fake.settings['contextCondenser.threshold'] = 70;
    expect(readSetting('threshold')).toBe(70);
  } finally {
    read.mockRestore();
    delete fake.settings['contextCondenser.threshold'];
    await Promise.resolve();
  }
});

it("settings are valid by default, and another extension's default is validated like a user's value", async () => {
  const parse = vi.spyOn(SETTINGS.threshold, 'parse');
  expect(listSettingProblems()).toEqual([]);
  expect(parse).not.toHaveBeenCalled();
  await Promise.resolve();
  // Another extension's package.json can set such a default with `configurationDefaults`.
  fake.defaults['contextCondenser.threshold'] = 300;
  try {
    expect(listSettingProblems()).toEqual([
      expect.stringMatching(/^Setting contextCondenser\.threshold: .*100.*75 is used\.$/),
    ]);
  } finally {
    fake.defaults['contextCondenser.threshold'] = SETTINGS.threshold.default;
    parse.mockRestore();
  }
});

it('misspelled fields of passes and presets are reported and ignored', async () => {
  await Promise.resolve();
  const config = { passes: [], pases: [] };
  fake.settings['contextCondenser.smart'] = config;
  fake.settings['contextCondenser.presets'] = [{ id: 'mine', name: 'Mine', config }];
  try {
    expect(listSettingProblems()).toEqual([
      'Setting contextCondenser.smart.pases: is not a known field (did you mean passes?). It is ignored.',
      'Setting contextCondenser.presets › “Mine” › config › pases: is not a known field (did you mean passes?). It is ignored.',
    ]);
  } finally {
    delete fake.settings['contextCondenser.smart'];
    delete fake.settings['contextCondenser.presets'];
  }
});
