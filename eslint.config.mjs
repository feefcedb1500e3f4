import tseslint from 'typescript-eslint';
import { layers } from './scripts/layers.mjs';

/** Modules that do something outside the program. */
const effects = [
  'vscode',
  'fs',
  'node:fs',
  'fs/promises',
  'node:fs/promises',
  'http',
  'node:http',
  'https',
  'node:https',
  'net',
  'node:net',
  'tls',
  'node:tls',
  'child_process',
  'node:child_process',
  'worker_threads',
  'node:worker_threads',
  'os',
  'node:os',
];
const folders = Object.keys(layers);
/** The rule that files import none of these folders of src/, and none of these modules. */
const importsNoneOf = (files, forbidden, modules = []) => ({
  files,
  rules: {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      {
        paths: modules.map((name) => ({ name, message: 'core has no effects: take the value as a parameter' })),
        patterns: forbidden.map((name) => ({
          regex: `^(\\.\\./)+${name}(/|$)`,
          message: `this folder may not import src/${name}: see scripts/layers.mjs`,
        })),
      },
    ],
  },
});

export default tseslint.config(
  { ignores: ['dist', 'coverage', 'node_modules', '.vscode-test', 'test-results'] },
  ...tseslint.configs.strictTypeChecked.map((config) => ({
    ...config,
    files: ['src/**/*.ts', 'test/**/*.ts', 'webview-ui/**/*.{ts,tsx}'],
  })),
  {
    files: ['src/**/*.ts', 'test/**/*.ts', 'webview-ui/**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unnecessary-condition': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'no-console': 'error',
    },
  },
  ...Object.entries(layers).map(([name, allowed]) =>
    importsNoneOf(
      [`src/${name}/**/*.ts`],
      ['extension', ...folders.filter((other) => other !== name && !allowed.includes(other))],
      name === 'core' ? effects : [],
    ),
  ),
  {
    // The webview runs in another process: of the extension it knows the protocol, and types and pure functions of the core.
    files: ['webview-ui/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: effects.map((name) => ({ name, message: 'the webview is a web page' })),
          patterns: [
            {
              regex: '^(\\.\\./)+src/(?!panel/protocol$|core/)',
              message: 'of src/ the webview may import panel/protocol and core alone',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.test.{ts,tsx}', 'test/**/*.ts', 'webview-ui/src/testing.tsx'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-restricted-imports': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/require-await': 'off',
      'no-console': 'off',
    },
  },
);
