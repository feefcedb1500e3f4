import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import type { Server, Settings } from './server';
import { until } from './wait';
import type { Workbench } from './workbench';

const source = join(root, 'test', 'e2e', 'helper');

/** Installs the extension in `test/e2e/helper`. */
export function installHelper(extensionsDir: string): void {
  const { publisher, name, version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Record<
    'publisher' | 'name' | 'version',
    string
  >;
  const relativeLocation = `${publisher}.${name}-${version}`;
  const path = join(extensionsDir, relativeLocation);
  cpSync(source, path, { recursive: true });
  const extensionsListFile = join(extensionsDir, 'extensions.json');
  const installed = JSON.parse(readFileSync(extensionsListFile, 'utf8')) as unknown[];
  const location = { $mid: 1, path, scheme: 'file' };
  const identifier = { id: `${publisher}.${name}` };
  writeFileSync(
    extensionsListFile,
    JSON.stringify([...installed, { identifier, version, location, relativeLocation, metadata: {} }]),
  );
}

/** Path of the file that contains the address of a window's helper. */
const getAddressFile = (server: Server, folder: string | undefined): string =>
  join(server.helpers, basename(folder ?? 'empty'));

/**
 * Removes the address. Call this when a window is loaded, because its helper ends with the
 * extension host.
 */
export function forgetHelper(server: Server, folder: string | undefined): void {
  rmSync(getAddressFile(server, folder), { force: true });
}

/**
 * Tasks for a helper in this order: user settings (null resets one), commands with arguments, a CPU
 * profile.
 */
export interface HelperTasks {
  readonly settings?: Settings;
  readonly commands?: readonly (readonly [command: string, ...args: unknown[]])[];
  readonly profiler?: 'begin' | 'end';
}

/**
 * Runs tasks in the window's helper.
 * @returns its answer, such as a finished profile
 */
export async function runInHelper({ server, folder }: Workbench, asked: HelperTasks): Promise<string> {
  const file = getAddressFile(server, folder);
  const response = await until('the helper of the window', async () => {
    if (!existsSync(file)) return undefined;
    return fetch(`http://127.0.0.1:${readFileSync(file, 'utf8')}`, { method: 'POST', body: JSON.stringify(asked) });
  });
  const answerText = await response.text();
  if (!response.ok) throw new Error(`The helper could not do ${JSON.stringify(asked)}: ${answerText}`);
  return answerText;
}

const CLOSE = {
  editors: 'workbench.action.closeAllEditors',
  notifications: 'notifications.clearAll',
  panel: 'workbench.action.closePanel',
  sideBar: 'workbench.action.closeSidebar',
  terminals: 'workbench.action.terminal.killAll',
} as const;

/** Closes these parts of the window. */
export const closeParts = (bench: Workbench, ...parts: readonly (keyof typeof CLOSE)[]): Promise<unknown> =>
  runInHelper(bench, { commands: parts.map((part) => [CLOSE[part]]) });

/** Reads the user's settings from disk; machine settings are in another file. */
export function readSettingsFromDisk({ data }: Server): Settings {
  const files = ['User', 'Machine'].map((folder) => join(data, folder, 'settings.json')).filter(existsSync);
  return Object.assign({}, ...files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Settings)) as Settings;
}

/** Sets the user's settings to the initial ones plus these. They take effect immediately. */
export async function useSettings(bench: Workbench, more: Settings = {}): Promise<void> {
  const { server } = bench;
  const wantedSettings: Settings = { ...server.settings, ...more };
  const currentSettings = readSettingsFromDisk(server);
  const names = [...new Set([...Object.keys(wantedSettings), ...Object.keys(currentSettings)])];
  const changes = names
    .filter((name) => JSON.stringify(wantedSettings[name]) !== JSON.stringify(currentSettings[name]))
    .map((name) => [name, wantedSettings[name] ?? null] as const);
  if (changes.length > 0) await runInHelper(bench, { settings: Object.fromEntries(changes) });
}
