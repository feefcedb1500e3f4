import type { Frame, Locator } from 'playwright-core';
import { until } from './wait';
import type { Workbench } from './workbench';

export interface DiffEditor {
  readonly title: string;
  /** The visible lines in order; the editor renders no others. */
  readonly original: readonly string[];
  readonly modified: readonly string[];
}

const group = ({ page }: Workbench): Locator => page.locator('.editor-group-container.active');

/**
 * Returns an editor's lines, sorted by position, because their order in Monaco's page is arbitrary.
 */
async function readEditorLines(editor: Locator): Promise<string[]> {
  const shownLines = await editor
    .locator('.view-lines .view-line')
    .evaluateAll((elements) =>
      elements.map((element) => ({ top: element.getBoundingClientRect().top, text: element.textContent })),
    );
  return shownLines.toSorted((a, b) => a.top - b.top).map(({ text }) => (text as string).replaceAll('\u00a0', ' '));
}

export const activeTab = async (bench: Workbench): Promise<string> =>
  ((await group(bench).locator('.tab.active .label-name').first().textContent()) ?? '').trim();

export const tabs = async ({ page }: Workbench): Promise<string[]> =>
  (await page.locator('.editor-group-container .tab .label-name').allTextContents()).map((text) => text.trim());

/** Returns the active diff editor once both sides show text, or once it satisfies `wanted`. */
export function diffEditor(
  bench: Workbench,
  wanted: (shown: DiffEditor) => boolean = ({ original, modified }) => original.length > 0 && modified.length > 0,
): Promise<DiffEditor> {
  return until('a diff editor', async () => {
    const editor = group(bench).locator('.monaco-diff-editor').first();
    if ((await editor.count()) === 0) return undefined;
    const shown = {
      title: await activeTab(bench),
      original: await readEditorLines(editor.locator('.editor.original')),
      modified: await readEditorLines(editor.locator('.editor.modified')),
    };
    return wanted(shown) ? shown : undefined;
  });
}

export function textEditor(
  bench: Workbench,
  wanted: (shown: readonly string[]) => boolean = (shown) => shown.length > 0,
): Promise<readonly string[]> {
  return until('a text editor', async () => {
    const shown = await readEditorLines(group(bench).locator('.monaco-editor').first());
    return wanted(shown) ? shown : undefined;
  });
}

/**
 * Returns the visible lines of the output panel (`server.outputText` returns the whole channel).
 */
export function outputPanel(
  bench: Workbench,
  wanted: (shown: readonly string[]) => boolean = (shown) => shown.length > 0,
): Promise<readonly string[]> {
  return until('text in the output panel', async () => {
    const shown = await readEditorLines(
      bench.page.locator('.part.panel .output-view .monaco-editor, .output-view .monaco-editor').first(),
    );
    return wanted(shown) ? shown : undefined;
  });
}

/** The document in a webview's inner frame. */
const WEBVIEW_PAGE = '/webview/browser/pre/fake.html';

/** Finds a webview's document, which is two frames deep, once it contains `selector`. */
export function webview({ page }: Workbench, selector = 'body'): Promise<Frame> {
  return until(`a webview with ${selector}`, async () => {
    for (const frame of page.frames()) {
      if (!frame.url().includes(WEBVIEW_PAGE) || !(await isActive(frame))) continue;
      if ((await frame.locator(selector).count()) > 0) return frame;
    }
    return undefined;
  });
}

/** True if the frame is displayed. While a webview loads, it has another, pending frame. */
async function isActive(frame: Frame): Promise<boolean> {
  const element = await frame.frameElement().catch(() => undefined);
  return (await element?.getAttribute('id')) === 'active-frame';
}
