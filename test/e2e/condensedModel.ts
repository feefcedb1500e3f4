import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/vscode.mjs';
import { OWN_VSCODE_VENDOR } from '../../src/core/vendors/ownVendor';
import type { ModelServer } from '../servers/modelServer';
import { startRelay, type Relay } from '../servers/relay';
import type { Bed, SharedScenarios } from './bed';
import { runInHelper } from './workbench/helper';
import type { ServerOptions } from './workbench/server';
import {
  agentOptions,
  answerInput,
  openChat,
  pick,
  runCommand,
  screenshot,
  until,
  useSettings,
} from './workbench/index';
import type { Workbench, WorkbenchOptions } from './workbench/index';

export const PROFILE_ID = 'scripted';
export const PROFILE_NAME = 'Scripted';
export const KEY = 'sk-test-a-key-that-must-not-be-seen';

/** Creates a profile for a server with Anthropic's protocol, which is offered in the chat. */
export const chatProfile = (server: Pick<ModelServer, 'url'>, more: object = {}) => ({
  id: PROFILE_ID,
  name: PROFILE_NAME,
  vendor: 'anthropic',
  model: 'claude-sonnet-4-20250514',
  baseUrl: server.url,
  // The price table has no prices for custom endpoints.
  prices: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  offerInChat: true,
  ...more,
});

/**
 * Settings to write to the machine's file. In the user's file, VS Code would accept them too early
 * and drop them with the next change, possibly before the window is ready.
 */
const MACHINE_SETTINGS = [
  'contextCondenser.profiles',
  'contextCondenser.condensingProfile',
  'contextCondenser.agent.wrappedModels',
];

/** Options of a window whose agent uses our model with this profile. */
export function condensedOptions(profile: object, settings: object = {}): ServerOptions & WorkbenchOptions {
  const options = agentOptions(OWN_VSCODE_VENDOR, PROFILE_ID);
  const all = Object.entries({ ...options.settings, 'contextCondenser.profiles': [profile], ...settings });
  const isMachines = ([name]: readonly [string, unknown]): boolean => MACHINE_SETTINGS.includes(name);
  return {
    ...options,
    settings: Object.fromEntries(all.filter((one) => !isMachines(one))),
    machineSettings: Object.fromEntries(all.filter(isMachines)),
  };
}

/** Enters a profile's key as a user does. */
export async function setKey(bench: Workbench, name = PROFILE_NAME, key = KEY): Promise<void> {
  await runCommand(bench, 'Context Condenser: Manage Models');
  await pick(bench, name);
  await pick(bench, /Set Key…/);
  await answerInput(bench, key);
}

/** Opens a VS Code whose agent uses our model on the server. */
export async function openCondensedModel(
  bed: Bed,
  server: ModelServer,
  { folder, profile = {}, settings = {} }: { folder?: string; profile?: object; settings?: object } = {},
): Promise<Workbench> {
  const bench = await bed.open({
    ...condensedOptions(chatProfile(server, profile), settings),
    ...(folder !== undefined && { folder }),
  });
  await setKey(bench);
  return bench;
}

/** The relays of shared chat windows, each to the current scenario's server. */
const relays = new WeakMap<Workbench, Relay>();

/** Opens a shared window for chats with our model; each scenario has its own server. */
export const chatWindow: SharedScenarios['open'] = async (bed) => {
  const relay = await startRelay();
  bed.atEnd(() => relay.close());
  const { settings, models = [], ...options } = agentOptions(OWN_VSCODE_VENDOR, PROFILE_ID);
  const bench = await bed.open({
    ...options,
    // Another extension's model is offered only if a scenario requires it.
    models: [...models, { name: 'Probe', vendor: 'condenser-probe' }],
    developmentExtensions: [join(root, 'test', 'e2e', 'probe')],
    settings: { ...settings, 'probe.offersModel': false },
    machineSettings: { 'contextCondenser.profiles': [chatProfile(relay)] },
    home: bed.folder(),
    folder: bed.folder(),
  });
  relays.set(bench, relay);
  await setKey(bench);
  return bench;
};

/**
 * Starts a new chat on a server, in the shared window.
 * @param files files by path in the workspace, in addition to those of earlier scenarios.
 * @param profile fields of the profile, or a function that returns them for the server's address in
 *   the window.
 * @returns the workspace's folder.
 */
export async function newChat(
  bench: Workbench,
  server: ModelServer,
  {
    files = {},
    profile = {},
    settings = {},
  }: { files?: Readonly<Record<string, string>>; profile?: object; settings?: object } = {},
): Promise<string> {
  const relay = relays.get(bench);
  const { folder } = bench;
  assert.ok(relay && folder !== undefined);
  relay.leadTo(server.url);
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content);
  const fields = typeof profile === 'function' ? profile(relay.url) : profile;
  await useSettings(bench, { 'contextCondenser.profiles': [chatProfile(relay, fields)], ...settings });
  await runInHelper(bench, { commands: [['workbench.action.chat.newChat']] });
  await openChat(bench, PROFILE_NAME);
  return folder;
}

/**
 * Chooses a condensed model in the chat's picker.
 * @param name name of the model that is condensed.
 * @param shot name of a picture of the open picker.
 */
export async function pickCondensed(bench: Workbench, name: string, shot?: string): Promise<void> {
  const { page } = bench;
  const condensed = `${name} · condensed`;
  const row = page.locator('.action-widget .monaco-list-row', { hasText: condensed }).first();
  // The picker is opened again, because an open one doesn't add new models. Unused models appear
  // only in a search.
  await until('the wrapped model in the picker', async () => {
    await page.locator('.interactive-input-part .model-picker-name').first().click();
    await page.locator('.action-widget .monaco-list-row').first().waitFor();
    await page.keyboard.insertText('condensed');
    const isShown = await row.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    );
    if (!isShown) await page.keyboard.press('Escape');
    return isShown;
  });
  if (shot !== undefined) await screenshot(bench, shot);
  await row.click();
  await openChat(bench, condensed);
}
