import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests that put a double in the place of a module: what was loaded before them would not see it. */
const ALONE = ['src/background/{perform,readOnce}.test.ts'];

/**
 * Tests beside the code that take longest since they try many cases. Coverage, which makes them half as long again, is reached without
 * them.
 */
const MANY_CASES = [
  'src/api/rules.property.test.ts',
  'src/agent/{heavyChats,keptThinking}.test.ts',
  'src/conversations/{fitSessions,robustness.property}.test.ts',
  'src/core/condense/lossless/{incremental,properties,steps}.test.ts',
  'src/core/tokens/o200k/{corpus,counter,scanner}.test.ts',
  'src/live/{live.property,thresholds}.test.ts',
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
          name: 'rest',
          include: ['src/**/*.test.ts'],
          exclude: [...ALONE, ...MANY_CASES],
          globalSetup: ['test/support/bundles.ts'],
          setupFiles: ['test/support/setup.ts', 'test/support/newWindow.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'pages',
          include: ['webview-ui/src/**/*.test.{ts,tsx}'],
          environment: 'jsdom',
          globalSetup: ['test/support/bundles.ts'],
          setupFiles: ['test/support/setup.ts', 'test/support/newWindow.ts', 'webview-ui/src/newPage.ts'],
        },
      },
      {
        extends: true,
        test: {
          // Through all of it, or many cases: `npm test` runs them without coverage.
          name: 'whole',
          include: ['test/{unit,integration,servers}/**/*.test.ts', ...MANY_CASES],
          globalSetup: ['test/support/bundles.ts'],
          setupFiles: ['test/support/setup.ts', 'test/support/newWindow.ts'],
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
    expect: { poll: { timeout: 120_000 } },
    // The toolkit's packages are written for a bundler: Node would not find their files.
    server: { deps: { inline: [/@microsoft\/fast-/, /@vscode\/webview-ui-toolkit/] } },
    coverage: {
      provider: 'custom',
      customProviderModule: 'test/support/coverage.ts',
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
        'webview-ui/src/{newPage,setup}.ts',
      ],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { branches: 90, lines: 90, functions: 90, statements: 90 },
    },
  },
});
