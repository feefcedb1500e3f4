import { expect, it, vi } from 'vitest';
import * as vscode from 'vscode';
import { SETTING_NAMES } from '../../settings/table';
import { setting, userValueOf } from './settings';

it('are read for no resource in particular, for VS Code would warn of each reading in its log', () => {
  const read = vi.spyOn(vscode.workspace, 'getConfiguration');
  for (const name of SETTING_NAMES) {
    setting(name);
    userValueOf(name);
  }
  expect(read.mock.calls.length).toBeGreaterThan(SETTING_NAMES.length);
  expect(new Set(read.mock.calls.map(([, scope]) => scope))).toEqual(new Set([null]));
  read.mockRestore();
});
