import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/vscode.mjs';
import { OWN_VSCODE_VENDOR } from '../../src/settings/ownVendor';
import type { ModelServer } from '../servers/modelServer';
import { startRelay, type Relay } from '../servers/relay';
import type { Bed, SharedScenarios } from './bed';
import { help } from './workbench/helper';
import type { ServerOptions } from './workbench/server';
import { agentOptions, answer, openChat, pick, runCommand, screenshot, until, useSettings } from './workbench/index';
import type { Workbench, WorkbenchOptions } from './workbench/index';

export const PROFILE_ID = 'scripted';
export const PROFILE_NAME = 'Scripted';
export const KEY = 'sk-test-a-key-that-must-not-be-seen';

/** A profile for a server with Anthropic's protocol, offered in the chat. */
export const chatProfile = (server: Pick<ModelServer, 'url'>, more: object = {}) => ({
  id: PROFILE_ID,
  name: PROFILE_NAME,
  vendor: 'anthropic',
  model: 'claude-sonnet-4-20250514',
  baseUrl: server.url,
  // Custom endpoints have no price in the table.
  prices: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  offerInChat: true,
  ...more,
});

/**
 * Machine settings: in the user's file VS Code accepts them too early and drops them with the next
 * change, possibly before the window is ready.
 */
const OF_THE_MACHINE = [
  'contextCondenser.profiles',
  'contextCondenser.condensingProfile',
  'contextCondenser.agent.wrappedModels',
];

/** Options of a window whose agent uses our model with this profile. */
export function condensedOptions(profile: object, settings: object = {}): ServerOptions & WorkbenchOptions {
  const options = agentOptions(OWN_VSCODE_VENDOR, PROFILE_ID);
  const all = Object.entries({ ...options.settings, 'contextCondenser.profiles': [profile], ...settings });
  const isMachines = ([name]: readonly [string, unknown]): boolean => OF_THE_MACHINE.includes(name);
  return {
    ...options,
    settings: Object.fromEntries(all.filter((one) => !isMachines(one))),
    machineSettings: Object.fromEntries(all.filter(isMachines)),
  };
}

/** Enters a profile's key like a user. */
export async function setKey(bench: Workbench, name = PROFILE_NAME, key = KEY): Promise<void> {
  await runCommand(bench, 'Context Condenser: Manage API Profiles');
  await pick(bench, name);
  await pick(bench, /Set Key…/);
  await answer(bench, key);
}

/** A VS Code whose agent uses our model on the server. */
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

/** The shared chat window, and the address that leads to the current scenario's server. */
const relays = new WeakMap<Workbench, Relay>();

/** A chat with our model in the shared window; each scenario has its own server. */
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
 * A new conversation of the chat on a server, in the shared window.
 * @param files by their paths in the workspace, beside those of the scenarios before.
 * @param profile its fields, or what gives them for the address by which the window reaches the server.
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
  await help(bench, { commands: [['workbench.action.chat.newChat']] });
  await openChat(bench, PROFILE_NAME);
  return folder;
}

/**
 * Chooses a model, condensed, in the chat's picker.
 * @param name the model's own.
 * @param shot a picture of the open picker.
 */
export async function pickCondensed(bench: Workbench, name: string, shot?: string): Promise<void> {
  const { page } = bench;
  const condensed = `${name} · condensed`;
  const row = page.locator('.action-widget .monaco-list-row', { hasText: condensed }).first();
  // An open picker doesn't add new models; unused ones appear only when searched.
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
