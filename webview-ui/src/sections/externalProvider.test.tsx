/** A provider of another extension must be shown, configured and chosen like one of ours. */
import { beforeEach, expect, it } from 'vitest';
import { fake, workspace } from '../../../test/support/vscode';
import { createExternalProvider } from '../../../src/extensionApi/externalProvider';
import { parseProvider } from '../../../src/extensionApi/parse';
import { cutter } from '../../../src/extensionApi/testing';
import { openPage, type TestPage } from '../testing';

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

const provider = createExternalProvider(parseProvider(cutter));
const saved = (name: string): unknown => fake.settings[`contextCondenser.${name}`];
const field = (page: TestPage): HTMLInputElement =>
  page.find('[data-setting="providers.sample.cutter.minimum"] vscode-text-field') as HTMLInputElement;

it('another extension’s provider has a form made from its schema, and invalid values are not saved', async () => {
  const page = await openPage({ providers: [provider], view: { open: ['sample.cutter', 'more'] } });
  await page.until(() => field(page).value === '100');
  await page.type(() => field(page), '-5');
  const problem = await page.until(() => page.find('[data-setting="providers.sample.cutter.minimum"] .problem'));
  expect(problem.textContent).toContain('Must be at least');
  expect(saved('providers')).toBeUndefined();
  await page.type(() => field(page), '250');
  await page.until(() => JSON.stringify(saved('providers')) === '{"sample.cutter":{"minimum":250}}');
  await page.click(() => page.find('button', 'Reset Minimum'));
  await page.until(() => saved('providers') === undefined);
  expect(page.all('#more [data-setting="providers"]')).toEqual([]);
});

it('another extension’s provider appears and disappears while the panel is open', async () => {
  const page = await openPage({ view: { open: ['sample.cutter'] } });
  const remove = page.host.registered.addProvider(provider);
  await page.until(() => field(page));
  await page.click(() => page.find('input[value="sample.cutter"]'));
  await page.until(() => saved('provider') === 'sample.cutter');
  remove();
  await page.until(() => page.all('#sample\\.cutter').length === 0);
  await page.until(() => page.find('.cards .problem', 'There is no provider "sample.cutter"'));
});
