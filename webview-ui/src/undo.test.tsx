/**
 * Undo takes back everything that one click changed, but only while the settings are what it
 * wrote. A rejected change changes nothing.
 */
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fake, workspace } from '../../test/support/vscode';
import { openPage, type TestPage } from './testing';

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

const saved = (name: string): unknown => fake.settings[`contextCondenser.${name}`];
const inWorkspace = (name: string): unknown => fake.workspaceSettings[`contextCondenser.${name}`];
const change = (name: string, value: unknown): Thenable<void> =>
  workspace.getConfiguration('contextCondenser').update(name, value);

const pass = (id: string): object => ({
  id,
  name: `Pass ${id}`,
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 5 },
});
const own = { version: 1, passes: [pass('mine')] };

const pressCtrlZ = (): boolean =>
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true }));

/** Makes VS Code unable to write this setting. */
function refuseWriting(name: string): void {
  const real = workspace.getConfiguration.bind(workspace);
  const spy = vi.spyOn(workspace, 'getConfiguration').mockImplementation((section) => ({
    ...real(section),
    update: (key, ...value) =>
      key === name
        ? Promise.reject(new Error('Unable to write into user settings.'))
        : real(section).update(key, ...value),
  }));
  onTestFinished(() => {
    spy.mockRestore();
  });
}

describe('undoing an applied preset', () => {
  const apply = (page: TestPage): Promise<void> =>
    page.click(
      () =>
        [...page.find('.preset', 'Balanced').querySelectorAll<HTMLElement>('vscode-button')].find(
          ({ textContent }) => textContent.trim() === 'Apply',
        ) as HTMLElement,
    );

  async function applied(): Promise<TestPage> {
    fake.settings['contextCondenser.smart'] = own;
    const page = await openPage({ view: { open: ['smart'] } });
    await apply(page);
    await page.until(() => page.find('#presets .preset .done', 'Undo'));
    return page;
  }

  it('is impossible after the user copied passes', async () => {
    const page = await applied();
    await page.click(() => page.find('#smart vscode-button', 'Make it my own'));
    await page.until(() => typeof saved('smart') === 'object');
    await page.until(() => page.all('#presets .done').every(({ textContent }) => textContent === ''));
    expect(saved('smart')).not.toEqual(own);
  });

  it('is impossible after another provider was selected', async () => {
    const page = await applied();
    await change('provider', 'lossless');
    await page.until(() => page.all('#presets .done').every(({ textContent }) => textContent === ''));
    await change('provider', 'smart');
    await page.until(() => page.find('#presets .preset .done', 'Undo'));
  });

  it('happens automatically if its provider could not be saved', async () => {
    fake.settings['contextCondenser.smart'] = own;
    const page = await openPage({ view: { open: ['smart'] } });
    refuseWriting('provider');
    await apply(page);
    await page.until(() => page.find('.preset', 'Balanced').textContent.includes('Unable to write'));
    expect(saved('smart')).toEqual(own);
    expect(page.all('#presets .done button')).toEqual([]);
  });

  it('can be retried if it was rejected, and says why', async () => {
    const page = await applied();
    fake.updateError = new Error('Unable to write into user settings.');
    await page.click(() => page.find('#presets .done button', 'Undo'));
    await page.until(() => page.find('.preset', 'Balanced').textContent.includes('Unable to write'));
    fake.updateError = undefined;
    await page.click(() => page.find('#presets .done button', 'Undo'));
    await page.until(() => saved('provider') === undefined);
    expect(saved('smart')).toEqual(own);
    await page.until(() => !page.root.textContent.includes('Unable to write'));
  });
});

describe('a recommendation from “Help me choose”', () => {
  const button = (page: TestPage): HTMLElement => page.find('.advice vscode-button', 'Apply');
  const isApplied = (page: TestPage): boolean => page.find('.advice').textContent.includes('Applied.');

  async function advised(view: { scope?: 'workspace' } = {}): Promise<TestPage> {
    const page = await openPage({ view });
    await page.click(() => page.find('button', 'Help me choose'));
    for (const answer of ['Up to $0.05', 'Ten seconds or more', 'The gist is enough', 'Choose among presets']) {
      await page.click(() => page.find('.answer', answer));
    }
    return page;
  }

  it('is applied once despite repeated clicks, so that one undo restores the earlier settings', async () => {
    fake.settings['contextCondenser.smart'] = own;
    const page = await advised();
    for (let clicks = 0; clicks < 3; clicks++) {
      button(page).click();
      await page.until(() => true);
    }
    await page.until(() => isApplied(page));
    button(page).click();
    await page.until(() => true);
    expect(button(page).getAttribute('aria-disabled')).toBe('true');
    await page.click(() => page.find('.advice button', 'Undo'));
    await page.until(() => JSON.stringify(saved('smart')) === JSON.stringify(own));
    await page.until(() => !isApplied(page));
    expect(saved('provider')).toBeUndefined();
    expect(saved('maxCostPerCondensation')).toBeUndefined();
  });

  it('is undone by Ctrl+Z', async () => {
    const page = await advised();
    await page.click(() => button(page));
    await page.until(() => isApplied(page));
    await page.until(() => pressCtrlZ() && saved('provider') === undefined);
  });

  it('can’t be undone but can be applied again after another setting changed', async () => {
    const page = await advised();
    await page.click(() => button(page));
    await page.until(() => isApplied(page));
    await change('maxCostPerCondensation', 3);
    await page.until(() => !isApplied(page));
    await page.click(() => button(page));
    await page.until(() => saved('maxCostPerCondensation') === 0.05);
    await page.click(() => page.find('.advice button', 'Undo'));
    await page.until(() => saved('maxCostPerCondensation') === 3);
  });

  it('changes nothing in a workspace that may not raise the limit, and says so', async () => {
    workspace.workspaceFolders = [];
    workspace.name = 'demo';
    fake.settings['contextCondenser.maxCostPerCondensation'] = 0.01;
    fake.workspaceSettings['contextCondenser.smart'] = own;
    const page = await advised({ scope: 'workspace' });
    await page.click(() => button(page));
    await page.until(() => page.find('.advice .problem', 'A workspace can only be more careful'));
    expect(inWorkspace('smart')).toEqual(own);
    expect(inWorkspace('provider')).toBeUndefined();
    expect(isApplied(page)).toBe(false);
  });

  it('restores what it had saved if its other settings can’t be written', async () => {
    fake.settings['contextCondenser.smart'] = own;
    fake.settings['contextCondenser.maxCostPerCondensation'] = 0.2;
    const page = await advised();
    refuseWriting('provider');
    await page.click(() => button(page));
    await page.until(() => page.find('.advice .problem', 'Unable to write'));
    expect(saved('smart')).toEqual(own);
    expect(saved('maxCostPerCondensation')).toBe(0.2);
    expect(isApplied(page)).toBe(false);
    await page.until(() => button(page).getAttribute('aria-disabled') === 'false');
  });
});

describe('undoing a change of a pass', () => {
  async function changed(): Promise<TestPage> {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a'), pass('b')] };
    const page = await openPage({ view: { open: ['smart'] } });
    await page.click(() => page.find('.item-name', 'Pass a'));
    await page.type(() => page.find('[data-setting="smart.passes.0.name"] vscode-text-field'), 'Old results');
    await page.until(() => page.find('.pass .badge', 'draft'));
    await page.click(() => page.find('.draft-bar vscode-button', 'Apply'));
    await page.until(() => page.find('#smart .done', '“Pass a” was changed.'));
    return page;
  }
  const isOffered = (page: TestPage): boolean => page.find('#smart .passes').textContent.includes('was changed.');

  it('is impossible after the pass was disabled, since undoing would enable it again', async () => {
    const page = await changed();
    await page.click(() => page.find('vscode-checkbox', 'Run Old results'));
    await page.until(() => !isOffered(page));
    expect(JSON.stringify(saved('smart'))).toContain('"enabled":false');
  });

  it('keeps another pass disabled that was disabled meanwhile', async () => {
    const page = await changed();
    await page.click(() => page.find('vscode-checkbox', 'Run Pass b'));
    await page.until(() => JSON.stringify(saved('smart')).includes('"enabled":false'));
    await page.click(() => page.find('#smart .done button', 'Undo'));
    await page.until(() => JSON.stringify(saved('smart')).includes('"name":"Pass a"'));
    expect(saved('smart')).toEqual({ version: 1, passes: [pass('a'), { ...pass('b'), enabled: false }] });
  });

  it('says why it was rejected', async () => {
    const page = await changed();
    fake.updateError = new Error('Unable to write into user settings.');
    await page.click(() => page.find('#smart .done button', 'Undo'));
    await page.until(() => page.find('#smart .problem', 'Unable to write'));
  });
});

describe('a recommendation from the history', () => {
  const run = { provider: 'native', outcome: 'condensed', fallback: false, trigger: 'window', timeMs: 1_500 };
  const tokens = { tokensBefore: 1_000, tokensAfter: 250, cost: 0.3, calls: [{ profile: 'Work', cost: 0.3 }] };
  const runs = Array.from({ length: 5 }, () => ({ at: '2026-11-20T02:00:00.000Z', ...run, ...tokens }));

  /** @param asked number of requests for the history that are answered; later requests never are */
  async function openFollowedRecommendation(asked = Infinity): Promise<TestPage> {
    fake.settings['contextCondenser.threshold'] = 75;
    let left = asked;
    const readHistory = () =>
      left-- > 0 ? Promise.resolve({ entries: [], runs }) : new Promise<never>(() => undefined);
    const backend = { readHistory };
    const page = await openPage({ view: { open: ['history'] }, backend });
    await page.click(() => page.find('#history .advice vscode-button', 'Apply'));
    await page.until(() => page.find('#history .advice .done', 'Undo'));
    return page;
  }

  it('is applied once despite repeated clicks, so that one undo restores the earlier settings', async () => {
    const page = await openFollowedRecommendation(1);
    page.find('#history .advice vscode-button', 'Apply').click();
    await page.until(() => true);
    await page.click(() => page.find('#history .advice .done button', 'Undo'));
    await page.until(() => saved('threshold') === 75);
  });

  it('is undone by Ctrl+Z', async () => {
    const page = await openFollowedRecommendation();
    await page.until(() => pressCtrlZ() && saved('threshold') === 75);
  });

  it('can’t be undone after other settings were changed later', async () => {
    const page = await openFollowedRecommendation();
    await change('threshold', 50);
    await page.until(() => !page.find('#history').textContent.includes('Applied.'));
    expect(saved('threshold')).toBe(50);
  });

  it('says why its undo was rejected, and can be retried', async () => {
    const page = await openFollowedRecommendation();
    fake.updateError = new Error('Unable to write into user settings.');
    await page.click(() => page.find('#history .done button', 'Undo'));
    await page.until(() => page.find('#history .problem', 'Unable to write'));
    fake.updateError = undefined;
    await page.click(() => page.find('#history .done button', 'Undo'));
    await page.until(() => saved('threshold') === 75);
  });
});
