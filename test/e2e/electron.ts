import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  downloadAndUnzipVSCode,
  resolveCliArgsFromVSCodeExecutablePath,
  runTests,
  TestRunFailedError,
} from '@vscode/test-electron';
import { cacheFolder, environment } from '../../scripts/vscode.mjs';
import { addSuiteResults, hostExtension } from './host';
import { readManifest, packageExtension } from './package';
import { Report } from './report';
import type { Target } from './run';
import { extensionVariable, onlyVariable, resultsVariable } from './suite/names';
import { runProcess } from './workbench/processes';
import { temporaryFolder } from './workbench/server';

/**
 * Runs the in-host suite in a desktop VS Code: VSCODE_TEST_EXECUTABLE, or else the version
 * VSCODE_TEST_VERSION (default "stable"), which is downloaded to `.vscode-test`. On Linux without a
 * display, use `xvfb-run -a npm run test:electron`.
 */
export async function main({ extension, suite, sample, only }: Target): Promise<number> {
  const report = new Report();
  const { publisher, name } = readManifest(extension);
  const vsix = await packageExtension(extension);
  // The path is short, because the path of VS Code's socket in the data folder is limited to about
  // 100 characters.
  const scratch = temporaryFolder('desktop');
  const folders = {
    data: join(scratch, 'data'),
    extensions: join(scratch, 'ext'),
    home: join(scratch, 'home'),
    workspace: join(scratch, 'ws'),
  };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  const settings = join(folders.data, 'User', 'settings.json');
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(
    settings,
    JSON.stringify({ 'telemetry.telemetryLevel': 'off', 'workbench.startupEditor': 'none', 'update.mode': 'none' }),
  );
  const results = join(scratch, 'results.jsonl');
  // X11 programs look for this file in the home folder, which the tests replace.
  const authority = process.env['XAUTHORITY'] ?? join(homedir(), '.Xauthority');
  try {
    const executable =
      process.env['VSCODE_TEST_EXECUTABLE'] ??
      (await downloadAndUnzipVSCode({
        version: process.env['VSCODE_TEST_VERSION'] ?? 'stable',
        cachePath: cacheFolder,
      }));
    const [cli, ...cliArguments] = resolveCliArgsFromVSCodeExecutablePath(executable, { reuseMachineInstall: true });
    if (cli === undefined) throw new Error(`no command line beside ${executable}`);
    const place = [`--user-data-dir=${folders.data}`, `--extensions-dir=${folders.extensions}`];
    await runProcess(cli, [...cliArguments, ...place, '--install-extension', vsix, '--force'], { env: environment() });
    let code: number;
    try {
      code = await runTests({
        vscodeExecutablePath: executable,
        reuseMachineInstall: true,
        extensionDevelopmentPath: [hostExtension, ...(sample === undefined ? [] : [sample])],
        extensionTestsPath: suite,
        launchArgs: [
          folders.workspace,
          ...place,
          '--disable-workspace-trust',
          '--skip-welcome',
          '--skip-release-notes',
          '--disable-gpu',
          '--no-sandbox',
          '--password-store=basic',
        ],
        extensionTestsEnv: {
          [resultsVariable]: results,
          [onlyVariable]: only.join('\n'),
          [extensionVariable]: `${publisher}.${name}`,
          // This must never be the developer's home, because the suite writes conversations.
          HOME: folders.home,
          USERPROFILE: folders.home,
          ...(existsSync(authority) ? { XAUTHORITY: authority } : {}),
        },
      });
    } catch (error) {
      if (!(error instanceof TestRunFailedError)) throw error;
      code = error.code ?? 1;
    }
    addSuiteResults(report, results, code);
  } catch (error) {
    report.add('the suite in a desktop VS Code could run', 0, error instanceof Error ? error : String(error));
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
  return report.end();
}
