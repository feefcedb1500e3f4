import { existsSync, globSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeSkippedTests, type Finding } from '../../scripts/preflight.mjs';
import { ensureCodeServer } from '../../scripts/vscode.mjs';
import type { Scenario, SharedScenarios, SharedScenario, TestTarget } from './bed';
import { Place, runScenario, runShared } from './bed';
import { addSuiteResults, hostExtension } from './host';
import {
  checkFiles,
  checkNoProposedApi,
  checkSize,
  installedFiles,
  readManifest,
  packageExtension,
  packedFiles,
} from './package';
import { Report } from './report';
import { extensionVariable, onlyVariable, resultsVariable } from './suite/names';
import { installHelper } from './workbench/helper';
import { installExtension, startServer, temporaryFolder } from './workbench/server';
import { until } from './workbench/wait';
import { closeBrowser, openWorkbench } from './workbench/workbench';

/**
 * Number of scenarios that run at the same time. Each mostly waits for its window to draw, and two
 * of them fill two cores.
 */
const PLACES = Math.min(2, availableParallelism());

export interface Target {
  /** The folder of the extension's package.json. */
  readonly extension: string;
  /** The bundled suite that runs in the extension host. */
  readonly suite: string;
  /**
   * Folder of the bundled extension that uses the product's API and is loaded with the suite; the
   * probe has none.
   */
  readonly sample: string | undefined;
  readonly scenarios: string;
  /** Runs only tests whose name contains one of these. Default: all. */
  readonly only: readonly string[];
  /** Runs only the smoke scenarios, without the in-host suite. */
  readonly isSmoke: boolean;
  /** Runs also the scenarios of `npm run test:long`. */
  readonly isLong: boolean;
  readonly repeat: number;
  /** What the machine lacks for tests in VS Code. */
  readonly missing: readonly Finding[];
}

const words = (name: string): string => name.replace(/([A-Z])/g, ' $1').toLowerCase();

async function runSuite(
  report: Report,
  { suite, sample, only }: Target,
  extensionsDir: string,
  extensionId: string,
): Promise<void> {
  const folder = temporaryFolder('workspace');
  const results = join(temporaryFolder('results'), 'results.jsonl');
  const env = { [resultsVariable]: results, [onlyVariable]: only.join('\n'), [extensionVariable]: extensionId };
  const server = await startServer({ extensionsDir, env });
  try {
    const window = await openWorkbench(server, {
      folder,
      developmentExtensions: [hostExtension, ...(sample === undefined ? [] : [sample])],
      testsPath: suite,
    });
    let code: number | undefined;
    void window.exited.then((value) => (code = value));
    try {
      addSuiteResults(
        report,
        results,
        (await until('the in-host suite to end', () => (code === undefined ? undefined : { code }), 300_000)).code,
      );
    } catch (error) {
      report.add('in host: the suite ends', 300, `${String(error)}\n${window.printed.slice(-30).join('\n')}`);
    }
    await window.close();
  } finally {
    await server.stop();
    for (const path of [folder, join(results, '..')]) rmSync(path, { recursive: true, force: true });
  }
}

/** A scenario, or several that share a window. */
interface Turn {
  readonly count: number;
  readonly seconds: number;
  run(tested: TestTarget, place: Place, report: Report): Promise<void>;
}

/** Lists the scenarios with the names that the report shows, slowest first. */
async function listTurns({ scenarios, only, isSmoke, isLong, repeat }: Target): Promise<Turn[]> {
  const isWanted = (name: string): boolean => only.length === 0 || only.some((text) => name.includes(text));
  const found: Turn[] = [];
  type Windows = Map<SharedScenarios['open'], { readonly wanted: [string, SharedScenario][]; seconds: number }>;
  const shared: Windows = new Map();
  // The smoke test has its own window, because it depends on the initial state.
  const ofSmoke: Windows = new Map();
  for (const file of globSync(join(scenarios, '*.mjs')).toSorted()) {
    const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    for (const [key, scenario] of Object.entries(module)) {
      const makeName = (part: string): string => `${basename(file, '.mjs')}: ${words(part)}`;
      if (typeof scenario === 'object') {
        const { open, scenarios: all, seconds = 0, isSmoke: isOfSmoke = false } = scenario as SharedScenarios;
        const wanted = Object.entries(all)
          .map(([part, one]): [string, SharedScenario] => [makeName(part), one])
          .filter(([name]) => isWanted(name));
        if (wanted.length === 0 || (isSmoke && !isOfSmoke) || (only.length === 0 && isLong)) continue;
        const windows = isOfSmoke ? ofSmoke : shared;
        const window = windows.get(open) ?? { wanted: [], seconds: 0 };
        window.wanted.push(...wanted);
        window.seconds += seconds;
        windows.set(open, window);
        continue;
      }
      const name = makeName(key);
      if (typeof scenario !== 'function' || isSmoke || !isWanted(name)) continue;
      const test = scenario as Scenario;
      if (only.length > 0 || (test.lane === 'long') === isLong)
        found.push({
          count: 1,
          seconds: test.seconds ?? 0,
          run: (tested, place, report) => report.test(name, () => runScenario(name, test, tested, place)),
        });
    }
  }
  for (const [open, { wanted, seconds }] of [...shared, ...ofSmoke])
    found.push({
      count: wanted.length,
      seconds,
      run: (tested, place, report) => runShared(wanted, open, tested, place, (name, body) => report.test(name, body)),
    });
  const inOrder = found.toSorted((a, b) => b.seconds - a.seconds);
  return Array.from({ length: repeat }, () => inOrder).flat();
}

export async function main(target: Target): Promise<number> {
  const report = new Report();
  const manifest = readManifest(target.extension);
  const extensionId = `${manifest.publisher}.${manifest.name}`;
  let packed: { readonly files: readonly string[]; readonly vsix: string } | undefined;
  await report.test('package: is made', async () => {
    const vsix = await packageExtension(target.extension);
    packed = { files: packedFiles(vsix), vsix };
  });
  if (packed === undefined) return report.end();
  const { files, vsix } = packed;
  if (target.only.length === 0) {
    await report.test('package: only what users need', () => {
      checkFiles(files);
    });
    await report.test('package: at most 4.5 MB', () => {
      checkSize(vsix);
    });
    await report.test('package: no proposed API', () => {
      checkNoProposedApi(target.extension);
    });
  }

  const turns = await listTurns(target);
  if (target.missing.length > 0) {
    console.log(describeSkippedTests(target.missing));
    report.skip(turns.reduce((sum, { count }) => sum + count, target.isLong || target.isSmoke ? 0 : 1));
    return report.end();
  }
  const extensionsDir = temporaryFolder('extensions');
  try {
    await ensureCodeServer();
    await installExtension(vsix, extensionsDir);
    if (target.only.length === 0) {
      await report.test('package: what is installed', () => {
        const installed = installedFiles(extensionsDir, manifest);
        checkFiles(installed.files);
        checkNoProposedApi(installed.folder);
      });
    }
    // The suite measures activation, so nothing else runs at the same time.
    if (!target.isLong && !target.isSmoke) await runSuite(report, target, extensionsDir, extensionId);
    installHelper(extensionsDir);
    const tested = { extensionsDir, extensionId, suite: target.suite };
    const waiting = turns.values();
    const inTurn = async (place: Place): Promise<void> => {
      for (const turn of waiting) await turn.run(tested, place, report);
    };
    await Promise.all(Array.from({ length: PLACES }, () => inTurn(new Place())));
  } catch (error) {
    report.add('the tests in VS Code could run', 0, error instanceof Error ? error : String(error));
  } finally {
    await closeBrowser();
    if (existsSync(extensionsDir)) rmSync(extensionsDir, { recursive: true, force: true, maxRetries: 5 });
  }
  return report.end();
}
