/** Users add a model in three steps: vendor, key, model. */
import { beforeEach, expect, it, vi } from 'vitest';
import { fake, secretStorage, workspace } from '../../../../test/support/vscode';
import type { ApiProfile } from '../../../../src/settings/profiles';
import { readApiKey, storeApiKey } from '../../../../src/settings/keys';
import { openPage, type TestPage } from '../../testing';

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

const saved = (): unknown => fake.settings['contextCondenser.profiles'];
const FORM = '[aria-label="New model"]';

/**
 * Opens the form for a user who enters a key whenever asked, and for a vendor with these models.
 */
async function openForm(models: readonly object[] = []) {
  const askKey = vi.fn(async (_services: unknown, profile: ApiProfile) => {
    await storeApiKey(secretStorage, profile, 'sk-test');
    return true;
  });
  const listVendorModels = vi.fn((_services: unknown, _profile: ApiProfile) => Promise.resolve(models));
  const testProfileConnection = vi.fn(() => Promise.resolve({ ok: true, message: 'It responded.' }));
  const page = await openPage({
    view: { open: ['profiles'] },
    backend: { askApiKey: askKey, listVendorModels, testProfileConnection },
  });
  await page.click(() => page.find('vscode-button', 'Add model'));
  return { page, askKey, listVendorModels };
}

const choose = (page: TestPage, label: string, value: string): void => {
  const dropdown = page.find(`${FORM} vscode-dropdown`, label);
  Object.assign(dropdown, { value });
  dropdown.dispatchEvent(new Event('change', { bubbles: true }));
};
const valueOf = (page: TestPage, label: string): unknown =>
  (page.find(`${FORM} vscode-text-field`, label) as HTMLInputElement).value;
const press = (page: TestPage, label: RegExp | string): Promise<void> =>
  page.click(() => page.find(`${FORM} vscode-button`, label));

it.each([
  ['Ollama', 'http://127.0.0.1:11434/v1'],
  ['LM Studio', 'http://127.0.0.1:1234/v1'],
  ['vLLM', 'http://127.0.0.1:8000/v1'],
])('a new profile for %s needs a model from its list and no key', async (name, baseUrl) => {
  const { page, askKey, listVendorModels } = await openForm([{ id: 'qwen3', contextWindow: 32_768 }]);
  choose(page, 'Vendor', name);
  await page.until(() => valueOf(page, 'Base URL') === baseUrl);
  // The models are listed without a click.
  await page.until(() => page.all(`${FORM} datalist option`).length === 1);
  await page.type(() => page.find(`${FORM} input.combo`), 'qwen3');
  await page.until(() => page.find(`${FORM} [role="status"]`, 'window 32,768'));
  await press(page, /^\s*Test\s*$/m);
  await page.until(() => page.find(`${FORM} .good`, 'It responded.'));
  expect(saved()).toBeUndefined();
  await press(page, /^\s*Add\s*$/m);
  await page.until(() => saved() !== undefined);
  expect(saved()).toEqual([
    { id: 'qwen3', name: 'qwen3', vendor: 'openai', model: 'qwen3', baseUrl, contextWindow: 32_768 },
  ]);
  await page.until(() => fake.settings['contextCondenser.condensingProfile'] === 'qwen3');
  expect(askKey).not.toHaveBeenCalled();
  expect(listVendorModels.mock.calls[0]?.[1]).toMatchObject({ baseUrl });
});

it('a new profile reports a local server that is not running, and asks again at another address', async () => {
  const { page, listVendorModels } = await openForm();
  listVendorModels.mockRejectedValueOnce(new Error('Nothing listens there.'));
  choose(page, 'Vendor', 'Ollama');
  await page.until(() => page.find(`${FORM} .problem`, 'Nothing listens there.'));
  await page.click(() => page.find(`${FORM} button`, 'Look up models'));
  await page.until(() => page.all(`${FORM} .problem`).length === 0);
  await page.type(() => page.find(`${FORM} vscode-text-field`, 'Base URL'), 'http://127.0.0.1:9/v1');
  await page.until(() => listVendorModels.mock.calls.at(-1)?.[1].baseUrl === 'http://127.0.0.1:9/v1');
});

it('adding a model mentions OLLAMA_CONTEXT_LENGTH for Ollama, and for no other vendor', async () => {
  const { page } = await openForm();
  choose(page, 'Vendor', 'Ollama');
  await page.until(() => page.find(FORM).textContent.includes('OLLAMA_CONTEXT_LENGTH'));
  choose(page, 'Vendor', 'LM Studio');
  await page.until(() => !page.find(FORM).textContent.includes('OLLAMA_CONTEXT_LENGTH'));
});

it('adding a model of Ollama asks for the context window, at which Ollama cuts prompts without an error', async () => {
  const { page } = await openForm([{ id: 'qwen3', contextWindow: 32_768 }]);
  choose(page, 'Vendor', 'Ollama');
  await page.type(() => page.find(`${FORM} vscode-text-field`, 'Context window'), 'small');
  await page.type(() => page.find(`${FORM} input.combo`), 'qwen3');
  await press(page, /^\s*Add\s*$/m);
  await page.until(() => page.find(`${FORM} .problem`, 'This is not a number.'));
  await page.type(() => page.find(`${FORM} vscode-text-field`, 'Context window'), '4k');
  await press(page, /^\s*Add\s*$/m);
  await page.until(() => saved() !== undefined);
  expect(saved()).toMatchObject([{ model: 'qwen3', contextWindow: 4_000 }]);
});

it('a new profile asks the vendor for its models once the key is entered', async () => {
  const { page, askKey } = await openForm([{ id: 'claude-x' }]);
  await press(page, 'Set key…');
  await page.until(() => page.find(`${FORM} .good`, 'The key is set.'));
  await page.until(() => page.all(`${FORM} datalist option`).length === 1);
  await page.type(() => page.find(`${FORM} input.combo`), 'claude-x');
  await press(page, /^\s*Add\s*$/m);
  await page.until(() => Array.isArray(saved()));
  const [profile] = saved() as ApiProfile[];
  expect(profile).toMatchObject({ vendor: 'anthropic', model: 'claude-x', name: 'claude-x' });
  // The key is stored under the profile's current ID.
  expect(await readApiKey(secretStorage, profile as ApiProfile)).toEqual({ kind: 'set', key: 'sk-test' });
  expect(askKey).toHaveBeenCalledTimes(1);
});

it.each([
  [
    'Cancel',
    (page: TestPage) => page.click(() => page.all(`${FORM} > .actions > vscode-button`).at(-1) as HTMLElement),
  ],
  [
    'another vendor',
    (page: TestPage) => {
      choose(page, 'Vendor', 'OpenAI');
      return Promise.resolve();
    },
  ],
])("a new profile's key is removed after choosing %s", async (_name, leave) => {
  const { page, askKey } = await openForm();
  await press(page, 'Set key…');
  await page.until(() => page.find(`${FORM} .good`, 'The key is set.'));
  const profile = askKey.mock.calls[0]?.[1] as ApiProfile;
  await leave(page);
  for (let kind = ''; kind !== 'missing';) {
    await page.until(() => true);
    ({ kind } = await readApiKey(secretStorage, profile));
  }
  expect(saved()).toBeUndefined();
});

it('a new profile without a key asks for it before it looks up models', async () => {
  const { page, askKey, listVendorModels } = await openForm([{ id: 'claude-sonnet-4' }]);
  await page.click(() => page.find(`${FORM} button`, 'Look up models'));
  await page.until(() => page.all(`${FORM} datalist option`).length === 1);
  expect([askKey, listVendorModels].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
});

it('a new profile can’t use the key of an existing one', async () => {
  const profile = { id: 'work', name: 'Work', vendor: 'anthropic', model: 'm' } as ApiProfile;
  fake.settings['contextCondenser.profiles'] = [profile];
  await storeApiKey(secretStorage, profile, 'sk-own');
  const { page, listVendorModels } = await openForm();
  const evil = { ...profile, baseUrl: 'https://elsewhere.example' };
  for (const method of ['listModels', 'testProfile', 'setKey'] as const) {
    expect(await page.host.ask(method, { profile: evil })).toMatchObject({ type: 'failed' });
  }
  await page.host.ask('forgetKey', { id: 'work' });
  expect(await readApiKey(secretStorage, profile)).toMatchObject({ kind: 'set' });
  expect(listVendorModels).not.toHaveBeenCalled();
});
