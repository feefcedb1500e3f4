import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import type { Server, Settings } from './server';
import { until } from './wait';
import type { Workbench } from './workbench';

const source = join(root, 'test', 'e2e', 'helper');

/** Puts the extension in `test/e2e/helper` beside those that are installed. */
export function installHelper(extensionsDir: string): void {
  const { publisher, name, version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Record<
    'publisher' | 'name' | 'version',
    string
  >;
  const relativeLocation = `${publisher}.${name}-${version}`;
  const path = join(extensionsDir, relativeLocation);
  cpSync(source, path, { recursive: true });
  const list = join(extensionsDir, 'extensions.json');
  const installed = JSON.parse(readFileSync(list, 'utf8')) as unknown[];
  const location = { $mid: 1, path, scheme: 'file' };
  const identifier = { id: `${publisher}.${name}` };
  writeFileSync(
    list,
    JSON.stringify([...installed, { identifier, version, location, relativeLocation, metadata: {} }]),
  );
}

/** Where the helper of a window says that it listens. */
const announcement = (server: Server, folder: string | undefined): string =>
  join(server.helpers, basename(folder ?? 'empty'));

/** To be called when a window is loaded: the helper that it had goes with the extension host. */
export function forgetHelper(server: Server, folder: string | undefined): void {
  rmSync(announcement(server, folder), { force: true });
}

/** What a helper does: settings of the user to change (null: taken back), commands with their arguments, and a profile, in this order. */
export interface Help {
  readonly settings?: Settings;
  readonly commands?: readonly (readonly [command: string, ...args: unknown[]])[];
  readonly profiler?: 'begin' | 'end';
}

/** Has the window's helper do this, and waits until it is done. @returns what it tells: at the end of a profile, that. */
export async function help({ server, folder }: Workbench, asked: Help): Promise<string> {
  const file = announcement(server, folder);
  const response = await until('the helper of the window', async () => {
    if (!existsSync(file)) return undefined;
    return fetch(`http://127.0.0.1:${readFileSync(file, 'utf8')}`, { method: 'POST', body: JSON.stringify(asked) });
  });
  const told = await response.text();
  if (!response.ok) throw new Error(`The helper could not do ${JSON.stringify(asked)}: ${told}`);
  return told;
}

const CLOSE = {
  editors: 'workbench.action.closeAllEditors',
  notifications: 'notifications.clearAll',
  panel: 'workbench.action.closePanel',
  sideBar: 'workbench.action.closeSidebar',
  terminals: 'workbench.action.terminal.killAll',
} as const;

/** Closes these parts of the window, all of each. */
export const closeParts = (bench: Workbench, ...parts: readonly (keyof typeof CLOSE)[]): Promise<unknown> =>
  help(bench, { commands: parts.map((part) => [CLOSE[part]]) });

/** The user's settings as they stand on disk; VS Code keeps those of the machine in a file of their own. */
export function settingsOnDisk({ data }: Server): Settings {
  const files = ['User', 'Machine'].map((folder) => join(data, folder, 'settings.json')).filter(existsSync);
  return Object.assign({}, ...files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Settings)) as Settings;
}

/** Makes the user's settings those with which the server was started, and these beside them; they count at once. */
export async function useSettings(bench: Workbench, more: Settings = {}): Promise<void> {
  const { server } = bench;
  const wanted: Settings = { ...server.settings, ...more };
  const now = settingsOnDisk(server);
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(now)])];
  const changes = names
    .filter((name) => JSON.stringify(wanted[name]) !== JSON.stringify(now[name]))
    .map((name) => [name, wanted[name] ?? null] as const);
  if (changes.length > 0) await help(bench, { settings: Object.fromEntries(changes) });
}
