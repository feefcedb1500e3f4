/**
 * What a person made in the panel and did not apply must return after its tab was closed and
 * opened.
 */
import { beforeEach, expect, it } from 'vitest';
import { fake, workspace } from '../../../test/support/vscode';
import { openPage } from '../testing';

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

it('a half-filled form of a new model is still filled in a new tab, without an address that may contain a key', async () => {
  const FORM = '[aria-label="New model"]';
  const page = await openPage({ view: { open: ['profiles'] } });
  await page.click(() => page.find('vscode-button', 'Add model'));
  const dropdown = page.find(`${FORM} vscode-dropdown`, 'Vendor');
  Object.assign(dropdown, { value: 'Ollama' });
  dropdown.dispatchEvent(new Event('change', { bubbles: true }));
  await page.type(() => page.find(`${FORM} vscode-text-field`, 'Base URL'), 'http://127.0.0.1:9/v1?key=sk-test');
  await page.type(() => page.find(`${FORM} input.combo`), 'qwen3');
  await page.until(() => JSON.stringify(page.kept()).includes('qwen3'));
  expect(JSON.stringify(page.kept())).not.toContain('sk-test');
  const { workspaceState } = page.host;

  const again = await openPage({ view: 'none', workspaceState });
  await again.click(() => again.find('.section-toggle', 'Models for summaries'));
  expect(again.find(`${FORM} input.combo`)).toHaveProperty('value', 'qwen3');
  expect(again.find(`${FORM} vscode-dropdown`, 'Vendor')).toHaveProperty('value', 'Ollama');
  await again.click(() => again.find(`${FORM} vscode-button`, 'Cancel'));
  await again.until(() => !JSON.stringify(again.kept()).includes('qwen3'));
});

it('a pass that was edited but not applied is still an unapplied draft in a new tab', async () => {
  const pass = { id: 'a', name: 'Pass a', mode: 'individual', selection: { type: 'preserve_recent', count: 5 } };
  fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass] };
  const page = await openPage({ view: { open: ['smart'] } });
  await page.click(() => page.find('.item-name', 'Pass a'));
  await page.type(() => page.find('.item-content vscode-text-field', 'Name'), 'Another name');
  await page.until(() => page.find('.pass .badge', 'draft'));
  const { workspaceState } = page.host;

  const again = await openPage({ view: 'none', workspaceState });
  await again.until(() => again.find('#smart .section-summary', '1 draft'));
  await again.click(() => again.find('.section-toggle', 'Smart'));
  await again.until(() => again.find('.pass .badge', 'draft'));
  await again.click(() => again.find('.item-name', 'Pass a'));
  const name = await again.until(() => again.find('.item-content vscode-text-field', 'Name'));
  expect(name).toHaveProperty('value', 'Another name');
  expect(fake.settings['contextCondenser.smart']).toHaveProperty('passes.0.name', 'Pass a');
});
