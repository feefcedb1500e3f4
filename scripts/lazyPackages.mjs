// npm packages that only a call to a model needs: each is a bundle of its own, so that the editor reads none before it is used. So is
// what the commands of the command line do, and what the engine does beside reading.

/** What others load stands before them: that is also the order in which the extension loads them, one at a time. */
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
const outputOf = (name) => `packages/${name.replace('@', '').replace('/', '-')}`;

/** The entry points of these bundles by output name, as esbuild takes them. */
export const lazyEntries = Object.fromEntries(NAMES.map((name) => [outputOf(name), name]));

/**
 * Lets every other bundle load such a package from its file.
 * @param {string} from what leads from the bundle's folder to `dist/`.
 * @returns {import('esbuild').Plugin}
 */
export const lazyPackages = (from) => ({
  name: 'lazy-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind !== 'entry-point' && NAMES.includes(path)
        ? { path: `${from}${outputOf(path)}.cjs`, external: true }
        : undefined,
    );
    // What the command line's commands do, and the engine beside reading, is a bundle beside theirs.
    onResolve({ filter: /^\.\/(commands|work)$/ }, ({ kind, path }) =>
      kind === 'dynamic-import'
        ? { path: path === './work' ? './engineWork.cjs' : './cliCommands.cjs', external: true }
        : undefined,
    );
  },
});
