import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { findChromium, root } from '../../../scripts/vscode.mjs';
import { forgetHelper } from './helper';
import type { Server } from './server';
import { WAIT_MS } from './wait';

export const screenshots = join(root, 'test-results', 'screenshots');

export interface WorkbenchOptions {
  /** Folder of the workspace; absent for an empty window. */
  readonly folder?: string;
  /** Folders of development extensions. Prefer `installExtension`, because users get a VSIX. */
  readonly developmentExtensions?: readonly string[];
  /**
   * A CommonJS file that exports `run()`, which the extension host runs if there is a development
   * extension; `exited` then resolves to its exit code.
   */
  readonly testsPath?: string;
  /** Enables the built-in agent, as “Chat: Manage Language Models” does. */
  readonly agent?: boolean;
  /**
   * Opens the window as another tab in this window's browser, with the same storage and cached
   * scripts.
   */
  readonly beside?: Workbench;
  readonly size?: { readonly width: number; readonly height: number };
}

export interface Workbench {
  readonly page: Page;
  readonly server: Server;
  readonly folder: string | undefined;
  /** Size from the initial options. */
  readonly size: { readonly width: number; readonly height: number };
  /** Errors on the console and uncaught ones, without those that the workbench always prints. */
  readonly errors: readonly string[];
  /** What the in-host suite and the workbench printed. */
  readonly printed: readonly string[];
  readonly exited: Promise<number>;
  /**
   * Runs “Developer: Reload Window”. The page and the stored state stay, but the extension host is
   * new.
   */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Chromium uses only the last list of features, so this list replaces Playwright's list and repeats
 * the features that we need. The spare renderer would cost half a second of CPU time per window.
 */
const disabledFeatures = [
  'SpareRendererForSitePerProcess',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'OptimizationHints',
];

/**
 * V8's options for short-lived windows that share their cores: garbage is collected by one thread,
 * and less often.
 */
const V8 = ['--single-threaded-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];

const flags = [
  `--js-flags=${V8.join(' ')}`,
  `--disable-features=${disabledFeatures.join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-device-scale-factor=1',
];

/** Errors that every code-server prints without a network and with desktop extensions. */
const IGNORED_CONSOLE_PATTERNS = [
  /net::ERR_/,
  /open-vsx|ENOTFOUND|EAI_AGAIN|getaddrinfo|ECONNREFUSED|fetch failed|Failed to fetch/i,
  /not a web extension/,
  /Failed to load resource/,
  /\[LEAKED DISPOSABLE\]/,
  /extensions\/copilot\/dist/,
  /github-authentication|microsoft-authentication|sign ?in|GitHub/i,
  /the document's frame is sandboxed|allow-scripts and allow-same-origin|Unrecognized feature/,
  /WebSocket close with status code/,
  // A reload cancels pending loads of files that extensions contribute, and of a webview's scripts.
  // A missing script would be noticed, because the webview would show nothing.
  /Webview\.loadLocalResource - Error using fileReader/,
  /Unable to read file .*\(Canceled: Canceled\)/,
  /failed to validate skill file: .* Canceled\b/,
];

let browser: Promise<Browser> | undefined;

/** Returns the browser, which serves all windows of a run; each has its own storage. */
function sharedBrowser(): Promise<Browser> {
  browser ??= (async () => {
    const executablePath = findChromium();
    if (executablePath === null) throw new Error('no Chromium');
    return chromium.launch({ executablePath, args: flags });
  })();
  return browser;
}

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

/**
 * Runs before the workbench reads its configuration, for options that code-server has no flag for.
 */
const patchConfiguration = (changes: object): string => `
  const changes = ${JSON.stringify(changes)};
  document.addEventListener('readystatechange', () => {
    const meta = document.getElementById('vscode-workbench-web-configuration');
    if (!meta || meta.dataset.patched) return;
    meta.dataset.patched = '1';
    const configuration = JSON.parse(meta.getAttribute('data-settings'));
    configuration.developmentOptions = { ...configuration.developmentOptions, ...changes.developmentOptions };
    if (changes.enabledExtensions) configuration.enabledExtensions = changes.enabledExtensions;
    meta.setAttribute('data-settings', JSON.stringify(configuration));
  });`;

/**
 * Runs before the workbench reads its storage, and removes the cached chat models. The picker would
 * otherwise show them before the extensions are ready (“Language model unavailable”, “Chat took too
 * long to get ready”).
 */
const FORGET_CACHED_MODELS = `
  if (window === window.top) void indexedDB.databases().then((databases) => {
    for (const { name } of databases) {
      if (!name.startsWith('vscode-web-state-db-global')) continue;
      const opening = indexedDB.open(name);
      opening.onsuccess = () => {
        const database = opening.result;
        if (database.objectStoreNames.contains('ItemTable')) {
          const change = database.transaction('ItemTable', 'readwrite');
          change.objectStore('ItemTable').delete('chat.cachedLanguageModels.v2');
        }
        database.close();
      };
    }
  });`;

/**
 * Waits for the theme. It comes from an extension, so extensions and settings are loaded once it is
 * visible.
 */
async function waitUntilReady(page: Page): Promise<void> {
  await page.locator('.monaco-workbench[class*="vscode-theme-"]').waitFor();
}

/**
 * Chromium's setting is needed, too: VS Code's own leaves some of the chat's animations, which the
 * CPU renders.
 */
const CONTEXT = { reducedMotion: 'reduce' } as const;

/**
 * Some animations never end even with reduced motion, such as that of the waiting chat, so each
 * gets a single immediate step. The panel keeps its own animations.
 */
const NO_ENDLESS_MOTION = `
  if (window === window.top) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('*, *::before, *::after { animation-duration: 1ms !important; animation-delay: 0s !important; animation-iteration-count: 1 !important; }');
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }`;

/**
 * Creates a browser context for windows that are opened one after another; it caches the
 * workbench's scripts.
 */
export const keptContext = async (): Promise<BrowserContext> => (await sharedBrowser()).newContext(CONTEXT);

/** Clears what windows at this address have stored, but keeps cached scripts. */
async function clearStorage(page: Page, origin: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const storageTypes = 'cookies,local_storage,indexeddb,service_workers,cache_storage';
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes });
  await session.detach();
}

/**
 * Opens a window of VS Code.
 * @param kept a context that outlives the window and has no other window open. Without one, the
 *   window gets its own.
 */
export async function openWorkbench(
  server: Server,
  options: WorkbenchOptions = {},
  kept?: BrowserContext,
): Promise<Workbench> {
  const sharedContext = kept ?? options.beside?.page.context();
  const context = sharedContext ?? (await keptContext());
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.base });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const { folder, size = { width: 1400, height: 900 } } = options;
  await page.setViewportSize(size);
  page.on('domcontentloaded', () => {
    forgetHelper(server, folder);
  });
  if (kept) await clearStorage(page, server.base);
  const errors: string[] = [];
  const printed: string[] = [];
  const recordError = (text: string): void => {
    if (!IGNORED_CONSOLE_PATTERNS.some((pattern) => pattern.test(text))) errors.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error') recordError(message.text());
  });
  page.on('pageerror', (error) => {
    recordError(error.stack ?? error.message);
  });
  const exited = new Promise<number>((resolve) => {
    void page.exposeFunction('codeAutomationExit', resolve);
  });
  await page.exposeFunction('codeAutomationLog', (_type: string, parts: unknown[]) => {
    printed.push(parts.map(String).join(' '));
  });

  const uri = (path: string): object => ({ $mid: 1, scheme: 'vscode-remote', authority: server.authority, path });
  await page.addInitScript({
    content: patchConfiguration({
      developmentOptions: {
        ...(options.developmentExtensions === undefined ? {} : { extensions: options.developmentExtensions.map(uri) }),
        ...(options.testsPath === undefined ? {} : { extensionTestsPath: uri(options.testsPath) }),
      },
      ...(options.agent === true ? { enabledExtensions: ['GitHub.copilot-chat'] } : {}),
    }),
  });
  await page.addInitScript({ content: NO_ENDLESS_MOTION });
  if (options.agent === true) await page.addInitScript({ content: FORGET_CACHED_MODELS });
  const query = folder === undefined ? '?ew=true' : `?folder=${encodeURIComponent(folder)}`;
  if (options.agent === true) server.agentLoads++;
  await page.goto(`${server.base}/${query}`);
  await waitUntilReady(page);
  return {
    page,
    server,
    folder,
    size,
    errors,
    printed,
    exited,
    async reload() {
      if (options.agent === true) server.agentLoads++;
      await page.reload();
      await waitUntilReady(page);
    },
    close: () => (sharedContext ? page.close() : context.close()),
  };
}

/**
 * Writes `test-results/screenshots/NAME.png`. If you add a screenshot, open it and look at it.
 * @param withHover leaves the pointer and its hover in place; otherwise the pointer is moved away.
 */
export async function screenshot({ page }: Workbench, name: string, withHover = false): Promise<string> {
  mkdirSync(screenshots, { recursive: true });
  const path = join(screenshots, `${name}.png`);
  if (!withHover) await page.mouse.move(0, 0);
  await page.screenshot({ path, animations: 'disabled' });
  return path;
}
