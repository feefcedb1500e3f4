// The linter's rules: `npm run lint`. They are those of typescript-eslint's "strict, type-checked" set, run by oxlint on TypeScript's own
// native compiler, in a tenth of the time; its set has no name there, so it is written down.
import { floors, layers } from './scripts/layers.mjs';

/** These modules have effects outside the program. */
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
/** Files of src/core may import none of these. */
const outsideCore = ['extension', ...folders.filter((name) => name !== 'core' && !(name in floors['src/core']))];
/**
 * Creates a rule for each folder of a layer table. A later rule replaces an earlier one, so each
 * rule lists everything that its files may not import.
 */
const createFolderRules = (plan, above) =>
  Object.entries(floors[plan]).map(([name, allowed]) => {
    const siblings = Object.keys(floors[plan]).filter((other) => other !== name && !allowed.includes(other));
    return forbidImports([`${plan}/${name}/**/*.ts`], [...above, ...siblings], effects);
  });
const forbiddenToCondense = Object.keys(floors['src/core']).filter(
  (name) => name !== 'condense' && !floors['src/core'].condense.includes(name),
);
/**
 * Returns the rule that these files import none of these folders of src/ and none of these
 * modules.
 */
const forbidImports = (files, forbidden, modules = []) => ({
  files,
  rules: {
    'no-restricted-imports': [
      'error',
      {
        paths: modules.map((name) => ({ name, message: 'core has no effects: take the value as a parameter' })),
        patterns: forbidden.map((name) => ({
          regex: `^(\\.\\./)+${name}(/|$)`,
          message: `this folder may not import ${name}: see scripts/layers.mjs`,
        })),
      },
    ],
  },
});

const strict = {
  'typescript/await-thenable': 'error',
  'typescript/ban-ts-comment': ['error', { minimumDescriptionLength: 10 }],
  'typescript/consistent-type-imports': 'error',
  'no-array-constructor': 'error',
  'typescript/no-array-delete': 'error',
  'typescript/no-base-to-string': 'error',
  'typescript/no-confusing-void-expression': 'error',
  'typescript/no-deprecated': 'error',
  'typescript/no-duplicate-enum-values': 'error',
  'typescript/no-duplicate-type-constituents': 'error',
  'typescript/no-dynamic-delete': 'error',
  'typescript/no-empty-object-type': 'error',
  'typescript/no-explicit-any': 'error',
  'typescript/no-extra-non-null-assertion': 'error',
  'typescript/no-extraneous-class': 'error',
  'typescript/no-floating-promises': 'error',
  'typescript/no-for-in-array': 'error',
  'typescript/no-generated-empty-object-type': 'error',
  'typescript/no-implied-eval': 'error',
  'typescript/no-invalid-void-type': 'error',
  'typescript/no-meaningless-void-operator': 'error',
  'typescript/no-misused-new': 'error',
  'typescript/no-misused-promises': 'error',
  'typescript/no-misused-spread': 'error',
  'typescript/no-mixed-enums': 'error',
  'typescript/no-namespace': 'error',
  'typescript/no-non-null-asserted-nullish-coalescing': 'error',
  'typescript/no-non-null-asserted-optional-chain': 'error',
  'typescript/no-non-null-assertion': 'error',
  'typescript/no-redundant-type-constituents': 'error',
  'typescript/no-require-imports': 'error',
  'typescript/no-this-alias': 'error',
  'typescript/no-unnecessary-boolean-literal-compare': 'error',
  'typescript/no-unnecessary-condition': 'error',
  'typescript/no-unnecessary-template-expression': 'error',
  'typescript/no-unnecessary-type-arguments': 'error',
  'typescript/no-unnecessary-type-assertion': 'error',
  'typescript/no-unnecessary-type-constraint': 'error',
  'typescript/no-unnecessary-type-conversion': 'error',
  'typescript/no-unnecessary-type-parameters': 'error',
  'typescript/no-unsafe-argument': 'error',
  'typescript/no-unsafe-assignment': 'error',
  'typescript/no-unsafe-call': 'error',
  'typescript/no-unsafe-declaration-merging': 'error',
  'typescript/no-unsafe-enum-comparison': 'error',
  'typescript/no-unsafe-function-type': 'error',
  'typescript/no-unsafe-member-access': 'error',
  'typescript/no-unsafe-return': 'error',
  'typescript/no-unsafe-unary-minus': 'error',
  'no-unused-expressions': ['error', { allowShortCircuit: false, allowTaggedTemplates: false, allowTernary: false }],
  'no-unused-vars': 'error',
  'no-useless-constructor': 'error',
  'typescript/no-useless-default-assignment': 'error',
  'typescript/no-wrapper-object-types': 'error',
  'typescript/only-throw-error': 'error',
  'typescript/prefer-as-const': 'error',
  'typescript/prefer-literal-enum-member': 'error',
  'typescript/prefer-namespace-keyword': 'error',
  'typescript/prefer-promise-reject-errors': 'error',
  'typescript/prefer-reduce-type-parameter': 'error',
  'typescript/prefer-return-this-type': 'error',
  'typescript/related-getter-setter-pairs': 'error',
  'typescript/require-await': 'error',
  'typescript/restrict-plus-operands': [
    'error',
    { allowAny: false, allowBoolean: false, allowNullish: false, allowNumberAndString: false, allowRegExp: false },
  ],
  'typescript/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  'typescript/return-await': ['error', 'error-handling-correctness-only'],
  'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  'typescript/triple-slash-reference': 'error',
  'typescript/unbound-method': 'error',
  'typescript/unified-signatures': 'error',
  'typescript/use-unknown-in-catch-callback-variable': 'error',
  'no-console': 'error',
  'no-var': 'error',
  'prefer-const': ['error', { destructuring: 'any', ignoreReadBeforeAssign: false }],
  'prefer-rest-params': 'error',
  'prefer-spread': 'error',
};

/** Functions that show text, and our functions to use instead, which clean text from elsewhere. */
const replacedFunctions = [
  ...[
    ['withProgress', 'showProgress'],
    ['setStatusBarMessage', 'showStatusMessage'],
    ['showInputBox', 'askInput'],
    ['showQuickPick', 'pickOneItem or pickSeveralItems'],
    ['showWorkspaceFolderPick', 'pickOneItem'],
    ['createQuickPick', 'createPicker'],
    ['createInputBox', 'askInput'],
    ['createStatusBarItem', 'EscapedStatusBarItem'],
  ].map(([property, own]) => ({
    property,
    message: `use ${own} of window/notifications: words of others may hold links`,
  })),
  ...['showInformationMessage', 'showWarningMessage', 'showErrorMessage'].map((property) => ({
    property,
    message: 'use the function of that name of window/notifications: words of others may hold links',
  })),
  ...['MarkdownString', 'appendMarkdown', 'markdown'].map((property) => ({
    property,
    message: 'use markdown and say of window/markdownText: words of others may hold links',
  })),
  ...['stdout', 'stderr'].map((property) => ({
    object: 'process',
    property,
    message: 'write through CliIo: words of others may hold escapes for the terminal',
  })),
];

const WEBVIEW_MESSAGE = 'of src/ the webview may import panel/protocol and core alone';
const inTypeScript = ['src/**/*.ts', 'test/**/*.ts', 'webview-ui/**/*.{ts,tsx}'];

export default {
  plugins: ['eslint', 'typescript', 'import'],
  categories: { correctness: 'error' },
  // Reading terminal output requires control characters in regular expressions.
  rules: { 'no-control-regex': 'off' },
  options: { typeAware: true },
  ignorePatterns: ['dist', 'coverage', 'node_modules', '.vscode-test', 'test-results'],
  overrides: [
    { files: inTypeScript, rules: strict },
    { files: ['src/**/*.ts'], rules: { 'no-restricted-properties': ['error', ...replacedFunctions] } },
    // These files contain the functions that others use instead.
    {
      files: [
        ...['src/window/notifications.ts', 'src/window/markdownText.ts'],
        ...['src/cli/main.ts', 'src/cli/start.ts', 'src/cli/mcp/server.ts'],
      ],
      rules: { 'no-restricted-properties': 'off' },
    },
    // Type imports count, too, since files that need each other's types are one unit.
    { files: ['{src,webview-ui}/**/*.{ts,tsx}'], rules: { 'import/no-cycle': ['error', { ignoreTypes: false }] } },
    {
      // JavaScript files have no types, so these rules can't judge their methods and arrays.
      files: ['**/*.{mjs,cjs}'],
      rules: {
        'typescript/await-thenable': 'off',
        'typescript/no-meaningless-void-operator': 'off',
        'typescript/require-array-sort-compare': 'off',
        'typescript/unbound-method': 'off',
      },
    },
    ...Object.entries(layers).map(([name, allowed]) =>
      forbidImports(
        [`src/${name}/**/*.ts`],
        ['extension', ...folders.filter((other) => other !== name && !allowed.includes(other))],
        name === 'core' ? effects : [],
      ),
    ),
    ...createFolderRules('src/core', outsideCore),
    ...createFolderRules('src/core/condense', [...outsideCore, ...forbiddenToCondense]),
    {
      // The webview runs in another process. Of the extension it may import only the protocol, and
      // types and pure functions of the core.
      files: ['webview-ui/**/*.{ts,tsx}'],
      rules: {
        'no-restricted-imports': [
          'error',
          {
            paths: effects.map((name) => ({ name, message: 'the webview is a web page' })),
            patterns: [
              {
                regex: `^(\\.\\./)+src/(extension|${folders.filter((name) => name !== 'core' && name !== 'panel').join('|')})(/|$)`,
                message: WEBVIEW_MESSAGE,
              },
              { group: ['**/src/panel/*', '!**/src/panel/protocol'], message: WEBVIEW_MESSAGE },
            ],
          },
        ],
      },
    },
    {
      files: ['**/*.test.{ts,tsx}', 'test/**/*.ts', 'webview-ui/src/testing.tsx'],
      rules: {
        'typescript/no-non-null-assertion': 'off',
        'no-restricted-imports': 'off',
        'no-restricted-properties': 'off',
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-return': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-confusing-void-expression': 'off',
        'typescript/require-await': 'off',
        'no-console': 'off',
        'no-unsafe-optional-chaining': 'off',
        'typescript/require-array-sort-compare': 'off',
      },
    },
  ],
};
