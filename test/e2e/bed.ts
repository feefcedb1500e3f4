import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Server, ServerOptions } from './workbench/server';
import { startServer, temporaryFolder } from './workbench/server';
import type { Workbench, WorkbenchOptions } from './workbench/workbench';
import { openWorkbench, screenshot } from './workbench/workbench';

/** What the scenarios are run on. */
export interface Tested {
  /** The folder into which the packaged extension was installed. */
  readonly extensionsDir: string;
  /** The extension's id, "publisher.name". */
  readonly extensionId: string;
  /** The bundled in-host suite: what `openOn` takes as `testsPath`. */
  readonly suite: string;
}

/** What a scenario gets: each exported async function of a file in `scenarios/` is one, and is called with this. */
export interface Bed extends Tested {
  /** A new folder with these files (path → content); removed after the scenario. */
  folder(files?: Readonly<Record<string, string>>): string;
  /** Starts a VS Code of its own, with the extension installed, and opens a window. All ends with the scenario. */
  open(options?: ServerOptions & WorkbenchOptions): Promise<Workbench>;
  /** Opens one more window on a server that runs. */
  openOn(server: Server, options?: WorkbenchOptions): Promise<Workbench>;
  /** Console errors that name the extension fail a scenario, but for those that it expects. */
  expectError(pattern: RegExp): void;
}

export interface Scenario {
  (bed: Bed): Promise<void>;
  /** How long it may take. Default 180. */
  readonly seconds?: number;
}

/** Runs a scenario with a time limit, and cleans up after it. On failure: a screenshot, and what the page said. */
export async function runScenario(name: string, scenario: Scenario, tested: Tested): Promise<void> {
  const { seconds = 180 } = scenario;
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
      const server = await startServer({ extensionsDir, ...options });
      servers.push(server);
      return bed.openOn(server, options);
    },
    async openOn(server, options = {}) {
      const window = await openWorkbench(server, options);
      windows.push(window);
      return window;
    },
    expectError: (pattern) => expected.push(pattern),
  };
  let timer: NodeJS.Timeout | undefined;
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
  } catch (error) {
    const said: string[] = [];
    for (const [index, window] of windows.entries()) {
      const shot = `FAILED-${name.replace(/\W+/g, '-')}-${index + 1}`;
      const path = await screenshot(window, shot).catch(() => 'no screenshot');
      said.push(`screenshot ${path}`, ...window.errors.slice(-10).map((text) => text.slice(0, 600)));
    }
    throw new Error(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n${said.join('\n')}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    for (const window of windows) await window.close().catch(() => undefined);
    await Promise.all(servers.map((server) => server.stop()));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
