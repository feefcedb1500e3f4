import { join } from 'node:path';
import {
  UnsupportedError,
  getOptionValue,
  getRecordAtPath,
  getTextAtPath,
  parseAddress,
  readSettingsFile,
  type GatewayAgent,
} from './agent';
import { shortenPath } from './projectTrust';

/** By provider, the URL used if none is configured. Source: Cline's code (`@cline/llms`). */
const BUILT_IN_ADDRESSES: Readonly<Partial<Record<string, string>>> = {
  anthropic: 'https://api.anthropic.com/v1',
  'openai-native': 'https://api.openai.com/v1',
  gemini: 'https://generativelanguage.googleapis.com/v1beta',
  openrouter: 'https://openrouter.ai/api/v1',
  deepseek: 'https://api.deepseek.com',
};

/**
 * Account sign-ins would refresh tokens in the settings file that we make for one run, and they
 * would be lost. So only providers with a key use the gateway. Cline's own compaction counts
 * uncondensed messages, so it is disabled unless configured.
 */
export const clineGatewayAgent: GatewayAgent = {
  async prepare(args, home) {
    const { env, homedir } = home;
    const dataFolder =
      getOptionValue(args, '--data-dir') ??
      env['CLINE_DATA_DIR'] ??
      join(env['CLINE_DIR'] ?? join(homedir, '.cline'), 'data');
    const providersFile = env['CLINE_PROVIDER_SETTINGS_PATH'] ?? join(dataFolder, 'settings', 'providers.json');
    const serversFile = env['CLINE_MCP_SETTINGS_PATH'] ?? join(dataFolder, 'settings', 'cline_mcp_settings.json');
    const settings = await readSettingsFile(providersFile, JSON.parse);
    const servers = await readSettingsFile(serversFile, JSON.parse);
    const providerId = getOptionValue(args, '-P', '--provider') ?? getTextAtPath(settings, 'lastUsedProvider');
    const configuredAddress = getTextAtPath(settings, 'providers', providerId ?? '', 'settings', 'baseUrl');
    const address = configuredAddress ?? BUILT_IN_ADDRESSES[providerId ?? ''];
    const hasKey = getTextAtPath(settings, 'providers', providerId ?? '', 'settings', 'apiKey') !== undefined;
    if (providerId === undefined || address === undefined || !hasKey) {
      throw new UnsupportedError(
        `Its provider "${providerId ?? 'none'}" is not one with a key of its own: choose one with cline auth, such as anthropic or openai-compatible.`,
      );
    }
    const route = 'cline';
    return {
      routes: new Map([[route, parseAddress(address, `The baseUrl of "${providerId}"`)]]),
      ...(configuredAddress !== undefined && {
        sourceByRoute: new Map([[route, `baseUrl in ${shortenPath(providersFile, home)}`]]),
      }),
      canRecall: true,
      async launch({ url, file, recall }) {
        const entry = getRecordAtPath(settings, 'providers', providerId);
        const routedProvider = { ...entry, settings: { ...getRecordAtPath(entry, 'settings'), baseUrl: url(route) } };
        const providers = {
          ...settings,
          providers: { ...getRecordAtPath(settings, 'providers'), [providerId]: routedProvider },
        };
        const { name, command, args: serverArgs, env: serverEnv } = recall;
        const server = { command, args: serverArgs, env: serverEnv, autoApprove: ['recall', 'search'] };
        const serversWithRecall = {
          ...servers,
          mcpServers: { ...getRecordAtPath(servers, 'mcpServers'), [name]: server },
        };
        const compactionOptions = getOptionValue(args, '--compaction') === undefined ? ['--compaction', 'off'] : [];
        return {
          command: 'cline',
          args: [...compactionOptions, ...args],
          env: {
            CLINE_PROVIDER_SETTINGS_PATH: await file('providers.json', JSON.stringify(providers)),
            CLINE_MCP_SETTINGS_PATH: await file('mcp.json', JSON.stringify(serversWithRecall)),
            // Without this variable, a daemon of Cline outlives the run.
            CLINE_SESSION_BACKEND_MODE: 'local',
          },
        };
      },
    };
  },
};
