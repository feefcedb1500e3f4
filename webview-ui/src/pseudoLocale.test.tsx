/**
 * Every text that a person sees or hears must be translated. The page is shown in a language that
 * marks translated texts.
 */
import { beforeEach, expect, it } from 'vitest';
import { fake, workspace } from '../../test/support/vscode';
import { openPage, type TestPage } from './testing';

const ATTRIBUTES = ['aria-label', 'aria-description', 'aria-valuetext', 'title', 'placeholder', 'alt'];

/** Names that people and products chose, and texts of `Intl`, are not translated. */
const NAMES =
  /Work|Anthropic|OpenAI|Azure|Ollama|LM Studio|vLLM|Amazon Bedrock|Google Vertex AI|Google Gemini|OpenRouter|VS Code|claude-sonnet-4|gpt-4o|copilot|native|JSON|settings\.json/g;
const WRITTEN_BY_INTL = /\b(ms|sec|AM|PM|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/g;

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = [];
  workspace.name = 'demo';
  fake.settings['contextCondenser.profiles'] = [
    { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4', threshold: 60 },
  ];
  fake.settings['contextCondenser.smart'] = {
    version: 1,
    passes: [
      { id: 'a', name: 'Work', mode: 'individual', selection: { type: 'preserve_recent', count: 5 } },
      {
        id: 'b',
        name: 'Work',
        mode: 'batch',
        selection: { type: 'custom', filter: {} },
        batchConfig: { operation: 'keep' },
      },
    ],
  };
});

/** Returns a text with an untranslated part, otherwise an empty one. */
function findUntranslatedText(text: string): string {
  let rest = text;
  // Translated texts contain values, which may be translated themselves.
  for (let before = ''; before !== rest;) {
    before = rest;
    rest = rest.replace(/⟦[^⟦⟧]*⟧/g, '');
  }
  rest = rest.replace(NAMES, '').replace(WRITTEN_BY_INTL, '');
  return /\p{L}{2}/u.test(rest) ? text.trim() : '';
}

function textsOf(page: TestPage): string[] {
  const texts: string[] = [];
  const walker = document.createTreeWalker(page.root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    // Text that people and agents wrote is not translated.
    if (node.parentElement?.closest('[translate="no"]')) continue;
    // A sentence that contains a word as code is one text.
    texts.push(node.parentElement?.closest('.row-help')?.textContent ?? node.textContent ?? '');
  }
  for (const element of page.all('*')) {
    // Nobody reads hidden elements, such as the toolkit's ring named "Loading"; our own text is
    // beside it.
    if (element.closest('[aria-hidden="true"]')) continue;
    for (const name of ATTRIBUTES) texts.push(element.getAttribute(name) ?? '');
  }
  return texts;
}

it('the pseudo-locale leaves no text of any section untranslated, with everything expanded', async () => {
  const run = {
    at: '2026-11-20T01:00:00.000Z',
    provider: 'native',
    fallback: false,
    tokensBefore: 100,
    tokensAfter: 40,
    timeMs: 5,
    trigger: 'window',
  };
  const entry = {
    ...run,
    condensation: '1',
    conversation: '1',
    title: 'Work',
    place: 'live',
    preset: 'Work',
    passes: [{ name: 'Work', tokensBefore: 100, tokensAfter: 40 }],
    savedPerRequest: 0.1,
    isFallback: true,
    isInUse: true,
    state: 'undone',
    change: 'redo',
  };
  const outcomes = ['failed', 'refused', 'cancelled', 'unchanged', ...Array<string>(5).fill('condensed')];
  const runs = outcomes.map((outcome) => ({ ...run, outcome, calls: [] }));
  const page = await openPage({
    translate: (text) => `⟦${text}⟧`,
    backend: {
      loadModelWindowAndPrices: () => Promise.resolve({ contextWindow: 200_000, prices: { input: 3, output: 15 } }),
      listEditorModels: () =>
        Promise.resolve([{ id: 'gpt-4o', name: 'gpt-4o', vendor: 'copilot', contextWindow: 108_192 }]),
      readHistory: () => Promise.resolve({ entries: [entry], runs }),
    },
    view: {
      open: ['profiles', 'lossless', 'truncation', 'native', 'smart', 'chat', 'arrival', 'stored', 'history', 'more'],
    },
  });
  await page.until(() => page.root.querySelector('table'));
  await page.click(() => page.find('vscode-button', 'Add model'));
  // Expanded parts may contain more that can be expanded, and only one pass is open at a time.
  const texts: string[] = [];
  const seen = new Set<HTMLElement>();
  for (let next: HTMLElement | undefined; ;) {
    next = page.all('.disclosure[aria-expanded="false"]').find((button) => !seen.has(button));
    if (!next) break;
    seen.add(next);
    const button = next;
    await page.click(() => button);
    if (next.closest('.pass')) texts.push(...textsOf(page));
  }
  texts.push(...textsOf(page));
  expect(texts.filter((text) => text.includes('⟦')).length).toBeGreaterThan(300);
  expect(new Set(texts.map(findUntranslatedText).filter((text) => text !== ''))).toEqual(new Set());
});
