import { existsSync, globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { skipWords, type Finding } from '../../scripts/preflight.mjs';
import { ensureCodeServer } from '../../scripts/vscode.mjs';
import type { Scenario } from './bed';
import { runScenario } from './bed';
import { addSuiteResults, hostExtension } from './host';
import {
  checkFiles,
  checkNoProposedApi,
  checkSize,
  installedFiles,
  listFiles,
  manifestOf,
  packageExtension,
} from './package';
import { Report } from './report';
import { extensionVariable, onlyVariable, resultsVariable } from './suite/names';
import { installExtension, startServer, temporaryFolder } from './workbench/server';
import { until } from './workbench/wait';
import { closeBrowser, openWorkbench } from './workbench/workbench';

/** A scenario clicks in a window that two slow cores draw: one that fails for that is run once more, and both runs are printed. */
const RETRIES = 1;

export interface Target {
  /** The folder of the extension's package.json. */
  readonly extension: string;
  /** The bundled in-host suite. */
  readonly suite: string;
  /** The folder of the bundled extension that uses the product's API and runs beside the suite; the probe has none. */
  readonly sample: string | undefined;
  /** The folder of the bundled scenarios. */
  readonly scenarios: string;
  /** Only tests whose name contains this. */
  readonly only: string;
  /** What the machine lacks for the tests in VS Code. */
  readonly missing: readonly Finding[];
}

/** "condensesATranscript" → "condenses a transcript". */
const words = (name: string): string => name.replace(/([A-Z])/g, ' $1').toLowerCase();

async function runSuite(
  report: Report,
  { suite, sample, only }: Target,
  extensionsDir: string,
  extensionId: string,
): Promise<void> {
  const folder = temporaryFolder('workspace');
  const results = join(temporaryFolder('results'), 'results.jsonl');
  const env = { [resultsVariable]: results, [onlyVariable]: only, [extensionVariable]: extensionId };
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

/** The scenarios to run, by the names under which they are reported. */
async function scenariosOf({ scenarios, only }: Target): Promise<Map<string, Scenario>> {
  const found = new Map<string, Scenario>();
  for (const file of globSync(join(scenarios, '*.mjs')).toSorted()) {
    const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    for (const [key, scenario] of Object.entries(module)) {
      const name = `${basename(file, '.mjs')}: ${words(key)}`;
      if (typeof scenario === 'function' && name.includes(only)) found.set(name, scenario as Scenario);
    }
  }
  return found;
}

export async function main(target: Target): Promise<number> {
  const report = new Report();
  const manifest = manifestOf(target.extension);
  const extensionId = `${manifest.publisher}.${manifest.name}`;
  let packed: { readonly files: readonly string[]; readonly vsix: string } | undefined;
  await report.test('package: is made', async () => {
    const files = await listFiles(target.extension);
    packed = { files, vsix: await packageExtension(target.extension, files) };
  });
  if (packed === undefined) return report.end();
  const { files, vsix } = packed;
  if (target.only === '') {
    await report.test('package: only what users need', () => {
      checkFiles(files);
    });
    await report.test('package: at most 4 MB', () => {
      checkSize(vsix);
    });
    await report.test('package: no proposed API', () => {
      checkNoProposedApi(target.extension);
    });
  }

  const scenarios = await scenariosOf(target);
  if (target.missing.length > 0) {
    console.log(skipWords(target.missing));
    // The in-host suite counts as one.
    report.skip(scenarios.size + 1);
    return report.end();
  }
  const extensionsDir = temporaryFolder('extensions');
  try {
    await ensureCodeServer();
    await installExtension(vsix, extensionsDir);
    if (target.only === '') {
      await report.test('package: what is installed', () => {
        const installed = installedFiles(extensionsDir, manifest);
        checkFiles(installed.files);
        checkNoProposedApi(installed.folder);
      });
    }
    await runSuite(report, target, extensionsDir, extensionId);
    const tested = { extensionsDir, extensionId, suite: target.suite };
    for (const [name, scenario] of scenarios) {
      await report.test(name, () => runScenario(name, scenario, tested), RETRIES);
    }
  } catch (error) {
    report.add('the tests in VS Code could run', 0, error instanceof Error ? error : String(error));
  } finally {
    await closeBrowser();
    if (existsSync(extensionsDir)) rmSync(extensionsDir, { recursive: true, force: true, maxRetries: 5 });
  }
  return report.end();
}
