import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { suite, test } from 'mocha';
import * as vscode from 'vscode';
import { lazyEntries } from '../../../scripts/lazyPackages.mjs';
import { measureActivation } from './activation';
import { measureIdle } from './idle';
import { reportFigure } from './index';
import { extensionVariable, IDLE_STATES, idleVariable } from './names';

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly configuration: readonly {
      readonly properties: Readonly<Record<string, { readonly default: unknown }>>;
    }[];
  };
}

/** Time limit of a test, which is longer than the window is watched in any state. */
const IDLE_LIMIT_MS = 600_000;

suite('the packaged extension', () => {
  const extension = vscode.extensions.getExtension(process.env[extensionVariable] ?? '');
  const manifest = extension?.packageJSON as Manifest;

  test('the extension activates on first use, and quickly', async () => {
    assert.ok(extension);
    const { whole, own, roundTrip } = await measureActivation(extension);
    reportFigure(
      `activation took ${whole.toFixed(1)} ms: ${own} of the extension, the rest VS Code's way to the window and back (${roundTrip.toFixed(1)} at its shortest)`,
      { whole, own },
    );
  });

  const state = IDLE_STATES.find((one) => one === process.env[idleVariable]);
  if (state !== undefined)
    test('the extension is not activated as long as nobody uses it', async () => {
      assert.ok(extension);
      reportFigure(state, { ...(await measureIdle(extension, state)) });
    }).timeout(IDLE_LIMIT_MS);

  test('the extension has every command in its package.json', async () => {
    const known = new Set(await vscode.commands.getCommands(true));
    for (const { command } of manifest.contributes.commands) assert.ok(known.has(command), command);
  });

  test('the extension has every setting with its default', () => {
    const settings = vscode.workspace.getConfiguration();
    for (const [name, { default: value }] of manifest.contributes.configuration.flatMap(({ properties }) =>
      Object.entries(properties),
    )) {
      assert.deepEqual(settings.get(name), value, name);
    }
  });

  test('the extension contains everything that its commands load', () => {
    assert.ok(extension);
    const dist = join(extension.extensionPath, 'dist');
    for (const file of ['engine.cjs', 'engineWork.cjs', 'o200k.bin', 'webview.js']) {
      assert.ok(readFileSync(join(dist, file)).length > 0, file);
    }
    // The files are loaded from the extension's folder, because VS Code checks which extension
    // imports `vscode`.
    const load = createRequire(join(dist, 'extension.cjs'));
    const parts = Object.values(load('./parts.json') as Record<string, string[]>).flat();
    const files = [
      ...new Set(parts),
      'commands.cjs',
      'panel.cjs',
      ...Object.keys(lazyEntries).map((name) => `${name}.cjs`),
    ];
    const times = files.map((name) => {
      const before = process.cpuUsage();
      assert.ok(Object.keys(load(`./${name}`) as object).length > 0, name);
      const { user, system } = process.cpuUsage(before);
      return `${name} ${((user + system) / 1000).toFixed(0)}`;
    });
    reportFigure(`first load in milliseconds of processor time: ${times.join(', ')}`);
  });
});
