/** Tests whether the page says if a change in a provider's section has an effect yet. */
import { beforeEach, expect, it } from 'vitest';
import { fake, workspace } from '../../../test/support/vscode';
import { openPage } from '../testing';

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

it.each(['smart', 'strategy'])('the provider %s says that it is unused while another one is selected', async (id) => {
  const help = async (): Promise<string> => {
    const page = await openPage({ view: { open: [id] } });
    return page.find(`#${id} .row-help`).textContent;
  };
  expect(await help()).toContain('It is used once it is chosen as the provider under Start.');
  fake.settings['contextCondenser.provider'] = id;
  expect(await help()).not.toContain('once it is chosen');
});
