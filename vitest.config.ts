import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * Tests with modules of their own: those of what belongs to a window, whose double of VS Code remembers who listens to it; those that put
 * a double in the place of one of Node's modules, which what was loaded before would not see; and those of pages, whose components and
 * elements hold on to the page in which they were loaded.
 */
const ALONE = [
  'src/{agent,background,commands,extensionApi,panel,settings,views,window}/**/*.test.ts',
  'src/*.test.ts',
  'webview-ui/src/**/*.test.{ts,tsx}',
];

export default defineConfig({
  resolve: {
    // Outside VS Code there is no module "vscode": its double does what the tests need.
    alias: { vscode: fileURLToPath(new URL('test/support/vscode.ts', import.meta.url)) },
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'core',
          include: ['src/core/**/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'rest',
          include: ['src/!(core)/**/*.test.ts'],
          exclude: ALONE,
          globalSetup: ['test/support/bundles.ts'],
        },
      },
      {
        extends: true,
        test: {
          // Many cases, through all of it: `npm test` runs them without coverage, which takes half as long again and which the tests
          // beside the code reach by themselves.
          name: 'whole',
          include: ['test/{unit,integration,servers}/**/*.test.ts'],
          globalSetup: ['test/support/bundles.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, isolate: true, globalSetup: ['test/support/bundles.ts'] },
      },
    ],
    // The files of a worker share their modules, which are else a third of what the tests cost: what a test changes, it changes back.
    isolate: false,
    unstubEnvs: true,
    unstubGlobals: true,
    setupFiles: ['test/support/setup.ts'],
    // It says of a test that hangs, and not of a machine that is busy: a second of processor time may take half a minute on it.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // The toolkit's packages are written for a bundler: Node would not find their files.
    server: { deps: { inline: [/@microsoft\/fast-/, /@vscode\/webview-ui-toolkit/] } },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'webview-ui/src/**/*.ts'],
      // Entry points of processes and threads are run by the integration and end-to-end tests in processes of their own;
      // the page's components by those in the real VS Code.
      exclude: [
        '**/*.test.{ts,tsx}',
        'src/**/types.ts',
        '**/testing.{ts,tsx}',
        'src/cli/main.ts',
        'src/extension.ts',
        'src/**/worker.ts',
        'webview-ui/src/setup.ts',
      ],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { branches: 90, lines: 90, functions: 90, statements: 90 },
    },
  },
});
