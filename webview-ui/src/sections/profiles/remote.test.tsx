import { beforeEach, expect, it } from 'vitest';
import { fake } from '../../../../test/support/vscode';
import { openPage } from '../../testing';

beforeEach(() => {
  fake.reset();
});

const note = 'stored on the remote machine';

it('a remote window says which settings are stored on the remote machine', async () => {
  fake.remoteName = 'ssh-remote';
  fake.settings['contextCondenser.profiles'] = [{ id: 'work', name: 'Work', vendor: 'anthropic', model: 'm' }];
  const page = await openPage({ view: { open: ['profiles', 'chat', 'smart'] } });
  await page.until(() => page.find('#profiles .row-help', 'runs on a remote machine'));
  await page.until(() => page.find('#profiles .item-name', 'Work'));
  await page.click(() => page.find('#profiles .item-name', 'Work'));
  await page.until(() => page.find('.row[data-setting="profiles.0.name"]'));
  const noted = page.all('.row').filter(({ textContent }) => textContent.includes(note));
  expect(noted.map(({ dataset }) => dataset['setting'])).toEqual(['agent.wrappedModels']);
});

it('a local window says nothing about a remote machine', async () => {
  const page = await openPage({ view: { open: ['profiles', 'chat', 'smart'] } });
  await page.until(() => page.find('#profiles vscode-button', 'Add'));
  expect(page.root.textContent).not.toContain('remote machine');
});
