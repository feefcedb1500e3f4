import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { Server, ServerOptions } from './workbench/server';
import { freePort, startServer, temporaryFolder } from './workbench/server';
import type { Workbench, WorkbenchOptions } from './workbench/workbench';
import { keptContext, openWorkbench, screenshot } from './workbench/workbench';

/** The environment that the scenarios run on. */
export interface Tested {
  /** The folder into which the packaged extension was installed. */
  readonly extensionsDir: string;
  /** The extension's id, "publisher.name". */
  readonly extensionId: string;
  /** The bundled in-host suite: what `openOn` takes as `testsPath`. */
  readonly suite: string;
}

/** A scenario's bed: each exported async function of a file in `scenarios/` is a scenario, and is called with it. */
export interface Bed extends Tested {
  /** A new folder with these files (path → content); removed after the scenario. */
  folder(files?: Readonly<Record<string, string>>): string;
  /** Starts a VS Code of its own, with the extension installed, and opens a window. All ends with the scenario. */
  open(options?: ServerOptions & WorkbenchOptions): Promise<Workbench>;
  /** Opens one more window on a server that runs. */
  openOn(server: Server, options?: WorkbenchOptions): Promise<Workbench>;
  /** Prints a line below the scenario's result. */
  report(text: string): void;
  /** Console errors that name the extension fail a scenario, but for those that it expects. */
  expectError(pattern: RegExp): void;
}

export interface Scenario {
  (bed: Bed): Promise<void>;
  /** How long it may take. Default 300: it says of one that hangs, and not of a busy machine. */
  readonly seconds?: number;
  /** "long": it runs before a release (npm run test:long), and not with every `npm test`. */
  readonly lane?: 'long';
}

/**
 * Where one scenario runs after the other: the first window of each has the same address and the same browser context, emptied in
 * between, and so finds the workbench's scripts as the window before left them. That takes two thirds of a new window's work away.
 */
export class Place {
  #port: number | undefined;
  #context: BrowserContext | undefined;

  async port(): Promise<number> {
    return (this.#port ??= await freePort());
  }

  async context(): Promise<BrowserContext> {
    return (this.#context ??= await keptContext());
  }

  /** After a failure: nothing of it reaches the next scenario. */
  async renew(): Promise<void> {
    await this.#context?.close();
    this.#context = undefined;
    this.#port = undefined;
  }
}

/**
 * Runs a scenario with a time limit, and cleans up after it. On failure: a screenshot, and what the page said.
 * @returns what it told.
 */
export async function runScenario(
  name: string,
  scenario: Scenario,
  tested: Tested,
  place: Place,
): Promise<readonly string[]> {
  const { seconds = 300 } = scenario;
  const reported: string[] = [];
  const { extensionsDir, extensionId } = tested;
  const folders: string[] = [];
  const servers: Server[] = [];
  const windows: Workbench[] = [];
  const expected: RegExp[] = [];
  const bed: Bed = {
    ...tested,
    folder(files = {}) {
      const folder = temporaryFolder('folder');
      folders.push(folder);
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
      return folder;
    },
    async open(options = {}) {
      const isFirst = servers.length === 0;
      const server = await startServer({ extensionsDir, ...(isFirst && { port: await place.port() }), ...options });
      servers.push(server);
      if (!isFirst || options.zoom !== undefined) return bed.openOn(server, options);
      const window = await openWorkbench(server, options, await place.context());
      windows.push(window);
      return window;
    },
    async openOn(server, options = {}) {
      const window = await openWorkbench(server, options);
      windows.push(window);
      return window;
    },
    report: (text) => reported.push(text),
    expectError: (pattern) => expected.push(pattern),
  };
  let timer: NodeJS.Timeout | undefined;
  let isWell = true;
  try {
    const limit = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`the scenario took more than ${seconds} s`));
      }, seconds * 1000);
    });
    await Promise.race([scenario(bed), limit]);
    const errors = windows
      .flatMap((window) => window.errors)
      .filter((text) => text.toLowerCase().includes(extensionId.toLowerCase()));
    const surprises = errors.filter((text) => !expected.some((pattern) => pattern.test(text)));
    if (surprises.length > 0) throw new Error(`errors of the extension on the console:\n${surprises.join('\n')}`);
    return reported;
  } catch (error) {
    const said: string[] = [];
    for (const [index, window] of windows.entries()) {
      const shot = `FAILED-${name.replace(/\W+/g, '-')}-${index + 1}`;
      const path = await screenshot(window, shot).catch(() => 'no screenshot');
      said.push(`screenshot ${path}`, ...window.errors.slice(-10).map((text) => text.slice(0, 600)));
    }
    isWell = false;
    throw new Error(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n${said.join('\n')}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    for (const window of windows) await window.close().catch(() => undefined);
    await Promise.all(servers.map((server) => server.stop()));
    if (!isWell) await place.renew();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
