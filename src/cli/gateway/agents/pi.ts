import { MARKER_EXAMPLE } from '../../../core/messages/markers';
import { join } from 'node:path';
import {
  UnsupportedError,
  getFieldAtPath,
  getOptionValue,
  getRecordAtPath,
  getTextAtPath,
  parseAddress,
  readSettingsFile,
  type GatewayAgent,
} from './agent';
import { parseJsonc } from './jsonc';
import { shortenPath } from './projectTrust';

/**
 * Pi's built-in providers with a single URL and a supported wire format. Others have one URL per
 * model or account (such as Azure) or their own format (such as Mistral). Source: its model list
 * (`pi-ai` 0.73).
 */
const BUILT_IN_ADDRESSES: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  openrouter: 'https://openrouter.ai/api/v1',
  'vercel-ai-gateway': 'https://ai-gateway.vercel.sh',
  xai: 'https://api.x.ai/v1',
  huggingface: 'https://router.huggingface.co/v1',
  fireworks: 'https://api.fireworks.ai/inference',
  groq: 'https://api.groq.com/openai/v1',
  cerebras: 'https://api.cerebras.ai/v1',
  deepseek: 'https://api.deepseek.com',
  zai: 'https://api.z.ai/api/coding/paas/v4',
  moonshotai: 'https://api.moonshot.ai/v1',
  'moonshotai-cn': 'https://api.moonshot.cn/v1',
  'kimi-coding': 'https://api.kimi.com/coding',
  minimax: 'https://api.minimax.io/anthropic',
  'minimax-cn': 'https://api.minimaxi.com/anthropic',
};

/** Providers that `--model provider/model` may select, but that can't use the gateway. */
const UNSUPPORTED_PROVIDERS = [
  ...['openai-codex', 'github-copilot', 'mistral', 'azure-openai-responses', 'amazon-bedrock', 'google-vertex'],
  ...['opencode', 'opencode-go', 'cloudflare-workers-ai', 'cloudflare-ai-gateway'],
];

/**
 * Pi has no MCP. An extension for one run sets the providers' URLs and adds the recall tool.
 * Source: Pi's documentation on extensions and custom providers.
 */
export const piGatewayAgent: GatewayAgent = {
  resumeArguments: ['--continue'],
  async prepare(args, home) {
    const { env, homedir, cwd } = home;
    const agentFolder = env['PI_CODING_AGENT_DIR'] ?? join(homedir, '.pi', 'agent');
    const modelsFile = join(agentFolder, 'models.json');
    const ownProviders = getRecordAtPath(await readSettingsFile(modelsFile, parseJsonc), 'providers');
    const addressByProvider = new Map(
      Object.entries(BUILT_IN_ADDRESSES).map(([id, address]) => [id, new URL(address)]),
    );
    const providersWithOwnAddress: string[] = [];
    for (const [id, provider] of Object.entries(ownProviders)) {
      const address = getTextAtPath(provider, 'baseUrl');
      if (address === undefined) continue;
      addressByProvider.set(id, parseAddress(address, `The baseUrl of "${id}"`));
      providersWithOwnAddress.push(id);
    }
    const settings = [join(cwd, '.pi', 'settings.json'), join(agentFolder, 'settings.json')];
    const defaultProviders = await Promise.all(
      settings.map(async (path) => getTextAtPath(await readSettingsFile(path, parseJsonc), 'defaultProvider')),
    );
    const model = getOptionValue(args, '--model');
    const chosenProvider =
      getOptionValue(args, '--provider') ??
      UNSUPPORTED_PROVIDERS.find((provider) => model?.startsWith(`${provider}/`)) ??
      defaultProviders.find((provider) => provider !== undefined);
    if (chosenProvider !== undefined && !addressByProvider.has(chosenProvider)) {
      throw new UnsupportedError(
        `Its provider "${chosenProvider}" can't be routed through the gateway: choose one with --provider, such as anthropic, openai or one of your own.`,
      );
    }
    const windowByModel = new Map<string, number>();
    for (const provider of Object.values(ownProviders)) {
      const models = getFieldAtPath(provider, 'models');
      for (const model of Array.isArray(models) ? (models as readonly unknown[]) : []) {
        const window = getFieldAtPath(model, 'contextWindow');
        if (typeof window === 'number') windowByModel.set(getTextAtPath(model, 'id') ?? '', window);
      }
    }
    const providerIds = [...addressByProvider.keys()];
    const makeRouteName = (id: string): string => `p-${providerIds.indexOf(id)}`;
    return {
      routes: new Map([...addressByProvider].map(([id, address]) => [makeRouteName(id), address])),
      sourceByRoute: new Map(
        providersWithOwnAddress.map((id) => [makeRouteName(id), `baseUrl in ${shortenPath(modelsFile, home)}`]),
      ),
      canRecall: true,
      windows: windowByModel,
      async launch({ url, file, recall }) {
        const providers = Object.fromEntries(providerIds.map((id) => [id, url(makeRouteName(id))]));
        const extensionPath = await file('condenser.mjs', makeExtensionSource(providers, recall.env));
        return { command: 'pi', args: ['--extension', extensionPath, ...args], env: {} };
      },
    };
  },
};

/** Returns the source text of Pi's extension for this run. */
const makeExtensionSource = (
  providers: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): string => `
const providers = ${JSON.stringify(providers)};
const recall = ${JSON.stringify(env['CONTEXT_CONDENSER_RECALL'] ?? '')};
export default function (pi) {
  for (const [id, baseUrl] of Object.entries(providers)) pi.registerProvider(id, { baseUrl });
  pi.registerTool({
    name: 'recall',
    label: 'Recall',
    description: ${JSON.stringify(PI_RECALL_DESCRIPTION)},
    parameters: { type: 'object', properties: {
      references: { type: 'array', items: { type: 'string' }, description: 'References, such as "ab12cd".' },
      words: { type: 'string', description: 'Or words that a line must hold.' },
      pattern: { type: 'string', description: 'Or a regular expression that a line must match.' },
      fromLine: { type: 'integer' }, toLine: { type: 'integer' }, maxTokens: { type: 'integer' },
    } },
    async execute(_id, query) {
      const answer = await fetch(recall, { method: 'POST', body: JSON.stringify(query) });
      return { content: [{ type: 'text', text: (await answer.json()).text }], details: {} };
    },
  });
}
`;

const PI_RECALL_DESCRIPTION = `Gives back what was condensed out of this conversation: by the reference in a marker ${MARKER_EXAMPLE}, or by a search.`;
