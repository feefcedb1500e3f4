import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { Server, ServerOptions } from './workbench/server';
import { freePort, startServer, temporaryFolder } from './workbench/server';
import type { Workbench, WorkbenchOptions } from './workbench/workbench';
import { keptContext, openWorkbench, screenshot } from './workbench/workbench';
import { runInHelper, closeParts, useSettings } from './workbench/helper';
import { dismiss } from './workbench/quick-input';

/** What the scenarios run on. */
export interface TestTarget {
  /** Folder with the installed extension. */
  readonly extensionsDir: string;
  readonly extensionId: string;
  /** The bundled in-host suite, for `testsPath` of `openOn`. */
  readonly suite: string;
}

/** What a scenario may use. Each exported async function in `scenarios/` is a scenario. */
export interface Bed extends TestTarget {
  /** Creates a folder with these files (path → content), which is removed afterwards. */
  folder(files?: Readonly<Record<string, string>>): string;
  /** Starts VS Code with the extension, and opens a window. Both are closed afterwards. */
  open(options?: ServerOptions & WorkbenchOptions): Promise<Workbench>;
  /** Opens another window on a running server. */
  openOn(server: Server, options?: WorkbenchOptions): Promise<Workbench>;
  /** Prints a line after the scenario's result. */
  report(text: string): void;
  /**
   * Declares that a console error is expected; other errors that name the extension fail the
   * scenario.
   */
  expectError(pattern: RegExp): void;
  /** Does this work after windows and servers have ended. */
  atEnd(work: () => Promise<unknown>): void;
}

/**
 * Time limit of a scenario in seconds. It is long, so that it only ends scenarios that hang, even
 * on a busy machine.
 */
const LIMIT_S = 1_800;

export interface Scenario {
  (bed: Bed): Promise<void>;
  /** Approximate seconds on an idle machine, for slow scenarios; the slowest start first. */
  readonly seconds?: number;
  /** With "long", the scenario runs only before a release (npm run test:long). */
  readonly lane?: 'long';
}

export type SharedScenario = (bench: Workbench, bed: Bed) => Promise<void>;

/**
 * Scenarios that run in the same window one after another, since opening a window takes long.
 * Scenarios of several files share one if they use the same `open` function. View and settings are
 * reset for each; scenarios create everything else that they need.
 */
export interface SharedScenarios {
  readonly open: (bed: Bed) => Promise<Workbench>;
  readonly scenarios: Readonly<Record<string, SharedScenario>>;
  readonly seconds?: number;
  /**
   * True if the scenarios are part of the smoke test in `npm test`, which should need only one
   * window.
   */
  readonly isSmoke?: boolean;
}

/**
 * A place where scenarios run one after another. The first window of each scenario reuses the
 * previous one's address and browser context. The context is emptied in between but keeps the
 * workbench's scripts cached, which saves two thirds of the time to open a window.
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

  /** Resets everything after a failure. */
  async renew(): Promise<void> {
    await this.#context?.close();
    this.#context = undefined;
    this.#port = undefined;
  }
}

/** A test bed while it is in use, by one scenario or by several in one window. */
class Stage {
  readonly bed: Bed;
  readonly #place: Place;
  readonly #folders: string[] = [];
  readonly #servers: Server[] = [];
  readonly #windows: Workbench[] = [];
  readonly #atEnd: (() => Promise<unknown>)[] = [];
  #expected: RegExp[] = [];
  #reported: string[] = [];

  constructor(tested: TestTarget, place: Place) {
    this.#place = place;
    const { extensionsDir } = tested;
    this.bed = {
      ...tested,
      folder: (files = {}) => {
        const folder = temporaryFolder('folder');
        this.#folders.push(folder);
        for (const [path, content] of Object.entries(files)) {
          mkdirSync(dirname(join(folder, path)), { recursive: true });
          writeFileSync(join(folder, path), content);
        }
        return folder;
      },
      open: async (options = {}) => {
        const isFirst = this.#servers.length === 0;
        const server = await startServer({ extensionsDir, ...(isFirst && { port: await place.port() }), ...options });
        this.#servers.push(server);
        if (!isFirst) return this.bed.openOn(server, options);
        return this.#opened(await openWorkbench(server, options, await place.context()));
      },
      openOn: async (server, options = {}) => this.#opened(await openWorkbench(server, options)),
      report: (text) => this.#reported.push(text),
      expectError: (pattern) => this.#expected.push(pattern),
      atEnd: (work) => this.#atEnd.push(work),
    };
  }

  #opened(window: Workbench): Workbench {
    this.#windows.push(window);
    return window;
  }

  /**
   * Runs a scenario with a time limit. If it fails, takes a screenshot and reads the page's text.
   * @returns the report
   */
  async run(name: string, scenario: Scenario): Promise<readonly string[]> {
    const { extensionId } = this.bed;
    this.#reported = [];
    this.#expected = [];
    const before = this.#windows.map(({ errors }) => errors.length);
    let timer: NodeJS.Timeout | undefined;
    try {
      const limit = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => {
          reject(new Error(`the scenario took more than ${LIMIT_S} s`));
        }, LIMIT_S * 1000);
      });
      await Promise.race([scenario(this.bed), limit]);
      const errors = this.#windows
        .flatMap((window, index) => window.errors.slice(before[index] ?? 0))
        .filter((text) => text.toLowerCase().includes(extensionId.toLowerCase()));
      const surprises = errors.filter((text) => !this.#expected.some((pattern) => pattern.test(text)));
      if (surprises.length > 0) throw new Error(`errors of the extension on the console:\n${surprises.join('\n')}`);
      return this.#reported;
    } catch (error) {
      const said: string[] = [];
      for (const [index, window] of this.#windows.entries()) {
        const shot = `FAILED-${name.replace(/\W+/g, '-')}-${index + 1}`;
        const path = await screenshot(window, shot).catch(() => 'no screenshot');
        const log = window.server.outputText('Context Condenser').trimEnd().split('\n').slice(-10);
        said.push(`screenshot ${path}`, ...[...window.errors.slice(-10), ...log].map((text) => text.slice(0, 600)));
      }
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      throw new Error(`${text}\n${said.join('\n')}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async end(isWell: boolean): Promise<void> {
    for (const window of this.#windows) await window.close().catch(() => undefined);
    await Promise.all(this.#servers.map((server) => server.stop()));
    for (const work of this.#atEnd) await work();
    if (!isWell) await this.#place.renew();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export async function runScenario(
  name: string,
  scenario: Scenario,
  tested: TestTarget,
  place: Place,
): Promise<readonly string[]> {
  const stage = new Stage(tested, place);
  let isWell = false;
  try {
    const reported = await stage.run(name, scenario);
    isWell = true;
    return reported;
  } finally {
    await stage.end(isWell);
  }
}

/** Resets a window, but neither its files nor the extension's state. */
async function clear(bench: Workbench): Promise<void> {
  await dismiss(bench);
  await bench.page.setViewportSize(bench.size);
  await useSettings(bench);
  await runInHelper(bench, { commands: [['workbench.view.explorer']] });
  await closeParts(bench, 'editors', 'panel', 'notifications');
}

/**
 * Runs scenarios in a shared window, one after another. After a failure, the next one gets a new
 * window.
 * @param test runs a scenario and reports it.
 */
export async function runShared(
  scenarios: readonly (readonly [name: string, scenario: SharedScenario])[],
  open: SharedScenarios['open'],
  tested: TestTarget,
  place: Place,
  test: (name: string, body: () => Promise<readonly string[]>) => Promise<void>,
): Promise<void> {
  let stage: Stage | undefined;
  let bench: Workbench | undefined;
  for (const [name, scenario] of scenarios)
    await test(name, async () => {
      stage ??= new Stage(tested, place);
      try {
        return await stage.run(name, async (bed) => {
          if (bench) await clear(bench);
          else bench = await open(bed);
          await scenario(bench, bed);
        });
      } catch (error) {
        await stage.end(false);
        stage = bench = undefined;
        throw error;
      }
    });
  await stage?.end(true);
}
