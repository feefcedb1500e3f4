// These have bundles of their own, which are loaded on first use: each npm package that only model
// calls need, the command line's commands, and the engine's work.

/** Dependencies come first. The extension loads the packages in this order. */
const PACKAGE_NAMES = [
  '@smithy/node-http-handler',
  '@aws-sdk/client-bedrock-runtime',
  '@anthropic-ai/bedrock-sdk',
  '@anthropic-ai/sdk',
  'google-auth-library',
  '@anthropic-ai/vertex-sdk',
  '@google/genai',
  '@pydantic/genai-prices',
  'openai',
];

/** "@anthropic-ai/sdk" → "packages/anthropic-ai-sdk". */
const getOutputName = (name) => `packages/${name.replace('@', '').replace('/', '-')}`;

/** Entry points by output name, as esbuild expects them. */
export const lazyEntries = Object.fromEntries(PACKAGE_NAMES.map((name) => [getOutputName(name), name]));

/**
 * Lets every other bundle load the packages of `lazyEntries` from their own files.
 * @param {string} from path from the bundle's folder to `dist/`
 * @returns {import('esbuild').Plugin}
 */
export const lazyPackages = (from) => ({
  name: 'lazy-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind !== 'entry-point' && PACKAGE_NAMES.includes(path)
        ? { path: `${from}${getOutputName(path)}.cjs`, external: true }
        : undefined,
    );
    // The commands and the engine's work are bundles in the same folder.
    onResolve({ filter: /^\.\/(commands|work)$/ }, ({ kind, path }) =>
      kind === 'dynamic-import'
        ? { path: path === './work' ? './engineWork.cjs' : './cliCommands.cjs', external: true }
        : undefined,
    );
  },
});
