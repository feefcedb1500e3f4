import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The file name marks tests that start processes or threads, kill them, or take seconds. */
const SYSTEM_TESTS = '{src,test}/**/*.system.test.ts';

const support = (name: string): string => fileURLToPath(new URL(`test/support/${name}`, import.meta.url));
const setupFiles = ['test/support/setup.ts', 'test/support/newWindow.ts'];
/** Our workers run in the tests' process. Only system tests use threads. */
const inProcess = { alias: { 'node:worker_threads': support('workerThreads.ts') } };

export default defineConfig({
  resolve: {
    // The module "vscode" exists only in VS Code, so its double does what the tests need.
    alias: { vscode: support('vscode.ts') },
  },
  test: {
    // Each project is a kind of test: `npx vitest run --project unit`.
    projects: [
      {
        extends: true,
        resolve: inProcess,
        test: {
          name: 'unit',
          include: ['{src,test}/**/*.test.ts'],
          exclude: [SYSTEM_TESTS, 'test/e2e/**'],
          setupFiles,
          globalSetup: ['test/support/ranks.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'system', include: [SYSTEM_TESTS], setupFiles, globalSetup: ['test/support/bundles.ts'] },
      },
      {
        extends: true,
        resolve: inProcess,
        test: {
          name: 'panel',
          include: ['webview-ui/src/**/*.test.{ts,tsx}'],
          environment: 'jsdom',
          setupFiles: [...setupFiles, 'webview-ui/src/newPage.ts'],
          globalSetup: ['test/support/ranks.ts'],
        },
      },
    ],
    // The files of a worker share their modules, which would otherwise take a third of the tests'
    // time. A test therefore undoes what it changes.
    isolate: false,
    unstubEnvs: true,
    unstubGlobals: true,
    // Only a test that hangs reaches this limit. On a busy machine a second of CPU time may take
    // half a minute.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // The toolkit's packages are written for a bundler, and Node would not find their files.
    server: { deps: { inline: [/@microsoft\/fast-/, /@vscode\/webview-ui-toolkit/] } },
    coverage: {
      include: ['src/**/*.ts', 'webview-ui/src/**/*.ts'],
      // Entry points run in their own processes and threads, and the page's components in the real
      // VS Code.
      exclude: [
        '**/*.test.{ts,tsx}',
        'src/**/types.ts',
        '**/testing.{ts,tsx}',
        'src/cli/main.ts',
        'src/extension.ts',
        'src/**/worker.ts',
        'webview-ui/src/{newPage,setup}.ts',
      ],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { branches: 90, lines: 90, functions: 90, statements: 90 },
    },
  },
});
