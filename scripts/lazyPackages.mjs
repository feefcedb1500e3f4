// Each npm package that only model calls need is a separate bundle, loaded on first use; so are the
// command line's commands and the engine's work.

/** Dependencies come first. The extension loads the packages in this order. */
const NAMES = [
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
const nameOutput = (name) => `packages/${name.replace('@', '').replace('/', '-')}`;

/** Entry points by output name, as esbuild expects them. */
export const lazyEntries = Object.fromEntries(NAMES.map((name) => [nameOutput(name), name]));

/**
 * Lets every other bundle load such a package from its file.
 * @param {string} from path from the bundle's folder to `dist/`
 * @returns {import('esbuild').Plugin}
 */
export const lazyPackages = (from) => ({
  name: 'lazy-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind !== 'entry-point' && NAMES.includes(path)
        ? { path: `${from}${nameOutput(path)}.cjs`, external: true }
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
