import { SECRET_HEADER_NAME } from '../../../gateway/access';
import { parseAddress, getOptionValue, UnsupportedError, type GatewayAgent } from './agent';

const ROUTE_NAME = 'provider';
/**
 * Enlarges the prompt limit that we report to the agent, because its own compaction counts
 * uncondensed messages.
 */
const WINDOW_FACTOR = 8;

/**
 * Only environment variables configure Copilot CLI's user-defined provider; GitHub's own models
 * can't be redirected. The secret is in a header, because Copilot logs URLs. Source: `copilot help
 * providers`, `help environment` and `--help` (1.0.102).
 */
export const copilotCli: GatewayAgent = {
  resumeArguments: ['--continue'],
  prepare(args, { env }) {
    const { COPILOT_PROVIDER_BASE_URL: address, COPILOT_PROVIDER_TYPE: type = 'openai' } = env;
    if (!address) {
      throw new UnsupportedError(
        "GitHub's own models can't be reached at another address. Set COPILOT_PROVIDER_BASE_URL and a key to use a provider of your own (see: copilot help providers).",
      );
    }
    if (type !== 'openai' && type !== 'anthropic') {
      throw new UnsupportedError(
        `Its provider type "${type}" is not supported: set COPILOT_PROVIDER_TYPE to openai or anthropic.`,
      );
    }
    const model = env['COPILOT_PROVIDER_WIRE_MODEL'] || getOptionValue(args, '--model') || env['COPILOT_MODEL'];
    const maxPromptTokens = Number(env['COPILOT_PROVIDER_MAX_PROMPT_TOKENS']);
    const windowByModel = new Map(model && maxPromptTokens > 0 ? [[model, maxPromptTokens]] : []);
    return Promise.resolve({
      routes: new Map([[ROUTE_NAME, parseAddress(address, 'COPILOT_PROVIDER_BASE_URL')]]),
      sourceByRoute: new Map([[ROUTE_NAME, 'COPILOT_PROVIDER_BASE_URL']]),
      canRecall: true,
      windows: windowByModel,
      launch: async ({ url, file, recall }) => {
        const gatewayUrl = new URL(url(ROUTE_NAME));
        const secret = gatewayUrl.pathname.split('/')[1] ?? '';
        const { name, command, args: serverArgs, env: serverEnv } = recall;
        const server = { type: 'local', command, args: serverArgs, env: serverEnv, tools: ['*'] };
        const serversFile = await file('mcp.json', JSON.stringify({ mcpServers: { [name]: server } }));
        const headers = [env['COPILOT_PROVIDER_HEADERS'], `${SECRET_HEADER_NAME}: ${secret}`]
          .filter(Boolean)
          .join('\n');
        return {
          command: 'copilot',
          args: [`--additional-mcp-config=@${serversFile}`, ...args],
          env: {
            COPILOT_PROVIDER_BASE_URL: `${gatewayUrl.origin}/${ROUTE_NAME}`,
            COPILOT_PROVIDER_HEADERS: headers,
            COPILOT_PROVIDER_TRANSPORT: 'http',
            ...(maxPromptTokens > 0 && { COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(maxPromptTokens * WINDOW_FACTOR) }),
          },
        };
      },
    });
  },
};
