/**
 * If VS Code can't write its settings file, the control returns to the saved value, and the reason
 * is shown beside it.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { fake, workspace } from '../../test/support/vscode';
import { openPage, type TestPage } from './testing';

const WORDS = 'Unable to write into user settings. Please open the file to correct errors.';

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

const saved = (name: string): unknown => fake.settings[`contextCondenser.${name}`];
/** Acts as if settings.json had unsaved changes or a syntax error. */
const lock = (): void => {
  fake.updateError = new Error(WORDS);
};
const unlock = (): void => {
  fake.updateError = undefined;
};
/** Waits until the reason appears once inside this place. */
const waitForReason = (page: TestPage, place: string): Promise<boolean> =>
  page.until(() => page.find(place).textContent.split(WORDS).length === 2);
const isChecked = (element: HTMLElement): boolean => (element as HTMLInputElement).checked;

const pass = (id: string): object => ({
  id,
  name: `Pass ${id}`,
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 5 },
});

describe('a checkbox whose change is rejected', () => {
  it('in a pass is reset, and the pass says why, collapsed or expanded', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a')] };
    const page = await openPage({ view: { open: ['smart'] } });
    const box = (): HTMLElement => page.find('vscode-checkbox', 'Run Pass a');
    lock();
    await page.click(box);
    await waitForReason(page, '.pass');
    expect(isChecked(box())).toBe(true);
    await page.click(() => page.find('.item-name', 'Pass a'));
    await waitForReason(page, '.pass');
    unlock();
    await page.click(box);
    await page.until(() => JSON.stringify(saved('smart')).includes('"enabled":false'));
    await page.until(() => !page.root.textContent.includes(WORDS));
    expect(isChecked(box())).toBe(false);
  });

  it('in a setting is reset, and its row says why', async () => {
    const page = await openPage({ view: { open: ['truncation'] } });
    const row = '[data-setting="truncation.preserveUserMessages"]';
    const box = (): HTMLElement => page.find(`${row} vscode-checkbox`);
    const before = isChecked(box());
    lock();
    await page.click(box);
    await waitForReason(page, row);
    await page.until(() => isChecked(box()) === before);
  });
});

describe('a rejected reset', () => {
  it.each([
    ['a number', 'start', 'maxCostPerCondensation', 0.25],
    ['a choice', 'lossless', 'lossless.keep', { keep: 'first' }],
  ])('of %s says why it had no effect', async (_kind, section, id, value) => {
    const [name = ''] = id.split('.');
    fake.settings[`contextCondenser.${name}`] = value;
    const page = await openPage({ view: { open: [section] } });
    const row = `[data-setting="${id}"]`;
    const reset = (): HTMLElement => page.find(`${row} button`, 'Reset ');
    lock();
    await page.click(reset);
    await waitForReason(page, row);
    unlock();
    await page.click(reset);
    await page.until(() => saved(name) === undefined);
    await page.until(() => !page.root.textContent.includes(WORDS));
  });
});

describe('a rejected action on a profile', () => {
  const profile = { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4' };
  const backend = { askApiKey: () => Promise.resolve(true) };

  it.each([
    ['Use for summaries', ''],
    ['Stop using for summaries', 'work'],
  ])('says why “%s” had no effect', async (button, chosen) => {
    fake.settings['contextCondenser.profiles'] = [profile];
    fake.settings['contextCondenser.condensingProfile'] = chosen;
    const page = await openPage({ view: { open: ['profiles'] } });
    await page.click(() => page.find('.item-name', 'Work'));
    lock();
    await page.click(() => page.find('vscode-button', button));
    await waitForReason(page, '#profiles .item');
    expect(saved('condensingProfile')).toBe(chosen);
  });

  it('says why a broken profile could not be removed', async () => {
    fake.settings['contextCondenser.profiles'] = [{ id: 'x', name: 'Broken' }];
    const page = await openPage({ view: { open: ['profiles'] } });
    await page.click(() => page.find('.item-name', 'Broken'));
    lock();
    await page.click(() => page.find('.item-content > vscode-button', 'Remove'));
    await waitForReason(page, '#profiles .item');
  });

  it('says why a new profile could not be selected for summaries, and a retry adds no second one', async () => {
    const page = await openPage({ view: { open: ['profiles'] }, backend });
    await page.click(() => page.find('vscode-button', 'Add model'));
    await page.type(() => page.find('[aria-label="New model"] input.combo'), 'claude-haiku-4-5');
    const add = (): HTMLElement => page.find('[aria-label="New model"] vscode-button', /^\s*Add\s*$/m);
    // Locks the settings as soon as the profile exists.
    const locking = workspace.onDidChangeConfiguration(lock);
    await page.click(add);
    await page.until(() => page.find('[aria-label="New model"] .problem', WORDS));
    locking.dispose();
    unlock();
    await page.click(add);
    await page.until(() => saved('condensingProfile') === 'claude-haiku-4-5');
    expect(saved('profiles')).toHaveLength(1);
    await page.until(() => page.all('[aria-label="New model"]').length === 0);
  });
});

it('a rejected undo of a preset’s deletion says why', async () => {
  const preset = { id: 'a', name: 'Preset a', config: { version: 1, passes: [pass('a')] } };
  fake.settings['contextCondenser.presets'] = [preset];
  const page = await openPage({ view: { open: ['smart'] } });
  await page.click(() => page.find('.preset vscode-button', 'Delete'));
  await page.until(() => saved('presets') === undefined);
  lock();
  await page.click(() => page.find('#presets .done button', 'Undo'));
  await waitForReason(page, '#presets');
});

describe('a rejected action on the user’s own passes', () => {
  const own = { version: 1, passes: [pass('mine')] };
  const drafts = (page: TestPage): unknown => (page.kept() as { drafts?: unknown }).drafts;
  /** Opens a page where a preset replaces the user's own passes, one of which was being edited. */
  async function openReplacedPasses(): Promise<TestPage> {
    fake.settings['contextCondenser.smart'] = 'balanced';
    const draft = { before: pass('mine'), after: { ...pass('mine'), name: 'Edited' } };
    return openPage({ view: { open: ['smart'], ownPasses: { user: own }, drafts: { 'user mine': draft } } as object });
  }

  it.each(['Make it my own', 'Start without passes', 'Back to my passes'])(
    'says why “%s” had no effect, and keeps the draft',
    async (button) => {
      const page = await openReplacedPasses();
      const before = drafts(page);
      lock();
      await page.click(() => page.find('#smart vscode-button', button));
      await waitForReason(page, '#smart');
      expect(drafts(page)).toEqual(before);
      expect(saved('smart')).toBe('balanced');
    },
  );

  it('says why undo was rejected, and keeps the button', async () => {
    const page = await openReplacedPasses();
    const before = drafts(page);
    await page.click(() => page.find('#smart vscode-button', 'Make it my own'));
    const undo = (): HTMLElement => page.find('#smart .done button', 'Undo');
    await page.until(undo);
    lock();
    await page.click(undo);
    await waitForReason(page, '#smart');
    unlock();
    await page.click(undo);
    await page.until(() => saved('smart') === 'balanced');
    await page.until(() => page.find('#smart vscode-button', 'Back to my passes'));
    expect(drafts(page)).toEqual(before);
  });
});
