/** The models that a vendor lists: chosen among, told in words, and taken over into the profile. */
import { beforeEach, expect, it } from 'vitest';
import { fake, workspace } from '../../../../test/support/vscode';
import { openPage, type Page } from '../../testing';

const profile = { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4' };

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
  fake.settings['contextCondenser.profiles'] = [{ ...profile, contextWindow: 1_000, threshold: 60 }];
});

const saved = (): unknown => fake.settings['contextCondenser.profiles'];
const GROUP = '[aria-label="Models of the vendor"]';
const dropdown = (page: Page): HTMLSelectElement => page.find(`${GROUP} vscode-dropdown`) as HTMLSelectElement;

async function lookedUp(models: () => Promise<unknown>): Promise<Page> {
  const page = await openPage({ view: { open: ['profiles'] }, backend: { listVendorModels: models } });
  await page.click(() => page.find('.item-name', 'Work'));
  await page.click(() => page.find('vscode-button', 'Look up models'));
  return page;
}

const choose = (page: Page, id: string): void => {
  dropdown(page).value = id;
  dropdown(page).dispatchEvent(new Event('change', { bubbles: true }));
};

it('the list of models reports a vendor that does not answer, and can be retried', async () => {
  let round = 0;
  const page = await lookedUp(() =>
    round++ === 0 ? Promise.reject(new Error('The key is wrong.')) : Promise.resolve([{ id: 'claude-sonnet-4' }]),
  );
  await page.until(() => page.all('.problem').some(({ textContent }) => textContent.includes('The key is wrong.')));
  await page.click(() => page.find('vscode-button', 'Look up models'));
  await page.until(() => page.find(GROUP));
  expect(page.all('.problem')).toEqual([]);
});

it('the list of models shows only what the vendor reports', async () => {
  const prices = { input: 4, output: 20, longPrompts: { aboveTokens: 200_000, input: 8 } };
  const page = await lookedUp(() =>
    Promise.resolve([
      { id: 'big', contextWindow: 1_000_000, maxOutputTokens: 64_000, seesImages: true, prices },
      { id: 'blind', seesImages: false },
      { id: 'claude-sonnet-4' },
    ]),
  );
  // The profile's own is chosen to begin with.
  await page.until(() => page.find(GROUP, 'The vendor provides only its name.'));
  choose(page, 'big');
  await page.until(() =>
    page.find(
      GROUP,
      'window 1,000,000 · answers up to 64,000 tokens · $4.00 in, $20.00 out per million tokens · more expensive above 200,000 tokens · accepts images',
    ),
  );
  choose(page, 'blind');
  await page.until(() => page.find(GROUP, 'does not accept images'));
  expect(page.root.querySelector(GROUP)?.textContent).not.toContain('window 1,000,000');
});

it('the list of models keeps entered values for the same model, and changes nothing if canceled', async () => {
  const page = await lookedUp(() => Promise.resolve([{ id: 'claude-sonnet-4', maxOutputTokens: 64_000 }]));
  await page.until(() => page.find(GROUP));
  await page.click(() => page.find(`${GROUP} vscode-button`, 'Cancel'));
  await page.until(() => page.root.querySelector(GROUP) === null);
  expect(saved()).toEqual([{ ...profile, contextWindow: 1_000, threshold: 60 }]);
  await page.click(() => page.find('vscode-button', 'Look up models'));
  await page.click(() => page.find(`${GROUP} vscode-button`, 'Use this model'));
  await page.until(() => JSON.stringify(saved()).includes('maxOutputTokens'));
  expect(saved()).toEqual([{ ...profile, contextWindow: 1_000, threshold: 60, maxOutputTokens: 64_000 }]);
});

it('the list of hundreds of models shows the first ones and filters by name', async () => {
  const models = Array.from({ length: 120 }, (_, index) => ({ id: `vendor/model-${index}` }));
  const page = await lookedUp(() => Promise.resolve(models));
  await page.until(() => page.find(GROUP, '120 models; the first 50 are shown. Type part of the name.'));
  const options = (): HTMLElement[] => [...dropdown(page).querySelectorAll<HTMLElement>('vscode-option')];
  const offered = (): number => options().filter(({ textContent }) => textContent.includes('vendor/')).length;
  expect(offered()).toBe(50);
  await page.type(() => page.find(`${GROUP} vscode-text-field`), 'MODEL-119', false);
  await page.until(() => offered() === 1);
  expect(page.find(GROUP).textContent).toContain('one model');
});
