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
  /** The workspace folder; without one, an empty window. */
  readonly folder?: string;
  /** Folders of extensions that run from their sources. What users get is a VSIX: prefer `installExtension`. */
  readonly developmentExtensions?: readonly string[];
  /** A CommonJS file that exports `run()`, executed in the extension host (it needs a development extension); `exited` gives its code. */
  readonly testsPath?: string;
  /** Turns VS Code's own agent on, as "Chat: Manage Language Models" does for a user. */
  readonly agent?: boolean;
  /** A window in whose browser this one opens, as a second tab: what it stored is there, and the workbench's scripts are read. */
  readonly beside?: Workbench;
  readonly size?: { readonly width: number; readonly height: number };
}

export interface Workbench {
  readonly page: Page;
  readonly server: Server;
  readonly folder: string | undefined;
  /** As it was opened. */
  readonly size: { readonly width: number; readonly height: number };
  /** Errors on the page's console and uncaught ones, without the workbench's usual noise. */
  readonly errors: readonly string[];
  /** The output of an in-host suite, and the workbench's own chatter. */
  readonly printed: readonly string[];
  /** The exit code of the in-host suite. */
  readonly exited: Promise<number>;
  /** "Developer: Reload Window": the same page and the same stored state, a new extension host. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The last list that Chromium is given counts, and so this one in the place of Playwright's, of which a page of our own server needs these.
 * A renderer that is kept ready for the next site costs half a second of the processor each time, and no window has a next site.
 */
const withoutFeatures = [
  'SpareRendererForSitePerProcess',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'OptimizationHints',
];

/**
 * How V8 is to work in a page. A window lives for seconds, and no window has its core for itself: garbage is collected in the thread that
 * made it, and less often, as new objects get more room.
 */
const V8 = ['--single-threaded-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];

const flags = [
  `--js-flags=${V8.join(' ')}`,
  `--disable-features=${withoutFeatures.join(',')}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-device-scale-factor=1',
];

/** No network, and extensions made for the desktop: errors that every code-server prints. */
const noise = [
  /net::ERR_/,
  /open-vsx|ENOTFOUND|EAI_AGAIN|getaddrinfo|ECONNREFUSED|fetch failed|Failed to fetch/i,
  /not a web extension/,
  /Failed to load resource/,
  /\[LEAKED DISPOSABLE\]/,
  /extensions\/copilot\/dist/,
  /github-authentication|microsoft-authentication|sign ?in|GitHub/i,
  /the document's frame is sandboxed|allow-scripts and allow-same-origin|Unrecognized feature/,
  /WebSocket close with status code/,
  // A window that is loaded anew ends what it is reading: its webviews' scripts, of which one that really lacks them would show nothing,
  // and the files that extensions contribute.
  /Webview\.loadLocalResource - Error using fileReader/,
  /Unable to read file .*\(Canceled: Canceled\)/,
  /failed to validate skill file: .* Canceled\b/,
];

let browser: Promise<Browser> | undefined;

/** One browser serves every window of a run; each window has storage of its own. */
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

/** Runs before the workbench reads its configuration, and adds what code-server has no flag for. */
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
 * Runs before the workbench reads what it stored: takes out the models that the chat knew before a reload. Its picker shows those
 * until the extensions are back, and a prompt that is sent meanwhile gets "Language model unavailable", or none at all: "Chat took
 * too long to get ready". Without them what the picker shows is there.
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

/** The colour theme comes from an extension: once it shows, the server has sent its extensions and the settings are read. */
async function ready(page: Page): Promise<void> {
  await page.locator('.monaco-workbench[class*="vscode-theme-"]').waitFor();
}

/** VS Code's own setting leaves some of the chat's movements, and each step of one is drawn by the processor. */
const CONTEXT = { reducedMotion: 'reduce' } as const;

/**
 * And some of the workbench's go on without end where they do not ask for motion (the chat's, while it waits): each has one step at once,
 * so that what waits for its end has it. The panel's own page keeps its own.
 */
const NO_ENDLESS_MOTION = `
  if (window === window.top) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('*, *::before, *::after { animation-duration: 1ms !important; animation-delay: 0s !important; animation-iteration-count: 1 !important; }');
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }`;

/** The browser's part of a place for one window after the other. Most of what a window costs is the workbench's scripts, read for the first time. */
export const keptContext = async (): Promise<BrowserContext> => (await sharedBrowser()).newContext(CONTEXT);

/** Forgets what the windows on this address stored, and keeps the scripts that they loaded. */
async function forget(page: Page, origin: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const storageTypes = 'cookies,local_storage,indexeddb,service_workers,cache_storage';
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes });
  await session.detach();
}

/**
 * Opens a window of VS Code.
 * @param kept a context that outlives the window and in which no other is open; without one the window gets its own.
 */
export async function openWorkbench(
  server: Server,
  options: WorkbenchOptions = {},
  kept?: BrowserContext,
): Promise<Workbench> {
  const shared = kept ?? options.beside?.page.context();
  const context = shared ?? (await keptContext());
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.base });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const { folder, size = { width: 1400, height: 900 } } = options;
  await page.setViewportSize(size);
  page.on('domcontentloaded', () => {
    forgetHelper(server, folder);
  });
  if (kept) await forget(page, server.base);
  const errors: string[] = [];
  const printed: string[] = [];
  const note = (text: string): void => {
    if (!noise.some((pattern) => pattern.test(text))) errors.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error') note(message.text());
  });
  page.on('pageerror', (error) => {
    note(error.stack ?? error.message);
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
  await ready(page);
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
      await ready(page);
    },
    close: () => (shared ? page.close() : context.close()),
  };
}

/**
 * Writes `test-results/screenshots/NAME.png`. Whoever adds one opens it and looks.
 * @param withHover leaves the pointer where it is, with what it shows; else it goes away.
 */
export async function screenshot({ page }: Workbench, name: string, withHover = false): Promise<string> {
  mkdirSync(screenshots, { recursive: true });
  const path = join(screenshots, `${name}.png`);
  if (!withHover) await page.mouse.move(0, 0);
  await page.screenshot({ path, animations: 'disabled' });
  return path;
}
