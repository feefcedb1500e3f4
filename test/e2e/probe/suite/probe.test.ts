import assert from 'node:assert/strict';
import { homedir, tmpdir } from 'node:os';
import { suite, test } from 'mocha';
import * as vscode from 'vscode';
import { extensionVariable } from '../../suite/names';

suite('the probe', () => {
  test('the probe runs in a real VS Code, from its package', async () => {
    const extension = vscode.extensions.getExtension(process.env[extensionVariable] ?? '');
    assert.ok(extension);
    assert.equal(extension.isActive, false);
    await extension.activate();
    assert.ok((await vscode.commands.getCommands(true)).includes('probe.pick'));
  });

  test('the test probe cannot see the developer’s home folder', () => {
    assert.ok(homedir().startsWith(tmpdir()), homedir());
  });

  if (process.env['CONTEXT_CONDENSER_E2E_BREAK'] === 'true')
    test('the test probe fails on request', () => {
      assert.fail('as told');
    });
});
