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
