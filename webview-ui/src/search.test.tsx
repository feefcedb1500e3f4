/**
 * The panel's search must find everything that the page can show or do, and nothing for nonsense.
 */
import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { fake, workspace } from '../../test/support/vscode';
import { AGENT_LIST } from '../../src/core/agents';
import { SEARCHABLE_ELEMENTS_SELECTOR } from './state/search';
import { openPage, type TestPage } from './testing';

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

const SECTIONS = [
  'profiles',
  'chat',
  'smart',
  'preview',
  'comparison',
  'history',
  'account',
  'arrival',
  'stored',
  'more',
];

async function search(page: TestPage, text: string): Promise<void> {
  const typeText = async (typed: string): Promise<void> => {
    const input = page.find('.search-input') as HTMLInputElement;
    // React's own property on the element hides the browser's.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, typed);
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await page.until(() => (typed === '') === (page.find('.search-result').textContent === ''));
  };
  // Clears the search first, because the results of an earlier search would be taken for the new
  // ones.
  await typeText('');
  if (text !== '') await typeText(text);
}

/** Returns the sections in which a search found something. */
const listFoundSections = (page: TestPage): string[] =>
  page
    .all('main .section')
    .flatMap((section) => (section.querySelector(SEARCHABLE_ELEMENTS_SELECTOR) ? [section.id] : []));

/** Returns the place that the page shows first, by its order in CSS. */
function findFirstPlace(page: TestPage): HTMLElement | undefined {
  const listOrders = (element: HTMLElement | null): number[] =>
    element === null || element.tagName === 'MAIN'
      ? []
      : [...listOrders(element.parentElement), Number(element.style.order)];
  const places = page.all(`main :is(${SEARCHABLE_ELEMENTS_SELECTOR})`).map((place) => ({
    place,
    orders: listOrders(place),
  }));
  const [first] = places.toSorted((a, b) => {
    const level = a.orders.findIndex((order, index) => order !== b.orders[index]);
    return level < 0 ? 0 : (a.orders[level] ?? 0) - (b.orders[level] ?? 0);
  });
  return first?.place;
}

const pass = (id: string, name: string) => ({
  id,
  name,
  selection: { type: 'preserve_recent', count: 5 },
  mode: 'individual',
  individualConfig: { defaults: { toolResults: { operation: 'truncate', maxLines: 20 } } },
  execution: { type: 'always' },
});

/** Sets up a user with own passes, own presets and a profile. */
function setUpEverything(): void {
  Object.assign(fake.settings, {
    'contextCondenser.provider': 'smart',
    'contextCondenser.smart': { version: 1, passes: [pass('a', 'Shorten logs'), pass('b', 'Old zone')] },
    'contextCondenser.presets': [{ id: 'mine', name: 'Night shift', config: { version: 1, passes: [] } }],
    'contextCondenser.profiles': [{ id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4' }],
    'contextCondenser.condensingProfile': 'work',
  });
}

const SETUPS = { nothing: () => undefined, everything: setUpEverything };

describe.each(Object.entries(SETUPS))('a search with %s configured', (_name, setUp) => {
  beforeEach(setUp);

  it.each([
    ['preset', 'smart'],
    ['presets', 'smart'],
    ['balanced', 'smart'],
    ['file-aware', 'smart'],
    ['import', 'smart'],
    ['export', 'smart'],
    ['import preset', 'smart'],
    ['share', 'smart'],
    ['api key', 'profiles'],
    ['key', 'profiles'],
    ['add model', 'profiles'],
    ['openai', 'profiles'],
    ['preview', 'preview'],
    ['estimate', 'preview'],
    ['condense now', 'preview'],
    ['diff', 'preview'],
    ['pins', 'preview'],
    ['undo', 'history'],
    ['csv', 'history'],
    ['savings', 'history'],
    ['clear history', 'history'],
    ['session costs', 'account'],
    ['money', 'account'],
    ['help me choose', 'start'],
    ['sample', 'start'],
    ['provider', 'start'],
    ['threshold', 'start'],
    ['cost limit', 'start'],
    ['passes', 'smart'],
    ['strategy', 'strategy'],
    ['prompt', 'native'],
    // People type these if they don't know our names for things.
    ['budget', 'start'],
    ['cost', 'start'],
    ['openrouter', 'profiles'],
    ['ollama', 'profiles'],
    ['lm studio', 'profiles'],
    ['azure', 'profiles'],
    ['when', 'start'],
    ['automatic', 'start'],
    ['target', 'start'],
    ['dedupe', 'lossless'],
    ['terminal', 'lossless'],
    ['terminal', 'arrival'],
    ['images', 'smart'],
    ['notify', 'more'],
    ['limit', 'start'],
    ['language', 'native'],
    ['copilot', 'chat'],
    ...AGENT_LIST.map(({ name }): [string, string] => [name.toLowerCase(), 'start']),
    ['backup', 'history'],
    ['mcp', 'arrival'],
    ['compare', 'comparison'],
    ['history', 'history'],
    ['bill', 'account'],
    ['per day', 'start'],
    ['max cost per condensation', 'start'],
    ['idle', 'stored'],
    ['context window', 'stored'],
    ['json', 'smart'],
    ['gateway', 'start'],
    ['proxy', 'start'],
    ['token limit', 'start'],
    ['timeout', 'start'],
    ['privacy', 'native'],
    ['enable', 'start'],
    ['disable', 'start'],
    ['turn off', 'start'],
    ['on/off', 'start'],
    ['pause', 'start'],
    ['auto compact', 'start'],
    ['auto-compact', 'start'],
    ['ignore', 'truncation'],
    ['ignore', 'preview'],
    ['log', 'more'],
    ['retry', 'lossless'],
    ['redo', 'history'],
  ])('for "%s" leads to %s', async (words, section) => {
    const page = await openPage();
    await search(page, words);
    expect(listFoundSections(page)).toContain(section);
  });

  it.each([
    ['claude', 'answers.agents'],
    ['codex', 'answers.agents'],
    ['copilot', 'chat'],
    ['undo', 'answers.undo'],
    ['restore', 'answers.undo'],
    ['revert', 'answers.undo'],
    ['backup', 'answers.undo'],
    ['delete', 'history'],
    ['diff', 'history'],
    ['export', 'history'],
    ['summary', 'profiles'],
    ['summaries', 'profiles'],
    ['model', 'profiles'],
    ['api', 'profiles.keys'],
    ['cost', 'maxCostPerCondensation'],
    ['price', 'profiles'],
    ['percent', 'threshold'],
    ['when', 'threshold'],
    ['how much', 'threshold'],
    ['preview', 'preview'],
  ])('for "%s" shows %s first', async (words, first) => {
    const page = await openPage();
    await search(page, words);
    const { setting, place } = findFirstPlace(page)?.dataset ?? {};
    expect(setting ?? place).toBe(first);
    await search(page, '');
    expect(page.all('main [style]').filter(({ style }) => style.order !== '')).toEqual([]);
  });

  it('says of a setting that it is only related to the words', async () => {
    const page = await openPage();
    await search(page, 'claude');
    expect(page.find('[data-setting="automatic"] .row-note').textContent).toBe('related to “claude”');
    await search(page, 'automatic');
    expect(page.all('[data-setting="automatic"] .row-note')).toEqual([]);
  });

  it('for "undo" finds the section of the history, and not the setting of that name', async () => {
    const page = await openPage();
    await search(page, 'undo');
    expect(page.all('[data-place="history"]')).toHaveLength(1);
    expect(page.all('[data-setting="history"]')).toEqual([]);
  });

  it('for "claude" offers to open an agent condensed', async () => {
    const page = await openPage();
    await search(page, 'claude');
    await page.click(() => page.find('[data-place="answers.agents"] vscode-button', 'Open an agent, condensed…'));
    await page.until(() => fake.executed.some(([command]) => command === 'contextCondenser.openAgent'));
  });

  it.each([
    ['ollama', ['Add model: Ollama']],
    ['lm studio', ['Add model: LM Studio']],
    ['azure', ['Add model: Azure']],
    ['vllm', ['Add model: vLLM']],
    ['anthropic', ['Add model: Anthropic']],
    ['openai', ['Add model: OpenAI', 'Add model: Another server that speaks OpenAI’s protocol']],
    ['add model', ['Add model']],
  ])('for "%s" leads to adding a model, with the vendor selected', async (words, buttons) => {
    const page = await openPage();
    await search(page, words);
    expect(page.all('[data-place="profiles.add"] vscode-button').map(({ textContent }) => textContent)).toEqual(
      buttons,
    );
    await page.click(() => page.find('[data-place="profiles.add"] vscode-button'));
    await page.until(() => page.find('[aria-label="New model"] vscode-dropdown', 'Vendor'));
    expect(page.find('.search-result').textContent).toBe('');
    const [, vendor = 'Anthropic'] = buttons[0]?.split(': ') ?? [];
    expect(page.find('[aria-label="New model"] vscode-dropdown', 'Vendor')).toHaveProperty('value', vendor);
  });

  it.each(['key', 'api key', 'secret'])('for "%s" shows where a key is set', async (words) => {
    const page = await openPage();
    await search(page, words);
    const place = page.find('[data-place="profiles.keys"]');
    expect(place.textContent).toContain('Each model has its own key');
    expect(place.querySelector('vscode-button')).not.toBeNull();
  });

  it.each(['xyzzyq', 'qqq', 'preset xyzzyq', '§§', 'zzz key'])('for the nonsense "%s" finds nothing', async (words) => {
    const page = await openPage();
    await search(page, words);
    expect(page.find('.search-result').textContent).toBe('Nothing found');
    expect(page.all(SEARCHABLE_ELEMENTS_SELECTOR)).toEqual([]);
    expect(page.find('.nothing-found').textContent).toContain(`No settings found for “${words}”`);
    await page.click(() => page.find('.nothing-found vscode-button', 'Clear search'));
    await page.until(() => page.all('.nothing-found').length === 0);
    expect(page.find('.search-input')).toHaveProperty('value', '');
    expect(document.activeElement).toBe(page.find('.search-input'));
  });
});

describe('a search with everything configured', () => {
  beforeEach(setUpEverything);

  it.each([
    ['night shift', 'smart'],
    ['work', 'profiles'],
    ['shorten logs', 'smart'],
    ['max lines', 'smart'],
    ['duplicate', 'smart'],
    ['rename', 'smart'],
  ])('for "%s" leads to the user’s own entry in %s', async (words, section) => {
    const page = await openPage();
    await search(page, words);
    expect(listFoundSections(page)).toContain(section);
  });

  it('finds one pass and not the others', async () => {
    const page = await openPage();
    await search(page, 'shorten logs');
    expect(page.all('.pass[data-place]').map((item) => item.textContent)).toEqual([
      expect.stringContaining('Shorten logs'),
    ]);
  });

  it('shows no heading of Smart without anything below it, and no message', async () => {
    fake.settings['contextCondenser.smart'] = 'file-aware';
    const page = await openPage({ view: { open: ['smart'] } });
    await page.click(() => page.find('#smart vscode-button', 'Make it my own'));
    await page.until(() => page.find('#smart .done', 'These passes are yours now.'));
    const style = document.createElement('style');
    style.textContent = readFileSync('webview-ui/src/styles/layout.css', 'utf8');
    document.head.append(style);
    onTestFinished(() => {
      style.remove();
    });
    const headings = async (words: string): Promise<(string | null)[]> => {
      await search(page, words);
      const shown = page
        .all('#smart > .section-content > *, #presets > *')
        .filter((each) => getComputedStyle(each).display !== 'none');
      return shown.filter((each) => each.matches('.group-title, .done')).map(({ textContent }) => textContent);
    };
    expect(await headings('night shift')).toEqual(['Presets']);
    expect(await headings('coherence floor')).toEqual(['Passes']);
  });

  it('finds every button by its text', async () => {
    const page = await openPage({ view: { open: [...SECTIONS, 'native', 'lossless', 'truncation', 'strategy'] } });
    await page.until(() => page.all('#history vscode-button').length > 0);
    const buttons = page
      .all('main .section vscode-button')
      .filter((button) => !button.closest('[data-setting]:not(.passes, .item)'))
      .map((button) => ({ words: button.textContent.trim(), section: button.closest('.section')?.id }));
    expect(buttons.length).toBeGreaterThan(15);
    const missed: unknown[] = [];
    for (const { words, section } of buttons) {
      await search(page, '');
      await search(page, words.toLowerCase());
      if (!listFoundSections(page).includes(section ?? '')) missed.push({ words, section });
    }
    expect(missed).toEqual([]);
  });

  it('leads from a result to its whole section', async () => {
    const page = await openPage();
    await search(page, 'preview');
    await page.click(() => page.find('#preview [data-place] button, #preview [data-place] vscode-link'));
    await page.until(() => page.find('.search-result').textContent === '');
    expect(page.find('#preview .section-toggle').getAttribute('aria-expanded')).toBe('true');
  });
});
