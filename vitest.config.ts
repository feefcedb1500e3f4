import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** A test that starts processes or threads, kills them, or takes seconds says so in its file's name. */
const SYSTEM_TESTS = '{src,test}/**/*.system.test.ts';

const support = (name: string): string => fileURLToPath(new URL(`test/support/${name}`, import.meta.url));
const setupFiles = ['test/support/setup.ts', 'test/support/newWindow.ts'];
/** Our workers run in the process of the tests: threads are for the system tests. */
const inProcess = { alias: { 'node:worker_threads': support('workerThreads.ts') } };

export default defineConfig({
  resolve: {
    // Outside VS Code there is no module "vscode": its double does what the tests need.
    alias: { vscode: support('vscode.ts') },
  },
  test: {
    // The kinds of test: `npx vitest run --project unit`.
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
    // The files of a worker share their modules, which would otherwise cost a third of the tests' time: a test undoes what it changes.
    isolate: false,
    unstubEnvs: true,
    unstubGlobals: true,
    // Long enough that only a test that hangs reaches it: on a busy machine a second of processor time may take half a minute.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // The toolkit's packages are written for a bundler: Node would not find their files.
    server: { deps: { inline: [/@microsoft\/fast-/, /@vscode\/webview-ui-toolkit/] } },
    coverage: {
      include: ['src/**/*.ts', 'webview-ui/src/**/*.ts'],
      // Entry points of processes and threads run in processes of their own; the page's components, in the real VS Code.
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
