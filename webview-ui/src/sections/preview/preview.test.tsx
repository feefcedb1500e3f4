/** Tests the preview in the real page, over the real host side and the real worker. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { renderToStaticMarkup } from 'react-dom/server';
import { beforeEach, expect, it } from 'vitest';
import { generateConversation } from '../../../../test/generators/conversation';
import { temporaryFolder } from '../../../../test/support/temporaryFolder';
import { ConfigurationTarget, fake, workspace } from '../../../../test/support/vscode';
import { openPage, type TestPage, type PageOptions } from '../../testing';
import { describeShownChanges } from './EditExcerpts';
import { PreviewFigureList, formatCostAndConfidence } from './Figures';

beforeEach(() => {
  fake.reset();
});

const open = (options: PageOptions = {}): Promise<TestPage> => openPage({ view: { open: ['preview'] }, ...options });

const cells = (page: TestPage): HTMLElement[] => page.all('#preview button.cell');
const figure = (page: TestPage, name: string): string =>
  page.all('#preview .figure').find((each) => each.textContent.startsWith(name))?.textContent ?? '';

/** Presses a key on the focused element. */
function press(key: string): void {
  document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

it('the preview shows the sample without key or agent, and what would happen to each message', async () => {
  const page = await open();
  await page.until(() => cells(page).length > 20);
  page.find('#preview .tag', 'sample');
  expect(figure(page, 'Tokens now')).toMatch(/\d/);
  expect(figure(page, 'Cost')).toMatch(/\$0\s*no model is called/);
  const passes = page.all('#preview .pass-bar-figures').map(({ textContent }) => textContent);
  expect(passes.length).toBeGreaterThan(1);
  for (const pass of passes) expect(pass).toMatch(/^[\d,]+ → [\d,]+ \(−[\d.]+%\)$/);
  expect(page.all('#preview .excerpt').length).toBeGreaterThan(1);
  expect(new Set(cells(page).map(({ className }) => className)).size).toBeGreaterThan(1);
  expect(cells(page).filter(({ tabIndex }) => tabIndex === 0)).toHaveLength(1);
});

it('the preview begins with the user’s own newest conversation, and stays with it', async () => {
  const folder = temporaryFolder();
  const paths = ['first.jsonl', 'second.jsonl'].map((name) => join(folder, name));
  for (const path of paths) copyFileSync('sample/conversation.jsonl', path);
  let asked = 0;
  const page = await open({
    backend: {
      findOwnConversation: () => Promise.resolve(paths[asked++]),
      getDefaultConversation: (_services: unknown, stored?: string) => ({ kind: 'file', path: stored ?? 'sample' }),
    },
  });
  await page.until(() => cells(page).length > 20);
  expect(page.all('#preview .tag').map(({ textContent }) => textContent)).not.toContain('sample');
  const before = figure(page, 'Tokens afterwards');
  await workspace.getConfiguration('contextCondenser').update('provider', 'truncation', ConfigurationTarget.Global);
  await page.until(() => figure(page, 'Tokens afterwards') !== before);
  expect(asked).toBe(1);
});

it('the preview states the cost on the button before the user agrees', async () => {
  const of = (changes: object): string =>
    formatCostAndConfidence({
      tokensBefore: 2,
      tokensAfter: 1,
      targetTokens: 1,
      calls: 2,
      cost: 0.02,
      timeMs: 1,
      ...changes,
    });
  expect(of({ calls: 0, cost: 0 })).toBe('');
  expect(of({ calls: 1, cost: undefined })).toBe('one call to a model, cost not known');
  expect(of({ costRange: { least: 0.01, most: 0.03 } })).toBe('2 calls to a model, $0.01 to $0.03');
  const limited = { costRange: { least: 0.03, most: 0.5, endsAtLimit: true } };
  expect(of(limited)).toBe('2 calls to a model, $0.03 to $0.50, capped at your limit');
  const page = await open();
  await page.until(() => cells(page).length > 20);
  // The button shows no price if condensing is free.
  expect(page.find('#preview vscode-button', 'Condense now').textContent).toMatch(/Condense now$/);
});

it.each([
  ['$0.05 itself', { cost: 0.05 }, false],
  ['more', { cost: 0.051 }, true],
  ['a range that ends above it', { cost: 0.01, costRange: { least: 0.01, most: 0.06 } }, true],
  ['nothing', { cost: 0, calls: 0 }, false],
])('the preview marks a cost only above $0.05: %s', (_what, changes, isMarked) => {
  const callTokens = { input: 12_000, cacheRead: 0, cacheWrite: 300, output: 900 };
  const preview = { tokensBefore: 2, tokensAfter: 1, targetTokens: 1, calls: 2, timeMs: 1, callTokens, ...changes };
  const shown = renderToStaticMarkup(<PreviewFigureList preview={preview} />);
  expect(shown.includes('figure-warning')).toBe(isMarked);
  expect(shown.includes('12,000 tokens in, 300 written to the cache, 900 out')).toBe(preview.calls > 0);
});

it('the preview shows after the estimate which facts are kept in the conversation, and names those that are lost', async () => {
  fake.settings['contextCondenser.provider'] = 'truncation';
  fake.settings['contextCondenser.manual.targetPercent'] = 10;
  const page = await open();
  const line = (): string => page.find('#preview .coherence .disclosure').textContent;
  await page.until(() => /^All \d+ facts kept$|^\d+ facts kept, \d+ can be recalled, \d+ lost$/.test(line()));
  const first = line();
  await page.click(() => page.find('#preview .coherence .disclosure'));
  const content = await page.until(() => page.find('#preview .coherence .folded-content'));
  expect(content.textContent).toMatch(/Files\d+ of \d+ kept/);
  expect(content.textContent).toMatch(/(Only by reference|Lost): \d+/);
  expect(page.all('#preview .coherence-examples > li').length).toBeGreaterThan(0);
  const asked: unknown[] = [];
  page.host.page.webview.onDidReceiveMessage((message) => {
    const { type, method = type } = message as { readonly type: string; readonly method?: string };
    asked.push(method);
  });
  void page.host.ask('updateSetting', { name: 'manual.targetPercent', scope: 'user', path: [], value: 90 });
  await page.until(() => line() !== first);
  expect(asked.slice(-2)).toEqual(['preview', 'previewCoherence']);
  const { violations } = await axe.run(content, { rules: { 'color-contrast': { enabled: false } } });
  expect(violations.map(({ id }) => id)).toEqual([]);
});

it('the preview stays visible if its report fails, and says so', async () => {
  let asked = 0;
  const setup = { provider: 'lossless', config: undefined, presets: [], targetPercent: 50, maxCost: 0.5, models: [] };
  const readPreviewSetup = () =>
    asked++ === 0 ? Promise.resolve(setup) : Promise.reject(new Error('There is no setup.'));
  const page = await open({ backend: { readPreviewSetup } });
  await page.until(() => page.find('#preview .coherence .problem', 'There is no setup.'));
  expect(cells(page).length).toBeGreaterThan(20);
});

it('the preview can pin and leave out messages by keyboard, updates the estimate, and undoes the last of these marks', async () => {
  const page = await open();
  await page.until(() => cells(page).length > 20);
  const after = figure(page, 'Tokens afterwards');
  const at = cells(page).findIndex((cell) => cell.classList.contains('cell-referenced'));
  cells(page)[0]!.focus();
  press('End');
  await page.until(() => document.activeElement === cells(page).at(-1));
  press('Home');
  await page.until(() => document.activeElement === cells(page)[0]);
  for (let step = 0; step < at; step++) {
    press('ArrowRight');
    await page.until(() => document.activeElement === cells(page)[step + 1]);
  }
  const touched = cells(page)[at]!;
  expect(touched.getAttribute('aria-label')).toMatch(
    new RegExp(`^Message ${at + 1}, \\w+: referenced, [\\d,]+ → [\\d,]+ tokens$`),
  );
  press('x');
  await page.until(() => cells(page)[at]?.classList.contains('cell-excluded'));
  await page.until(() => figure(page, 'Tokens afterwards') !== after);
  // Enter on a button acts like a click.
  cells(page)[at]!.click();
  await page.until(() => cells(page)[at]?.getAttribute('aria-pressed') === 'true');
  await page.click(() => page.find('#preview vscode-button', 'Undo the last mark'));
  await page.until(() => cells(page)[at]?.getAttribute('aria-pressed') === 'false');
  await page.click(() => page.find('#preview vscode-button', 'Undo the last mark'));
  await page.until(() => figure(page, 'Tokens afterwards') === after);
});

it('the preview follows settings and ignores answers to earlier questions', async () => {
  const page = await open();
  await page.until(() => cells(page).length > 20);
  const steps = (): number => page.all('#preview .pass-bar').length;
  const before = figure(page, 'Tokens afterwards');
  const lossless = steps();
  for (const provider of ['truncation', 'lossless', 'truncation']) {
    void page.host.ask('updateSetting', { name: 'provider', scope: 'user', path: [], value: provider });
  }
  await page.until(() => figure(page, 'Tokens afterwards') !== before && steps() === 1);
  expect(lossless).toBeGreaterThan(1);
});

/** Creates a chat whose conversation grows, over the real host side. */
function chat() {
  let messages = generateConversation({ seed: 4, targetTokens: 6_000 });
  let id = 'first';
  const listeners = new Set<() => void>();
  const backend = {
    getDefaultConversation: () => ({ kind: 'live', id }),
    resolveConversation: (_services: unknown, name: { readonly id: string }) => ({
      kind: 'live',
      id: name.id,
      title: `The ${name.id} one`,
      pinned: [],
      content: { messages, edits: [] },
    }),
    subscribeToLiveChanges: (_services: unknown, listener: () => void) => {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
  };
  const change = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    backend,
    listeners,
    change,
    size: () => messages.length,
    goOn(): void {
      messages = [...messages, { role: 'assistant', content: 'Done so far.' }, { role: 'user', content: 'Go on.' }];
      change();
    },
    begin(other: string): void {
      id = other;
      change();
    },
  };
}

it('the preview follows a growing chat conversation and the next one, until a message is pinned or left out', async () => {
  const live = chat();
  const page = await open({ backend: live.backend });
  await page.until(() => cells(page).length === live.size() && page.find('#preview .tag', 'follows the chat'));
  expect(page.all('#preview .tag').map(({ textContent }) => textContent)).not.toContain('sample');
  for (let step = 0; step < 3; step++) {
    live.goOn();
    await page.until(() => cells(page).length === live.size());
  }
  live.begin('second');
  await page.until(() => page.find('#preview .preview-title', 'The second one'));
  cells(page)[2]!.click();
  await page.until(() => cells(page)[2]?.getAttribute('aria-pressed') === 'true');
  live.begin('third');
  live.goOn();
  await page.until(() => cells(page).length === live.size());
  expect(page.find('#preview .preview-title').textContent).toContain('The second one');
  expect(cells(page)[2]?.getAttribute('aria-pressed')).toBe('true');
});

it('the preview gets one notification per answer, and none while its section is collapsed', async () => {
  const live = chat();
  const page = await open({ backend: live.backend });
  const posted = (): number => page.host.posted().filter(({ type }) => type === 'previewChanged').length;
  await page.until(() => cells(page).length === live.size());
  live.change();
  expect(posted()).toBe(0);
  for (let step = 0; step < 5; step++) live.goOn();
  expect(posted()).toBe(1);
  await page.until(() => cells(page).length === live.size());
  expect(posted()).toBe(1);
  page.all('#preview .section-toggle')[0]!.click();
  await page.until(() => live.listeners.size === 0);
  live.goOn();
  expect(posted()).toBe(1);
});

it('the preview updates after a change in another tab once it is visible', async () => {
  const live = chat();
  const page = await open({ backend: live.backend });
  const posted = (): number => page.host.posted().filter(({ type }) => type === 'previewChanged').length;
  await page.until(() => cells(page).length === live.size());
  page.host.page.show(false);
  live.goOn();
  expect(posted()).toBe(0);
  page.host.page.show(true);
  expect(posted()).toBe(1);
  await page.until(() => cells(page).length === live.size());
});

it.each([
  ['gone', 'no-such-file.jsonl', /no such file/],
  ['broken', 'package.json', /package\.json/],
])('the preview reports a file that is %s, with what to do next', async (_, path, words) => {
  const page = await open({ view: { open: ['preview'], previewed: { kind: 'file', path } } });
  await page.until(() => page.find('#preview .problem', words));
  await page.click(() => page.find('#preview button', 'Show my newest conversation'));
  await page.until(() => cells(page).length > 20);
  expect(page.all('#preview .problem')).toHaveLength(0);
});

it('the preview never shows the previous conversation’s kept facts for a new conversation', async () => {
  const path = join(temporaryFolder(), 'hello.json');
  const messages = [
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Good evening.' },
  ];
  writeFileSync(path, JSON.stringify({ messages }));
  const facts = (): string => page.all('#preview .coherence')[0]?.textContent ?? '';
  const page = await open({
    view: { open: ['preview'], previewed: { kind: 'file', path } },
    backend: { chooseConversation: () => Promise.resolve({ kind: 'file', path: 'sample/conversation.jsonl' }) },
  });
  const first = await page.until(() => facts().includes('1 fact kept') && facts());
  const seen: string[] = [];
  new MutationObserver(() => {
    if (cells(page).length > 20) seen.push(facts());
  }).observe(page.root, { subtree: true, childList: true, characterData: true });
  await page.click(() => page.find('#preview vscode-button', 'Choose a conversation'));
  await page.until(() => seen.length > 0 && facts() !== first && facts().includes(' facts kept'));
  expect(seen).not.toContain(first);
});

it('the preview compares two configurations on selected conversations', async () => {
  const configurations: unknown[] = [];
  const page = await open({
    view: { open: ['comparison'] },
    backend: {
      chooseConversation: () => Promise.resolve({ kind: 'file', path: 'sample/conversation.jsonl' }),
      readPreviewSetup: (_services: unknown, configuration: { readonly id?: string }) => {
        configurations.push(configuration);
        const { id } = configuration;
        return Promise.resolve({
          provider: id === undefined ? 'lossless' : 'smart',
          config: id,
          presets: [],
          targetPercent: 30,
          maxCost: 0.5,
          models: [],
        });
      },
    },
  });
  await page.click(() => page.find('#comparison vscode-button', 'Add a conversation'));
  await page.until(() => page.find('#comparison .row-help', '2 conversations'));
  await page.click(() => page.find('#comparison vscode-button', /^\n*\n*Compare$/));
  await page.until(() => page.all('#comparison table').length === 2);
  const [table] = page.all('#comparison table');
  expect(table?.textContent).toMatch(/Current settings.*File-Aware/);
  expect(table?.textContent).toMatch(/Code lines kept\d+\s?%? \(\d+ of \d+\)/);
  expect(configurations).toContainEqual({ kind: 'preset', id: 'file-aware' });
});

it('the preview saves pins and condenses with the marked messages pinned or left out', async () => {
  const asked: unknown[] = [];
  const note =
    (what: string) =>
    (_services: unknown, ...rest: readonly unknown[]) => {
      asked.push([what, ...rest.slice(1)]);
      return Promise.resolve();
    };
  const page = await open({
    backend: { saveConversationPins: note('pins'), condenseChosenConversation: note('condense') },
  });
  await page.until(() => cells(page).length > 20);
  cells(page)[3]!.click();
  await page.until(() => cells(page)[3]?.getAttribute('aria-pressed') === 'true');
  await page.click(() => page.find('#preview vscode-button', 'Save the pins'));
  await page.until(() => asked.length === 1);
  await page.click(() => page.find('#preview vscode-checkbox', 'Leave message 4 out'));
  await page.until(() => cells(page)[3]?.classList.contains('cell-excluded'));
  await page.click(() => page.find('#preview vscode-button', 'Condense now'));
  await page.until(() => asked.length === 2);
  expect(asked).toEqual([
    ['pins', [3]],
    ['condense', [3], [3]],
  ]);
});

it('the preview is accessible', async () => {
  const page = await open();
  await page.until(() => cells(page).length > 20);
  const { violations } = await axe.run(page.find('#preview'), { rules: { 'color-contrast': { enabled: false } } });
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
});

it('the preview says how many changes are shown, in singular or plural', () => {
  expect([
    describeShownChanges(1, 1),
    describeShownChanges(2, 2),
    describeShownChanges(12, 40),
    describeShownChanges(1, 2),
  ]).toEqual(['One change.', 'All 2 changes.', 'The first 12 of 40 changes.', 'The first 1 of 2 changes.']);
});
