/** Compares presets in the real page, over the real host side. */
import axe from 'axe-core';
import { beforeEach, expect, it } from 'vitest';
import { fake } from '../../../../test/support/vscode';
import { openPage, type TestPage } from '../../testing';
import { describeSettingPath, describeValue } from './differenceWords';

beforeEach(() => {
  fake.reset();
});

const pass = (id: string, name: string, maxLines: number) => ({
  id,
  name,
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 10 },
  individualConfig: { defaults: { toolResults: { operation: 'truncate', maxLines } } },
});
const preset = (id: string, passes: readonly object[]) => ({ id, name: id, config: { version: 1, passes } });

async function unfolded(name: string): Promise<TestPage> {
  const page = await openPage({ view: { open: ['smart'] } });
  await page.until(() => page.all('#presets .preset').length >= 8);
  await page.click(() => {
    const item = page.all('#presets .preset').find((each) => each.textContent.startsWith(name));
    return item!.querySelector<HTMLElement>('.disclosure')!;
  });
  await page.until(() => page.find('#presets vscode-dropdown', `Compare ${name} with`));
  return page;
}

const rows = (page: TestPage): string[] =>
  page.all('#presets table tr').map((row) => [...row.children].map((cell) => cell.textContent).join(' | '));

async function choose(page: TestPage, value: string): Promise<void> {
  const dropdown = page.find('#presets vscode-dropdown');
  Object.assign(dropdown, { value });
  dropdown.dispatchEvent(new Event('change', { bubbles: true }));
  await page.until(() => true);
}

it('the comparison of presets describes differences from the current settings and follows changes', async () => {
  fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a', 'Old results', 5)] };
  fake.settings['contextCondenser.presets'] = [preset('mine', [pass('a', 'Old results', 20)])];
  const page = await unfolded('mine');
  await page.until(() => rows(page).length > 0);
  expect(rows(page)).toEqual([' | mine | Current settings', 'Old results', 'Tool results › Lines | 20 | 5']);
  await page.host.ask('updateSetting', {
    name: 'smart',
    scope: 'user',
    path: ['passes', 0, 'individualConfig', 'defaults', 'toolResults', 'maxLines'],
    value: 20,
  });
  await page.until(() => page.find('#presets p', 'Both are the same.'));
});

it('the comparison of presets says if the current preset needs a model for summaries and none is chosen', async () => {
  fake.settings['contextCondenser.provider'] = 'smart';
  fake.settings['contextCondenser.smart'] = 'balanced';
  const page = await openPage({ view: { open: ['smart'] } });
  await page.until(() => page.find('#presets [aria-current="true"] [role="note"]', 'No model writes summaries yet'));
  expect(page.all('#presets [role="note"]')).toHaveLength(1);
});

it('the comparison of presets shows added, removed and moved passes, and counts equal ones', async () => {
  const [a, b, c] = [pass('a', 'A', 1), pass('b', 'B', 2), pass('c', 'C', 3)];
  fake.settings['contextCondenser.presets'] = [
    preset('mine', [a, b, c]),
    preset('other', [a, c, { ...pass('d', 'D', 9), mode: 'individual' }]),
  ];
  const page = await unfolded('mine');
  await choose(page, 'preset other');
  await page.until(() => rows(page)[0] === ' | mine | other');
  expect(rows(page).slice(1)).toEqual([
    'B',
    'Place | pass 2 | pass 3',
    'Name | B | D',
    'Tool results › Lines | 2 | 9',
    'C',
    'Place | pass 3 | pass 2',
  ]);
  expect(page.find('#presets p', '1 pass is the same in both.')).toBeTruthy();
  fake.settings['contextCondenser.presets'] = [preset('mine', [a, b, c]), preset('other', [a])];
  await page.host.ask('updateSetting', { name: 'threshold', scope: 'user', path: [], value: 81 });
  await page.until(() => rows(page).includes('Place | pass 2 | has no such pass'));
});

it('the comparison of presets can be continued on a conversation with both presets', async () => {
  const page = await unfolded('Speed');
  await choose(page, 'preset cost');
  await page.click(() => page.find('#presets vscode-button', 'Compare on a conversation'));
  await page.until(() => page.root.querySelector('#comparison .compared'));
  expect(page.kept()).toMatchObject({ compared: ['preset speed', 'preset cost'], open: ['smart', 'comparison'] });
  await page.until(() => document.activeElement?.closest('#two-configurations'));
});

it('the comparison of presets offers only presets other than the current one, accessibly', async () => {
  fake.settings['contextCondenser.smart'] = 'speed';
  const page = await unfolded('Speed');
  await page.until(() => rows(page).length > 3);
  expect(rows(page)[0]).toBe(' | Speed | Conservative');
  const { violations } = await axe.run(page.find('#presets'), { rules: { 'color-contrast': { enabled: false } } });
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
});

it.each([
  [['losslessPrelude', 'enabled'], 'Enabled'],
  [['individualConfig', 'defaults', 'toolResults', 'maxLines'], 'Tool results › Lines'],
  [['selection', 'count'], 'Selection › Newest messages left alone'],
])('the comparison of presets names the field %j “%s”', (path, words) => {
  expect(describeSettingPath(path)).toBe(words);
});

it.each<[unknown, string]>([
  [true, 'yes'],
  [false, 'no'],
  [1_000, '1,000'],
  ['', 'none'],
  ['preserve_recent', 'Preserve recent'],
  ['Sum up: be brief.', 'Sum up: be brief.'],
  [undefined, '–'],
  [[], 'none'],
  [['toolResults', 'x y'], 'Tool results, x y'],
  [null, 'null'],
])('the comparison of presets shows the value %j as “%s”', (value, words) => {
  expect(describeValue(value)).toBe(words);
});
