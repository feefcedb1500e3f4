import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makePricesPlace } from '../../src/core/panelPlaces';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { fake, workspace } from '../../test/support/vscode';
import { openPage, type TestPage } from './testing';

const profile = { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4' };

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

const saved = (name: string): unknown => fake.settings[`contextCondenser.${name}`];
const row = (page: TestPage, id: string): HTMLElement => page.find(`[data-setting="${id}"]`);
const field = (page: TestPage, id: string): HTMLElement => {
  const found = row(page, id).querySelector<HTMLElement>('vscode-text-field, vscode-text-area, vscode-dropdown');
  if (!found) throw new Error(`no field for ${id}`);
  return found;
};
const chooseIn = (dropdown: HTMLElement, value: string): void => {
  (dropdown as HTMLSelectElement).value = value;
  dropdown.dispatchEvent(new Event('change', { bubbles: true }));
};
/** Returns the edited pass before it is applied, as JSON. */
const getDraft = (page: TestPage, key = 'user a'): string =>
  JSON.stringify((page.kept() as { drafts?: Record<string, { after: unknown }> }).drafts?.[key]?.after ?? '');
const press = (page: TestPage, button: string): Promise<void> =>
  page.click(() => page.find('.draft-bar vscode-button', new RegExp(`^\\s*${button}\\s*$`, 'm')));
const getProblems = (page: TestPage, id: string): string => row(page, id).querySelector('.problems')?.textContent ?? '';

it('at the end of the page, the outline marks the group with the focus only while that group is in view', async () => {
  const page = await openPage();
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const root = document.documentElement;
  vi.spyOn(root, 'scrollTop', 'get').mockReturnValue(2000);
  vi.spyOn(root, 'clientHeight', 'get').mockReturnValue(500);
  vi.spyOn(root, 'scrollHeight', 'get').mockReturnValue(2500);
  const groups = page.all('.page-group');
  // Puts the last two groups in view, and all others above.
  groups.forEach((group, index) => {
    const top = 200 * (index - groups.length) + 540;
    vi.spyOn(group, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, top, 500, 200));
  });
  const marked = (): string | undefined => page.find('.outline-entry[aria-current="true"]').textContent;
  const focus = (group: HTMLElement | undefined): void => group?.querySelector<HTMLElement>('button, input')?.focus();
  focus(groups[0]);
  await page.until(() => marked() === 'Results');
  focus(groups.at(-1));
  await page.until(() => marked() === 'Advanced');
});

it('the outline unfolds the sections of Advanced, and stays there while content arrives until the user scrolls', async () => {
  let onResize: (() => void) | undefined;
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(callback: () => void) {
        onResize = callback;
      }
      observe = vi.fn();
      disconnect = () => (onResize = undefined);
    },
  );
  const scroll = vi.spyOn(Element.prototype, 'scrollIntoView');
  onTestFinished(() => {
    vi.unstubAllGlobals();
    scroll.mockRestore();
  });
  const page = await openPage();
  await page.click(() => page.find('.outline-entry', 'Advanced'));
  const folded = '#group-advanced .section-toggle[aria-expanded="false"]';
  await page.until(() => onResize && page.all(folded).length === 0);
  scroll.mockClear();
  onResize?.();
  expect(scroll.mock.contexts.map((place) => (place as Element).id)).toEqual(['group-advanced']);
  window.dispatchEvent(new WheelEvent('wheel'));
  expect(onResize).toBeUndefined();
});

describe('the Start section', () => {
  it('shows a beginner four settings and no more', async () => {
    const page = await openPage();
    expect(page.all('[data-setting]').map(({ dataset }) => dataset['setting'])).toEqual([
      'provider',
      'automatic',
      'threshold',
      'maxCostPerCondensation',
    ]);
    expect(page.find('button', 'Help me choose').getAttribute('aria-expanded')).toBe('false');
  });

  it('selects a provider', async () => {
    const page = await openPage();
    await page.click(() => page.find('input[value="truncation"]'));
    await page.until(() => saved('provider') === 'truncation');
    await page.until(() => page.find('input[value="truncation"]').matches(':checked'));
  });

  it('follows settings.json', async () => {
    const page = await openPage();
    await workspace.getConfiguration('contextCondenser').update('maxCostPerCondensation', 0.25);
    await page.until(() => (field(page, 'maxCostPerCondensation') as HTMLInputElement).value === '0.25');
    await page.until(() => row(page, 'maxCostPerCondensation').classList.contains('row-set'));
    await page.click(() => page.find('button', 'Reset Max cost per condensation'));
    await page.until(() => saved('maxCostPerCondensation') === undefined);
  });

  it('validates while typing and does not save invalid values', async () => {
    const page = await openPage();
    await page.type(() => field(page, 'maxCostPerCondensation'), '-1', false);
    await page.until(() => getProblems(page, 'maxCostPerCondensation').includes('Must be at least'));
    await page.type(() => field(page, 'maxCostPerCondensation'), 'much');
    await page.until(() => getProblems(page, 'maxCostPerCondensation').includes('not a number'));
    expect(saved('maxCostPerCondensation')).toBeUndefined();
    await page.type(() => field(page, 'maxCostPerCondensation'), '2');
    await page.until(() => saved('maxCostPerCondensation') === 2);
    await page.until(() => getProblems(page, 'maxCostPerCondensation') === '');
  });

  it('recommends settings after four answers, and applies them', async () => {
    const page = await openPage();
    await page.click(() => page.find('button', 'Help me choose'));
    expect(page.root.textContent).toContain('Answer all four');
    for (const answer of ['Up to $0.05', 'Ten seconds or more', 'The gist is enough', 'Choose among presets']) {
      await page.click(() => page.find('.answer', answer));
    }
    expect(page.root.textContent).toContain('Cost limit: $0.05');
    await page.click(() => page.find('vscode-button', 'Apply'));
    await page.until(() => saved('maxCostPerCondensation') === 0.05);
    await page.until(() => page.root.textContent.includes('Applied.'));
    expect(saved('provider')).toBe('smart');
    // The other recommendation has not been applied.
    await page.click(() => page.all('.answer').find(({ textContent }) => textContent === 'Nothing') as HTMLElement);
    await page.until(() => !page.root.textContent.includes('Applied.'));
  });

  it('undoes an applied recommendation', async () => {
    const own = { version: 1, passes: [] };
    fake.settings['contextCondenser.smart'] = own;
    const page = await openPage();
    await page.click(() => page.find('button', 'Help me choose'));
    for (const answer of ['Up to $0.05', 'Ten seconds or more', 'The gist is enough', 'Choose among presets']) {
      await page.click(() => page.find('.answer', answer));
    }
    await page.click(() => page.find('vscode-button', 'Apply'));
    await page.until(() => typeof saved('smart') === 'string');
    await page.click(() => page.find('.advice button', 'Undo'));
    await page.until(() => saved('provider') === undefined);
    expect(saved('smart')).toEqual(own);
    expect(saved('maxCostPerCondensation')).toBeUndefined();
  });

  it('“Help me choose” offers nothing that can’t run: without a model no summary is applied', async () => {
    const page = await openPage();
    await page.click(() => page.find('button', 'Help me choose'));
    for (const answer of ['More, if it is worth it', 'Ten seconds or more', 'The gist is enough', 'Nothing']) {
      await page.click(() => page.all('.answer').findLast(({ textContent }) => textContent === answer) as HTMLElement);
    }
    await page.until(() => page.find('.advice [role="note"]', 'Add one under Models first'));
    expect(page.all('.advice vscode-button')).toEqual([]);
    await page.click(
      () => page.all('.answer').findLast(({ textContent }) => textContent === 'Every detail') as HTMLElement,
    );
    await page.until(() => page.find('.advice [role="note"]', 'are skipped until you add a model'));
    expect(page.all('.advice vscode-button')).toHaveLength(1);
    fake.settings['contextCondenser.profiles'] = [profile];
    await workspace.getConfiguration('contextCondenser').update('condensingProfile', 'work');
    await page.until(() => page.all('.advice [role="note"]').length === 0);
  });
});

describe('the scopes of settings in the panel', () => {
  it('let a workspace have its own values, except for user-only settings', async () => {
    workspace.workspaceFolders = [];
    workspace.name = 'demo';
    const page = await openPage({ view: { open: ['native'] } });
    await page.click(() => page.find('.scope', 'Workspace').querySelector('input') as HTMLElement);
    await page.until(() => (page.kept() as { scope: string }).scope === 'workspace');
    await page.click(() => page.find('button', 'More about when and how much'));
    await page.type(() => field(page, 'manual.targetPercent'), '30');
    await page.until(() => fake.workspaceSettings['contextCondenser.manual.targetPercent'] === 30);
    // Summary's settings decide what goes to which vendor, so a workspace can't change them.
    await page.type(() => field(page, 'native.keepLast'), '3');
    await page.type(() => field(page, 'native.keepLast'), '5');
    await page.until(() => JSON.stringify(saved('native')) === '{"keepLast":5}');
    await page.click(() => page.find('.scope', 'User').querySelector('input') as HTMLElement);
    await page.until(() => row(page, 'manual.targetPercent').textContent.includes('also set in the workspace'));
    expect((field(page, 'manual.targetPercent') as HTMLInputElement).value).toBe('50');
  });
});

/** Holds back all writes to the settings until the returned function is called. */
function holdSaving(): (count?: number) => void {
  const real = workspace.getConfiguration.bind(workspace);
  const waiting: (() => void)[] = [];
  let free = 0;
  const spy = vi.spyOn(workspace, 'getConfiguration').mockImplementation((section) => ({
    ...real(section),
    update: async (...change) => {
      if (free-- <= 0) await new Promise<void>((resolve) => waiting.push(resolve));
      await real(section).update(...change);
    },
  }));
  // If this test fails, later tests must not wait in vain.
  onTestFinished(() => {
    spy.mockRestore();
  });
  return (count = Infinity) => {
    free = count - waiting.length;
    for (const save of waiting.splice(0, count)) save();
  };
}

describe('the form of a provider', () => {
  it('keeps what is typed while the previous value is being saved', async () => {
    const page = await openPage({ view: { open: ['truncation'] } });
    const save = holdSaving();
    const lines = (): HTMLElement => field(page, 'truncation.toolResults.maxLines');
    await page.type(lines, '7');
    await page.type(lines, '70', false);
    save();
    await page.until(() => JSON.stringify(saved('truncation')) === '{"toolResults":{"maxLines":7}}');
    expect((lines() as HTMLInputElement).value).toBe('70');
    lines().dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
    await page.until(() => JSON.stringify(saved('truncation')) === '{"toolResults":{"maxLines":70}}');
  });

  it('changes and resets an option inside a provider’s setting', async () => {
    const page = await openPage({ view: { open: ['truncation'] } });
    await page.type(() => field(page, 'truncation.toolResults.maxLines'), '7');
    await page.until(() => JSON.stringify(saved('truncation')) === '{"toolResults":{"maxLines":7}}');
    await page.type(() => field(page, 'truncation.toolResults.maxLines'), '');
    await page.until(() => saved('truncation') === undefined);
  });

  it('names problems in settings.json at their fields', async () => {
    fake.settings['contextCondenser.truncation'] = { minimumTokens: 'few' };
    const page = await openPage({ view: { open: ['truncation'] } });
    expect(getProblems(page, 'truncation.minimumTokens')).toContain('Must be a number');
    await page.click(() => page.find('vscode-checkbox', 'Leave user messages unchanged'));
    await page.until(() => JSON.stringify(saved('truncation')).includes('"preserveUserMessages":false'));
    expect(saved('truncation')).toEqual({ minimumTokens: 'few', preserveUserMessages: false });
  });

  it('previews the actual prompt', async () => {
    const createPrompt = (_services: unknown, path: string, prompt: string) =>
      Promise.resolve({ text: `${prompt}\n${path}`, profile: 'Work' });
    const page = await openPage({ view: { open: ['native'] }, backend: { createPrompt } });
    await page.type(() => field(page, 'condensingPrompt'), 'Use {{facts}}', false);
    await page.until(() => getProblems(page, 'condensingPrompt').includes('{{facts}} is not known'));
    await page.type(() => field(page, 'condensingPrompt'), 'Be brief. {{conversation}}');
    await page.until(() => saved('condensingPrompt') === 'Be brief. {{conversation}}');
    await page.click(() => page.find('vscode-button', 'Preview the prompt'));
    await page.until(() =>
      page.all('pre').some(({ textContent }) => textContent.includes('sample/conversation.jsonl')),
    );
    expect(page.find('[role="note"]', 'Work has a prompt of its own').textContent).toContain('in place of this one');
  });
});

describe('the profiles section', () => {
  const openProfiles = (): Promise<TestPage> =>
    openPage({
      view: { open: ['profiles'] },
      backend: {
        loadModelWindowAndPrices: () => Promise.resolve({ contextWindow: 200_000, prices: { input: 3, output: 15 } }),
        testProfileConnection: () => Promise.resolve({ ok: false, message: 'The key is wrong.' }),
        askApiKey: () => Promise.resolve(true),
      },
    });

  it('says whether the selected profile is called', async () => {
    fake.settings['contextCondenser.profiles'] = [profile];
    fake.settings['contextCondenser.condensingProfile'] = 'work';
    const page = await openPage();
    await page.until(() => page.root.textContent.includes('Work is ready; Lossless calls no model'));
    await workspace.getConfiguration('contextCondenser').update('provider', 'native');
    await page.until(() => page.root.textContent.includes('Work writes summaries'));
  });

  it('shows the prices in effect in the empty fields of own prices', async () => {
    fake.settings['contextCondenser.profiles'] = [profile];
    const page = await openProfiles();
    await page.click(() => page.find('.item-name', 'Work'));
    await page.click(() => page.find('button', 'Prices, limits and the rest'));
    const placeholder = (kind: string): unknown =>
      page.find(`[data-setting="profiles.0.prices.${kind}"] vscode-text-field`).getAttribute('placeholder');
    await page.until(() => placeholder('input') === '3.00');
    expect(['output', 'cacheRead'].map(placeholder)).toEqual(['15.00', 'none']);
  });

  it('unfolds a model and focuses its input price when the extension leads there', async () => {
    fake.settings['contextCondenser.profiles'] = [{ ...profile, id: 'other' }, profile];
    const page = await openPage({ view: { open: [] } });
    // jsdom does not pass the focus on to the field inside.
    const focus = vi.spyOn(HTMLElement.prototype, 'focus');
    onTestFinished(() => {
      focus.mockRestore();
    });
    page.host.panel.revealPanel(makePricesPlace('work'));
    const price = await page.until(() => page.find('[data-setting="profiles.1.prices.input"] vscode-text-field'));
    await page.until(() => focus.mock.contexts.at(-1) === price);
  });

  it('shows what profiles cost and what they inherit', async () => {
    fake.settings['contextCondenser.profiles'] = [profile];
    const page = await openProfiles();
    await page.until(() => page.root.textContent.includes('key not set · $3.00 in, $15.00 out per million tokens'));
    await page.click(() => page.find('.item-name', 'Work'));
    expect(page.find('vscode-checkbox', 'Inherits 75%')).toBeTruthy();
    await page.click(() => page.find('vscode-checkbox', 'Inherits 75%'));
    await page.until(() => JSON.stringify(saved('profiles')).includes('"threshold":75'));
    const ownThreshold = (): string => row(page, 'profiles.0.threshold').textContent;
    await page.until(() => ownThreshold().includes('150,000 tokens of a window of 200,000'));
    await page.type(() => field(page, 'profiles.0.threshold'), '95');
    await page.until(() =>
      ownThreshold().includes(
        '171,808 tokens of a window of 200,000; a larger request may leave no room for the answer',
      ),
    );
    await workspace.getConfiguration('contextCondenser').update('thresholdTokens', 120_000);
    await page.until(() => ownThreshold().includes('120,000 tokens of a window of 200,000; the limit in tokens'));
    await page.click(() => page.find('vscode-button', 'Use for summaries'));
    await page.until(() => saved('condensingProfile') === 'work');
    await page.until(() => page.root.textContent.includes('for summaries'));
    await page.click(() => page.find('vscode-button', 'Test'));
    await page.until(() => page.root.textContent.includes('The key is wrong.'));
  });

  it('shows an unset choice without a default as “Not set”, and can set it to each of its values and to none', async () => {
    fake.settings['contextCondenser.profiles'] = [profile];
    const page = await openPage({ view: { open: ['profiles'] } });
    await page.click(() => page.find('.item-name', 'Work'));
    await page.click(() => page.find('button', 'Prices, limits and the rest'));
    const lifetime = () => field(page, 'profiles.0.cacheLifetime') as HTMLSelectElement;
    const chosen = (): unknown => (saved('profiles') as { cacheLifetime?: string }[])[0]?.cacheLifetime;
    expect(lifetime().value).toBe('');
    expect([...lifetime().querySelectorAll('vscode-option')].map(({ textContent }) => textContent)).toEqual([
      'Not set',
      'None',
      '5m',
      '1h',
    ]);
    for (const value of ['none', '1h', '']) {
      chooseIn(lifetime(), value);
      await page.until(() => chosen() === (value === '' ? undefined : value));
    }
  });

  it('shows an unset choice with its default, if it has one', async () => {
    const page = await openPage({ view: { open: ['truncation'] } });
    const keep = field(page, 'truncation.toolResults.keep') as HTMLSelectElement;
    expect(keep.value).toBe('tail');
    expect([...keep.querySelectorAll('vscode-option')].map(({ textContent }) => textContent)).not.toContain('Not set');
  });

  it('adopts what the vendor reports about a model', async () => {
    const old = { ...profile, contextWindow: 1_000, tokenFactor: 2, threshold: 60 };
    fake.settings['contextCondenser.profiles'] = [old];
    let asked = 0;
    let cancelled = 0;
    const longPrompts = { aboveTokens: 200_000, input: 8 };
    const models = [
      { id: 'claude-new', contextWindow: 1_000_000, seesImages: true, prices: { input: 4, output: 20, longPrompts } },
      { id: 'claude-small' },
    ];
    const page = await openPage({
      view: { open: ['profiles'] },
      backend: {
        listVendorModels: (_services: unknown, _profile: unknown, signal: AbortSignal) =>
          asked++ > 0
            ? Promise.resolve(models)
            : new Promise((_resolve, reject) => {
                signal.addEventListener('abort', () => {
                  cancelled++;
                  reject(new Error('cancelled'));
                });
              }),
      },
    });
    await page.click(() => page.find('.item-name', 'Work'));
    await page.click(() => page.find('button', 'Look up models'));
    await page.click(() => page.find('vscode-button', /^\s*Cancel\s*$/m));
    await page.until(() => cancelled === 1);
    expect(page.all('.problem')).toEqual([]);
    await page.click(() => page.find('button', 'Look up models'));
    await page.until(() => page.all('datalist option').length === 2);
    await page.type(() => page.find('input.combo', 'Model'), 'claude-new', false);
    await page.until(() =>
      page.root.textContent.includes('window 1,000,000 · $4.00 in, $20.00 out per million tokens'),
    );
    await page.type(() => page.find('input.combo', 'Model'), 'claude-new');
    await page.until(() => JSON.stringify(saved('profiles')).includes('claude-new'));
    expect(saved('profiles')).toEqual([
      {
        ...profile,
        threshold: 60,
        model: 'claude-new',
        contextWindow: 1_000_000,
        images: true,
        prices: { input: 4, output: 20, longPrompts },
      },
    ]);
  });

  it('adds profiles, of which the first one writes summaries', async () => {
    const page = await openProfiles();
    expect(page.find('#profiles .row-help').textContent).toContain('VS Code’s own models');
    await page.click(() => page.find('vscode-button', 'Add model'));
    await page.click(() => page.find('vscode-button', /^\s*Add\s*$/m));
    await page.until(() =>
      page.find('.row .problem', 'Enter a model.').closest('.row')?.textContent.startsWith('Model'),
    );
    expect(page.all('.problem')).toHaveLength(1);
    await page.type(() => page.find('input.combo', 'Model'), 'claude-haiku-4-5');
    await page.click(() => page.find('vscode-button', /^\s*Add\s*$/m));
    await page.until(() => saved('condensingProfile') === 'claude-haiku-4-5');
    expect(saved('profiles')).toEqual([
      { id: 'claude-haiku-4-5', name: 'claude-haiku-4-5', vendor: 'anthropic', model: 'claude-haiku-4-5' },
    ]);
  });

  it('shows broken profiles and removes them', async () => {
    fake.settings['contextCondenser.profiles'] = [{ id: 'x', name: 'Broken' }, profile];
    const page = await openProfiles();
    expect(page.root.textContent).toContain('not usable yet');
    await page.click(() => page.find('.item-name', 'Broken'));
    await page.click(() => page.find('.item', 'Broken').querySelector('.item-content > vscode-button') as HTMLElement);
    await page.until(() => JSON.stringify(saved('profiles')) === JSON.stringify([profile]));
  });
});

describe('the passes section', () => {
  const pass = (id: string): object => ({
    id,
    name: `Pass ${id}`,
    mode: 'individual',
    selection: { type: 'preserve_recent', count: 5 },
  });
  const ids = (): unknown[] =>
    (saved('smart') as { passes: { id: string }[] } | undefined)?.passes.map(({ id }) => id) ?? [];
  const openPasses = (): Promise<TestPage> => openPage({ view: { open: ['smart'] } });

  it('shows the passes before the presets, and offers to save one’s own right below them', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a')] };
    const page = await openPasses();
    const places = page.all('#smart .passes, #smart [placeholder="Name of the new preset"], #presets');
    expect(places.map(({ className, id, tagName }) => id || className || tagName)).toEqual([
      'passes',
      expect.anything(),
      'presets',
    ]);
  });

  it('says that the chosen preset does not exist, and what is used instead', async () => {
    fake.settings['contextCondenser.smart'] = 'speedy';
    const page = await openPasses();
    expect(page.find('#smart').textContent).toContain('There is no preset “speedy”; “File-Aware” takes its place.');
    expect(page.find('#smart').textContent).not.toContain('is in use');
    await page.click(() => page.find('#smart .section-toggle'));
    expect(page.find('#smart .section-summary').textContent).toContain('File-Aware');
  });

  it('shows the passes of a preset and copies them to the user’s own', async () => {
    const page = await openPasses();
    expect(page.all('ol.items > li').length).toBeGreaterThan(0);
    expect(page.find('#smart').textContent).toContain('The preset “File-Aware” is selected.');
    await page.click(() => page.find('#smart .section-toggle'));
    expect(page.find('#smart .section-summary').textContent).toContain('File-Aware');
    await page.click(() => page.find('#smart .section-toggle'));
    await page.click(() => page.find('vscode-button', 'Make it my own'));
    await page.until(() => ids().length > 0);
    await page.until(() => page.find('button', 'Move '));
    // The copy includes what File-Aware does with old blocks.
    expect(saved('smart')).toMatchObject({ thinking: { operation: 'suppress' }, images: { operation: 'suppress' } });
  });

  it('adds, duplicates, moves, disables and deletes passes, and undoes a deletion', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a'), pass('b'), pass('c')] };
    const page = await openPasses();
    await page.click(() => page.find('button', 'Move Pass a down'));
    await page.until(() => ids().join() === 'b,a,c');
    expect(page.root.textContent).toContain('“Pass a” is now at position 2 of 3.');
    const labels = page.all('.pass vscode-checkbox').map((box) => box.getAttribute('aria-label'));
    expect(labels).toEqual(['Run Pass b', 'Run Pass a', 'Run Pass c']);
    page.find('button', 'Delete Pass a').focus();
    await page.click(() => page.find('button', 'Delete Pass a'));
    await page.until(() => ids().join() === 'b,c');
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Move Pass c');
    await page.click(() => page.find('button', 'Undo'));
    await page.until(() => ids().join() === 'b,a,c');
    await page.click(() => page.find('button', 'Duplicate Pass c'));
    await page.until(() => ids().join() === 'b,a,c,pass-4');
    await page.click(() => page.find('vscode-button', 'Add pass'));
    await page.until(() => ids().join() === 'b,a,c,pass-4,pass-5');
    await page.until(() => page.root.textContent.includes('“Pass 5” was added at the end.'));
    await page.click(() => page.find('vscode-checkbox', 'Run Pass b'));
    await page.until(() => JSON.stringify(saved('smart')).includes('"enabled":false'));
    expect(page.find('button', 'Move Pass b up').getAttribute('aria-disabled')).toBe('true');
  });

  it('unfolds an added pass and focuses its name', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a')] };
    const page = await openPasses();
    // jsdom does not pass the focus on to the field inside.
    const focus = vi.spyOn(HTMLElement.prototype, 'focus');
    onTestFinished(() => {
      focus.mockRestore();
    });
    await page.click(() => page.find('vscode-button', 'Add pass'));
    const name = page.find('[data-setting="smart.passes.1.name"] vscode-text-field');
    expect(focus.mock.contexts.at(-1) === name).toBe(true);
  });

  it('offers no undo of the previous change while the next one is being saved, since it would undo both', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a'), pass('b'), pass('c')] };
    const page = await openPasses();
    await page.click(() => page.find('button', 'Move Pass a down'));
    await page.until(() => page.root.textContent.includes('“Pass a” is now at position 2 of 3.'));
    const save = holdSaving();
    await page.click(() => page.find('button', 'Delete Pass a'));
    expect(ids()).toEqual(['b', 'a', 'c']);
    expect(
      page
        .all('.done')
        .map(({ textContent }) => textContent)
        .join(''),
    ).toBe('');
    save();
    await page.until(() => page.root.textContent.includes('“Pass a” was deleted.'));
  });

  it('offers no undo of the previous change if its answer arrives after the next change began', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a'), pass('b'), pass('c')] };
    const page = await openPasses();
    const save = holdSaving();
    await page.click(() => page.find('button', 'Move Pass a down'));
    await page.click(() => page.find('button', 'Delete Pass a'));
    const told: string[] = [];
    new MutationObserver(() => told.push(...page.all('.done').map(({ textContent }) => textContent))).observe(
      page.root,
      { subtree: true, childList: true, characterData: true },
    );
    save(1);
    await page.until(
      () => JSON.stringify(saved('smart')).indexOf('"b"') < JSON.stringify(saved('smart')).indexOf('"a"'),
    );
    save();
    await page.until(() => page.root.textContent.includes('“Pass a” was deleted.'));
    expect(told.join()).not.toContain('is now at position');
  });

  it('edits passes field by field, as a draft that can be applied and undone', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a')] };
    const page = await openPasses();
    await page.click(() => page.find('.item-name', 'Pass a'));
    await page.type(() => field(page, 'smart.passes.0.name'), '');
    await page.until(() => getProblems(page, 'smart.passes.0.name') !== '');
    await page.until(() => page.root.textContent.includes('Fix the marked errors first.'));
    await page.type(() => field(page, 'smart.passes.0.name'), 'Old results');
    await page.until(() => getDraft(page).includes('Old results'));
    await page.until(() => !page.root.textContent.includes('Fix the marked errors first.'));
    await page.click(() => page.find('.answer', 'All at once'));
    await page.until(() => getDraft(page).includes('"mode":"batch"'));
    expect(saved('smart')).toEqual({ version: 1, passes: [pass('a')] });
    expect(page.find('.item-line', 'Pass a').textContent).toContain('draft');
    expect(page.root.textContent).toContain(
      'This is a draft. It takes effect once you apply it in your user settings.',
    );
    // A field that was not edited follows the settings, even if they change meanwhile.
    await page.click(() => page.find('vscode-checkbox', 'Run Pass a'));
    await page.until(() => JSON.stringify(saved('smart')).includes('"enabled":false'));
    await press(page, 'Apply');
    await page.until(() => JSON.stringify(saved('smart')).includes('"mode":"batch"'));
    expect(JSON.stringify(saved('smart'))).toContain('"enabled":false');
    await page.until(() => page.root.textContent.includes('“Pass a” was changed.'));
    await page.until(() => page.find('.pass', 'Old results').textContent.includes('with one summary by a model.'));
    expect(getDraft(page)).toBe('""');
    await page.click(() => page.find('button', 'Undo'));
    await page.until(() => JSON.stringify(saved('smart')).includes('"name":"Pass a","mode":"individual"'));
  });

  it('applies what was typed last, even if the click leaves the field', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a')] };
    const page = await openPasses();
    await page.click(() => page.find('.item-name', 'Pass a'));
    const name = (): HTMLElement => field(page, 'smart.passes.0.name');
    await page.type(name, 'Old results', false);
    name().dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
    page.find('.draft-bar vscode-button', 'Apply').click();
    await page.until(() => JSON.stringify(saved('smart')).includes('"name":"Old results"'));
  });

  it('discards edits of passes', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a')] };
    const page = await openPasses();
    await page.click(() => page.find('.item-name', 'Pass a'));
    await press(page, 'Apply');
    await page.until(() => page.root.textContent.includes('there is nothing to apply'));
    await page.type(() => field(page, 'smart.passes.0.name'), 'Old results');
    await page.until(() => getDraft(page).includes('Old results'));
    expect(page.root.textContent).not.toContain('there is nothing to apply');
    await page.type(() => field(page, 'smart.passes.0.description'), 'x'.repeat(2_001));
    await page.until(() => getProblems(page, 'smart.passes.0.description') !== '');
    await press(page, 'Discard');
    await page.until(() => getDraft(page) === '""');
    await page.until(() => (field(page, 'smart.passes.0.name') as HTMLInputElement).value === 'Pass a');
    expect(getProblems(page, 'smart.passes.0.description')).toBe('');
    expect(saved('smart')).toEqual({ version: 1, passes: [pass('a')] });
  });

  it('describes each pass on its line, also after edits are discarded', async () => {
    const defaults = { toolResults: { operation: 'truncate', maxLines: 9 }, messageText: { operation: 'keep' } };
    const passes = [{ ...pass('a'), individualConfig: { defaults } }];
    fake.settings['contextCondenser.smart'] = { version: 1, passes };
    const page = await openPasses();
    expect(page.find('.passes .pass-sentence').textContent).toBe(
      'Shortens tool results in all but the newest 5 messages.',
    );
    expect(page.all('.passes .item-line .tag, .passes .item-line .badge')).toEqual([]);
    await page.click(() => page.find('.item-name', 'Pass a'));
    await page.click(() => page.find('button', 'Keep Tool results'));
    await page.until(() => getDraft(page).includes('"toolResults":{"operation":"keep"}'));
  });

  it('says that passes call a model', async () => {
    const defaults = {
      toolResults: { operation: 'summarize' },
      toolParameters: { operation: 'truncate', maxLines: 9 },
    };
    fake.settings['contextCondenser.smart'] = {
      version: 1,
      passes: [{ ...pass('a'), individualConfig: { defaults } }],
    };
    const page = await openPasses();
    expect(page.find('.passes .pass-sentence').textContent).toBe(
      'Has a model summarize tool results and shortens tool parameters in all but the newest 5 messages.',
    );
  });

  it('opens one’s own passes as JSON in settings.json', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a')] };
    const page = await openPasses();
    await page.click(() => page.find('#smart button', 'Edit as JSON'));
    await page.until(() => fake.executed.some(([command]) => command === 'workbench.action.openSettingsJson'));
  });

  it('applies changes to the current list if settings.json changes meanwhile', async () => {
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('a'), pass('b'), pass('c')] };
    const page = await openPasses();
    // The page does not know of this change yet.
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('new'), pass('b'), pass('a'), pass('c')] };
    await page.click(() => page.find('vscode-checkbox', 'Run Pass b'));
    await page.until(() => JSON.stringify(saved('smart')).includes('"enabled":false'));
    expect(ids()).toEqual(['new', 'b', 'a', 'c']);
    expect((saved('smart') as { passes: { enabled?: boolean }[] }).passes.map(({ enabled }) => enabled)).toEqual([
      undefined,
      false,
      undefined,
      undefined,
    ]);
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('c'), pass('b'), pass('more')] };
    await page.click(() => page.find('button', 'Delete Pass c'));
    await page.until(() => ids().join() === 'b,more');
    await page.until(() => page.find('button', 'Undo'));
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass('more'), pass('b'), pass('last')] };
    await page.click(() => page.find('button', 'Undo'));
    await page.until(() => ids().join() === 'more,c,b,last');
  });
});

describe('presets in the panel', () => {
  const openPresets = (): Promise<TestPage> => openPage({ view: { open: ['smart'] } });
  const item = (page: TestPage, name: string): HTMLElement => page.find('.preset', name);
  const press = (page: TestPage, name: string, button: string): Promise<void> =>
    page.click(
      () =>
        [...item(page, name).querySelectorAll<HTMLElement>('vscode-button')].find(
          ({ textContent }) => textContent.trim() === button,
        ) as HTMLElement,
    );

  it('are in use only while Smart is the provider', async () => {
    fake.settings['contextCondenser.provider'] = 'lossless';
    const page = await openPresets();
    expect(item(page, 'File-Aware').textContent).toContain('selected');
    expect(page.find('#smart').textContent).not.toContain('in use');
    await press(page, 'File-Aware', 'Apply');
    await page.until(() => saved('provider') === 'smart');
    await page.until(() => page.find('#smart').textContent.includes('The preset “File-Aware” is in use.'));
    expect(item(page, 'File-Aware').textContent).not.toContain('selected');
  });

  it('can be applied, and that can be undone', async () => {
    fake.settings['contextCondenser.provider'] = 'lossless';
    const page = await openPresets();
    await press(page, 'Balanced', 'Apply');
    await page.until(() => saved('smart') === 'balanced' && saved('provider') === 'smart');
    await page.until(() => item(page, 'Balanced').textContent.includes('in use'));
    await page.click(() => page.find('button', 'Undo'));
    await page.until(() => saved('provider') === 'lossless');
    expect(saved('smart')).toBeUndefined();
  });

  describe('if applying one replaces the user’s own passes', () => {
    const own = {
      version: 1,
      passes: [{ id: 'pass-1', name: 'Mine', mode: 'individual', selection: { type: 'preserve_recent', count: 5 } }],
    };
    const isDraft = (page: TestPage): boolean =>
      page.all('.pass .badge').some(({ textContent }) => textContent === 'draft');
    /** Creates a draft of the pass, and then applies a preset in place of the passes. */
    async function openReplacedPasses(): Promise<TestPage> {
      fake.settings['contextCondenser.smart'] = own;
      const page = await openPage({ view: { open: ['smart'] } });
      await page.click(() => page.find('.item-name', 'Mine'));
      await page.type(() => field(page, 'smart.passes.0.name'), 'Mine, edited');
      await page.until(() => isDraft(page));
      await press(page, 'Balanced', 'Apply');
      await page.until(() => saved('smart') === 'balanced');
      return page;
    }

    it('say so, and undo restores passes and draft', async () => {
      const page = await openReplacedPasses();
      await page.until(() =>
        page.find('#presets .preset .done', 'is now in use, in place of your passes and their drafts.'),
      );
      await page.click(() => page.find('#presets .preset .done button', 'Undo'));
      await page.until(() => isDraft(page));
      expect(saved('smart')).toEqual(own);
      expect(getDraft(page, 'user pass-1')).toContain('Mine, edited');
    });

    it('keep what was typed last, even if the click leaves a field that is being validated', async () => {
      fake.settings['contextCondenser.smart'] = own;
      const page = await openPage({ view: { open: ['smart'] } });
      await page.click(() => page.find('.item-name', 'Mine'));
      const fields = ['description', 'name'].map((id) => (): HTMLElement => field(page, `smart.passes.0.${id}`));
      for (const one of fields) await page.type(one, 'Edited', false);
      // The second field is validated after the first.
      for (const one of fields) one().dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
      const apply = [...item(page, 'Balanced').querySelectorAll<HTMLElement>('vscode-button')].find(
        ({ textContent }) => textContent.trim() === 'Apply',
      );
      apply?.click();
      await page.until(() => saved('smart') === 'balanced');
      await page.click(() => page.find('#smart vscode-button', 'Back to my passes'));
      await page.until(() => isDraft(page));
      expect(getDraft(page, 'user pass-1')).toContain('"description":"Edited"');
      expect(getDraft(page, 'user pass-1')).toContain('"name":"Edited"');
    });

    it('can be undone after a second preset and a reload', async () => {
      const first = await openReplacedPasses();
      await press(first, 'Aggressive', 'Apply');
      await first.until(() => saved('smart') === 'aggressive');
      const page = await openPage({ view: first.kept() as object });
      expect(page.find('#smart').textContent).toContain('The preset “Aggressive” is in use.');
      await page.click(() => page.find('#smart vscode-button', 'Back to my passes'));
      await page.until(() => isDraft(page));
      expect(saved('smart')).toEqual(own);
    });

    it('can be undone after the user copied a preset’s passes, whose own undo leads back to them', async () => {
      const page = await openReplacedPasses();
      for (const begin of ['Make it my own', 'Start without passes']) {
        await page.click(() => page.find('#smart vscode-button', begin));
        await page.until(() => typeof saved('smart') === 'object');
        await page.until(() => page.find('#smart .done', 'These passes are yours now.'));
        await page.click(() => page.find('#smart .done button', 'Undo'));
        await page.until(() => saved('smart') === 'balanced');
        await page.until(() => page.find('#smart vscode-button', 'Back to my passes'));
      }
      await page.click(() => page.find('#smart vscode-button', 'Back to my passes'));
      await page.until(() => isDraft(page));
      expect(saved('smart')).toEqual(own);
      expect(getDraft(page, 'user pass-1')).toContain('Mine, edited');
    });

    it('do not apply a draft of copied passes to restored passes with the same IDs', async () => {
      const page = await openPage({ view: { open: ['smart'] } });
      await press(page, 'Balanced', 'Apply');
      await page.click(() => page.find('#smart vscode-button', 'Make it my own'));
      await page.until(() => page.find('#smart .done', 'These passes are yours now.'));
      const [{ id, name } = { id: '', name: '' }] = (saved('smart') as { passes: { id: string; name: string }[] })
        .passes;
      await page.click(() => page.find('.pass .item-name', name));
      await page.type(() => field(page, 'smart.passes.0.name'), 'Not theirs');
      await page.until(() => isDraft(page));
      expect(getDraft(page, `user ${id}`)).toContain('Not theirs');
      await page.click(() => page.find('#smart .done button', 'Undo'));
      await page.until(() => saved('smart') === 'balanced');
      await page.until(() => !JSON.stringify(page.kept()).includes('Not theirs'));
    });

    it('offer no way back to the previous passes after the copied passes were changed', async () => {
      const page = await openReplacedPasses();
      await page.click(() => page.find('#smart vscode-button', 'Make it my own'));
      await page.until(() => page.find('#smart .done', 'These passes are yours now.'));
      await page.click(() => page.find('#smart vscode-button', 'Add pass'));
      await page.until(() => !page.find('#smart').textContent.includes('These passes are yours now.'));
    });

    it('do not apply an old draft to new passes with the same IDs', async () => {
      const page = await openReplacedPasses();
      await page.click(() => page.find('#smart vscode-button', 'Start without passes'));
      await page.click(() => page.find('#smart vscode-button', 'Add pass'));
      await page.until(() => page.find('.pass .item-name', 'Pass 1'));
      expect(JSON.stringify(saved('smart'))).toContain('"id":"pass-1"');
      expect(isDraft(page)).toBe(false);
    });
  });

  it('can be saved from passes, renamed, applied and deleted', async () => {
    const config = {
      version: 1,
      passes: [{ id: 'a', name: 'A', mode: 'individual', selection: { type: 'preserve_recent', count: 5 } }],
    };
    fake.settings['contextCondenser.smart'] = config;
    const page = await openPresets();
    await page.type(() => page.find('vscode-text-field', 'Name of the new preset'), 'My way');
    await page.click(() => page.find('vscode-button', 'Save the passes as a preset'));
    await page.until(() => saved('presets') !== undefined);
    expect(saved('presets')).toEqual([{ id: 'my-way', name: 'My way', config }]);
    await page.until(() => item(page, 'My way'));
    await press(page, 'My way', 'Rename');
    await page.type(() => page.find('.preset vscode-text-field', 'Name'), 'Another way');
    await page.click(
      () => [...page.all('.preset vscode-button')].find(({ textContent }) => textContent === 'Save') as HTMLElement,
    );
    await page.until(() => JSON.stringify(saved('presets')).includes('Another way'));
    await page.until(() => item(page, 'Another way'));
    await press(page, 'Another way', 'Apply');
    await page.until(() => saved('smart') === 'my-way');
    await press(page, 'Another way', 'Delete');
    await page.until(() => saved('presets') === undefined);
  });

  it('can be exported and imported as files', async () => {
    const folder = temporaryFolder();
    fake.saveFile = join(folder, 'speed.condense.json');
    const page = await openPresets();
    await press(page, 'Speed', 'Export…');
    await page.until(() => page.root.textContent.includes('was exported'));
    const preset = JSON.parse(readFileSync(fake.saveFile, 'utf8')) as object;
    fake.openFile = join(folder, 'mine.condense.json');
    writeFileSync(fake.openFile, JSON.stringify({ ...preset, id: 'mine', name: 'Mine' }));
    await page.click(() => page.find('vscode-button', 'Import…'));
    await page.until(() => item(page, 'Mine'));
    writeFileSync(fake.openFile, JSON.stringify({ id: 'x', name: 'X', config: { passes: [{}] } }));
    await page.click(() => page.find('vscode-button', 'Import…'));
    await page.until(() => page.all('.problem').some(({ textContent }) => textContent.includes('config.passes.0')));
  });
});

describe('the search field', () => {
  const search = async (page: TestPage, text: string): Promise<void> => {
    const input = page.find('.search-input') as HTMLInputElement;
    // React's own property on the element hides the browser's.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, text);
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await page.until(() => page.find('.search-result').textContent !== '');
  };

  it('begins its results at the top of a page that was scrolled', async () => {
    const page = await openPage();
    document.documentElement.scrollTop = 900;
    await search(page, 'progress');
    expect(document.documentElement.scrollTop).toBe(0);
  });

  it('finds a setting by a word of its help in collapsed sections', async () => {
    const page = await openPage();
    await search(page, 'progress');
    expect(page.all('[data-setting]').map(({ dataset }) => dataset['setting'])).toContain('lossless.terminalNoise');
    expect(page.find('.search-result').textContent).toMatch(/\d+ found/);
    await search(page, 'xyzzy');
    await page.until(() => page.find('.search-result').textContent === 'Nothing found');
  });
});

describe('the panel’s state', () => {
  it('keeps which sections are expanded', async () => {
    const page = await openPage();
    await page.click(() => page.find('.section-toggle', 'History'));
    expect(page.kept()).toMatchObject({ open: ['history'] });
  });

  it('shows the section that a command names', async () => {
    const page = await openPage();
    page.host.panel.revealPanel('profiles');
    await page.until(
      () => page.find('.section-toggle', 'Models for summaries').getAttribute('aria-expanded') === 'true',
    );
  });
});

describe('a control in the panel', () => {
  const choose = async (page: TestPage, id: string, value: string): Promise<void> => {
    await page.until(() => field(page, id));
    chooseIn(field(page, id), value);
  };

  /** Adds a condition to the outermost tree that is shown. */
  const add = async (page: TestPage, condition: string, within = '.rules'): Promise<void> => {
    const line = (): Element | undefined =>
      [...page.find(within).children].findLast(({ className }) => className === 'control-line');
    chooseIn(await page.until(() => line()?.querySelector<HTMLElement>('vscode-dropdown')), condition);
    await page.click(() => line()?.querySelector('vscode-button') as HTMLElement);
  };

  it('can show a filter as a tree of groups with their conditions and problems', async () => {
    const filter = { contentTypes: ['toolResults'] };
    const passes = [{ id: 'a', name: 'Pass a', mode: 'individual', selection: { type: 'custom', filter } }];
    fake.settings['contextCondenser.smart'] = { version: 1, passes };
    const place = 'smart.passes.0.selection.filter';
    const page = await openPage({ view: { open: ['smart'] } });
    await page.click(() => page.find('.item-name', 'Pass a'));
    await add(page, 'or');
    await page.click(() => page.find('vscode-button', 'Add to One of'));
    await page.until(() => getDraft(page).includes('"or":[{},{}]'));
    expect(page.root.textContent).toContain('No condition is set here, so it applies to everything.');
    const alternative = '[data-rule="or"] .entry .entry .rules';
    await add(page, 'isError', alternative);
    // A new item has the focus.
    expect(document.activeElement === field(page, `${place}.or.0.isError`)).toBe(true);
    await page.click(() => page.find('button', 'Remove Failed calls'));
    await add(page, 'minTokens', alternative);
    await page.type(() => field(page, `${place}.or.0.minTokens`), '-5');
    await page.until(() => getProblems(page, `${place}.or.0.minTokens`).includes('Must be at least'));
    await page.type(() => field(page, `${place}.or.0.minTokens`), '2k');
    await page.until(() => getDraft(page).includes('"or":[{"minTokens":2000},{}]'));
    await add(page, 'not', alternative);
    await add(page, 'contains', `${alternative} [data-rule="not"] .rules`);
    await page.type(() => field(page, `${place}.or.0.not.contains`), 'error');
    await page.until(() => getDraft(page).includes('{"minTokens":2000,"not":{"contains":"error"}}'));
    await page.click(() => page.find('button', 'Remove One of, 2 of 2'));
    await page.until(() => getDraft(page).includes('"or":[{"minTokens":2000,"not":{"contains":"error"}}]'));
    await page.click(() => page.find('button', 'Remove One of, 1 of 1'));
    await page.until(() => getDraft(page).includes('"filter":{"contentTypes":["toolResults"]}'));
    // A filter without conditions would match everything.
    await page.click(() => page.find('button', 'Remove Content'));
    await page.until(() => page.find('.rule .problem', 'needs a filter'));
  });

  it('can set operations for single messages and rules for other agents’ tools', async () => {
    const passes = [{ id: 'a', name: 'Pass a', mode: 'individual', selection: { type: 'preserve_recent', count: 5 } }];
    fake.settings['contextCondenser.smart'] = { version: 1, passes };
    const page = await openPage({ view: { open: ['smart'] } });
    await page.click(() => page.find('.item-name', 'Pass a'));
    await page.click(() => page.find('.item-content .disclosure', 'Advanced'));
    await page.click(() => page.find('vscode-button', 'Add to Single messages'));
    const place = 'smart.passes.0.individualConfig.overrides.0';
    await page.type(() => field(page, `${place}.messageIndex`), '7');
    await choose(page, `${place}.operations.toolResults`, 'suppress');
    const overrides = (): string => getDraft(page).replace(/^.*"overrides":/, '');
    await page.until(() =>
      overrides().startsWith('[{"messageIndex":7,"operations":{"toolResults":{"operation":"suppress"}}}]'),
    );
    await choose(page, `${place}.operations.toolResults`, '');
    await page.until(() => overrides().startsWith('[{"messageIndex":7}]'));
    await page.click(() => page.find('.disclosure', 'What Lossless does first'));
    await page.type(() => page.find('vscode-text-field', 'New name in Tools'), 'PeekFile');
    await page.click(() => page.find('[data-setting="smart.losslessPrelude.operations.tools"] vscode-button', 'Add'));
    await page.type(() => field(page, 'smart.losslessPrelude.operations.tools.PeekFile.path'), 'where');
    await page.until(() => JSON.stringify(saved('smart')).includes('{"PeekFile":{"kind":"read","path":["where"]}}'));
  });

  it('can show a list of choices and the fields of the selected shape', async () => {
    fake.settings['contextCondenser.smart'] = {
      version: 1,
      passes: [{ id: 'a', name: 'Pass a', mode: 'individual', selection: { type: 'preserve_recent', count: 5 } }],
    };
    const page = await openPage({ view: { open: ['smart', 'lossless'] } });
    await choose(page, 'lossless.keep', 'first');
    await page.until(() => JSON.stringify(saved('lossless')) === '{"keep":"first"}');
    await page.click(() => page.find('.item-name', 'Pass a'));
    await choose(page, 'smart.passes.0.selection', 'custom');
    await page.until(() => getDraft(page).includes('"filter":{"contentTypes":["toolResults"]}'));
    await add(page, 'roles');
    await page.click(() => page.find('[data-setting="smart.passes.0.selection.filter.roles"] vscode-checkbox', 'User'));
    await page.until(() => getDraft(page).includes('"roles":["user"]'));
    await add(page, 'isError');
    await choose(page, 'smart.passes.0.selection.filter.isError', 'true');
    await page.until(() => getDraft(page).includes('"isError":true'));
    await add(page, 'tools');
    await page.type(() => field(page, 'smart.passes.0.selection.filter.tools'), 'Read\n mcp__* \n');
    await page.until(() => getDraft(page).includes('"tools":["Read","mcp__*"]'));
    await choose(page, 'smart.passes.0.execution', 'conditional');
    await page.until(() => getDraft(page).includes('"tokenThreshold":50000'));
    expect(JSON.stringify(saved('smart'))).not.toContain('filter');
    await press(page, 'Apply');
    await page.until(() => page.root.textContent.includes('“Pass a” was changed.'));
    await choose(page, 'smart.passes.0.individualConfig.defaults.toolResults', 'summarize');
    await page.until(() => getDraft(page).includes('"operation":"summarize"'));
    fake.settings['contextCondenser.profiles'] = [profile];
    await workspace.getConfiguration('contextCondenser').update('profiles', [profile]);
    await choose(page, 'smart.passes.0.individualConfig.defaults.toolResults.apiProfile', 'work');
    await page.until(() => getDraft(page).includes('"apiProfile":"work"'));
  });

  it('warns below a threshold of 50%, where agents are condensed all the time', async () => {
    const page = await openPage();
    expect(row(page, 'threshold').textContent).not.toContain('condensed very often');
    await workspace.getConfiguration('contextCondenser').update('threshold', 49);
    await page.until(() => row(page, 'threshold').textContent.includes('condensed very often'));
    await workspace.getConfiguration('contextCondenser').update('threshold', 50);
    await page.until(() => !row(page, 'threshold').textContent.includes('condensed very often'));
  });

  it('shows the dollar sign before every amount of money', async () => {
    fake.settings['contextCondenser.maxCostPerCondensation'] = 0.5;
    const page = await openPage();
    for (const disclosure of ['More limits']) await page.click(() => page.find('.disclosure', disclosure));
    const fields = page.all('.with-unit').filter((one) => one.textContent.includes('$'));
    expect(fields.length).toBeGreaterThan(4);
    for (const one of fields) expect(one.firstElementChild?.textContent).toBe('$');
    expect((field(page, 'maxCostPerCondensation') as HTMLInputElement).value).toBe('0.50');
  });

  it('explains “at most” only while a card says it', async () => {
    const page = await openPage();
    const words = (): string => page.find('.cards').textContent;
    await page.until(() => words().includes('50% when you condense by hand'));
    expect(words()).not.toMatch(/at most/i);
    await workspace.getConfiguration('contextCondenser').update('provider', 'smart');
    await workspace.getConfiguration('contextCondenser').update('smart', 'balanced');
    await page.until(() => /At most 43%.*“At most” was measured/s.test(words()));
  });

  it('can be a slider, whose value is saved on release', async () => {
    const page = await openPage();
    const slider = page.find('.slider') as HTMLInputElement;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(slider, '66');
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await page.until(() => row(page, 'threshold').textContent.includes('132,000 tokens of a window of 200,000'));
    expect(saved('threshold')).toBeUndefined();
    slider.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
    await page.until(() => saved('threshold') === 66);
    await workspace.getConfiguration('contextCondenser').update('threshold', 100);
    await page.until(() =>
      row(page, 'threshold').textContent.includes(
        '171,808 tokens of a window of 200,000; a larger request may leave no room for the answer',
      ),
    );
    await workspace.getConfiguration('contextCondenser').update('thresholdTokens', 120_000);
    await page.until(() =>
      row(page, 'threshold').textContent.includes('120,000 tokens of a window of 200,000; the limit in tokens'),
    );
  });

  it('can be a number as people write it, with its unit, and an ambiguous one is refused', async () => {
    const page = await openPage({ view: { open: ['chat'] } });
    const name = 'agent.declaredWindow';
    for (const [text, value] of [
      ['500,000', 500_000],
      ['2,000,000', 2_000_000],
      ['200k', 200_000],
    ] as const) {
      await page.type(() => field(page, name), text);
      await page.until(() => saved(name) === value);
    }
    await page.until(() => (field(page, name) as HTMLInputElement).value === '200,000');
    expect(row(page, name).querySelector('.with-unit')?.textContent).toContain('tokens');
    await page.type(() => field(page, name), '1,5');
    await page.until(() => getProblems(page, name).includes('not a number'));
    expect(saved(name)).toBe(200_000);
  });

  it('can be a batch pass’s prompt, whose lines are kept', async () => {
    const batch = { operation: 'summarize', customPrompt: '' };
    const pass = {
      id: 'b',
      name: 'B',
      mode: 'batch',
      selection: { type: 'preserve_recent', count: 4 },
      batchConfig: batch,
    };
    fake.settings['contextCondenser.smart'] = { version: 1, passes: [pass] };
    const page = await openPage({ view: { open: ['smart'] } });
    const place = 'smart.passes.0.batchConfig.customPrompt';
    await page.click(() => page.find('.passes .item-name', 'B'));
    await page.until(() => page.root.querySelector(`[data-setting="${place}"]`) !== null);
    await page.type(() => field(page, place), 'line one\nline two');
    await page.until(() => getDraft(page, 'user b').includes('line one\\nline two'));
    await press(page, 'Apply');
    await page.until(() => JSON.stringify(saved('smart')).includes('line one\\nline two'));
  });

  it('shows an error if VS Code can’t write its setting', async () => {
    const page = await openPage();
    fake.updateError = new Error('Unable to write into user settings.');
    await page.click(() => page.find('input[value="truncation"]'));
    await page.until(() => row(page, 'provider').textContent.includes('Unable to write into user settings.'));
  });

  it('can be the search field, which Ctrl+F focuses and Escape leaves', async () => {
    const page = await openPage();
    const input = page.find('.search-input') as HTMLInputElement;
    await page.until(() => {
      window.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true }));
      return document.activeElement === input;
    });
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    await page.click(() => page.find('.outline-entry', 'Results'));
    await page.until(() => page.find('.section-toggle', 'History').getAttribute('aria-expanded') === 'true');
  });

  it('can be a command of Start, which is run', async () => {
    const page = await openPage();
    await page.click(() => page.find('vscode-button', 'Try it on the sample'));
    await page.until(() => fake.executed.some(([command]) => command === 'contextCondenser.condenseSample'));
  });
});
