import { join } from 'node:path';
import { isRecord } from '../../../core/messages/blocks';
import { SECRET_HEADER_NAME } from '../../../gateway/access';
import { SUPPORTS_ZSTD } from '../../../gateway/unpacking';
import {
  parseAddress,
  getFieldAtPath,
  getOptionValue,
  readSettingsFile,
  getTextAtPath,
  UnsupportedError,
  type GatewayAgent,
} from './agent';
import { shortenPath } from './projectTrust';

const ROUTE_NAME = 'openai';
/** Variable that passes the secret to Codex, so that it is on no command line. */
const SECRET_VARIABLE = 'CONTEXT_CONDENSER_SECRET';

/**
 * A user-defined provider gets the gateway's URL and a header with the secret. Its sessions keep
 * the provider's name, so they can be resumed. The built-in provider accepts only a URL, whose
 * secret grants access to nothing else. Source: Codex's configuration reference and code
 * (`model_provider_info`).
 */
export const codexGatewayAgent: GatewayAgent = {
  resumeArguments: ['resume', '--last'],
  async prepare(args, home) {
    const { env, homedir } = home;
    const codexFolder = env['CODEX_HOME'] ?? join(homedir, '.codex');
    const { parse } = await import('smol-toml');
    const configFiles = [join(codexFolder, 'config.toml')];
    const profile = getOptionValue(args, '-p', '--profile');
    if (profile !== undefined) configFiles.unshift(join(codexFolder, `${profile}.config.toml`));
    const settings = await Promise.all(configFiles.map((file) => readSettingsFile(file, parse)));
    const overrides = readConfigOverrides(args, parse);
    // Settings in descending order of precedence.
    const settingsSources = [overrides, ...settings];
    const getSetting = (...path: readonly string[]): unknown =>
      settingsSources.map((one) => getFieldAtPath(one, ...path)).find((value) => value !== undefined);
    const describeSource = (...path: readonly string[]): string => {
      const file = configFiles[settingsSources.findIndex((one) => getFieldAtPath(one, ...path) !== undefined) - 1];
      return `${path.at(-1) ?? ''} ${file === undefined ? 'by -c' : `in ${shortenPath(file, home)}`}`;
    };
    const provider = getSetting('model_provider') ?? 'openai';
    if (typeof provider !== 'string') throw new UnsupportedError('The model_provider of Codex is not a name.');
    if (args.includes('--oss') || ['ollama', 'lmstudio', 'amazon-bedrock'].includes(provider)) {
      throw new UnsupportedError(
        `Codex's provider "${args.includes('--oss') ? 'oss' : provider}" takes no other address for one run: set up a provider of your own in ${join(codexFolder, 'config.toml')}.`,
      );
    }
    // `-c` splits keys at dots, even quoted ones.
    if (!/^[\w-]+$/.test(provider)) {
      throw new UnsupportedError(
        `Codex's provider "${provider}" can't be named on its command line: use letters, digits, _ and -.`,
      );
    }
    const isBuiltIn = provider === 'openai';
    const addressPath = isBuiltIn ? ['openai_base_url'] : ['model_providers', provider, 'base_url'];
    const configuredAddress = getSetting(...addressPath);
    if (!isBuiltIn && typeof configuredAddress !== 'string') {
      throw new UnsupportedError(
        `Codex's provider "${provider}" has no base_url in ${join(codexFolder, 'config.toml')}.`,
      );
    }
    if (getFieldAtPath(getSetting('model_providers', provider), 'wire_api') === 'chat') {
      throw new UnsupportedError(`Codex no longer speaks the "chat" wire of its provider "${provider}".`);
    }
    const address =
      typeof configuredAddress === 'string' ? configuredAddress : await readVendorAddress(codexFolder, env);
    return {
      routes: new Map([[ROUTE_NAME, parseAddress(address, 'The base_url of Codex')]]),
      ...(typeof configuredAddress === 'string' && {
        sourceByRoute: new Map([[ROUTE_NAME, describeSource(...addressPath)]]),
      }),
      canRecall: true,
      windows: makeWindowByModel(getSetting('model'), getSetting('model_context_window')),
      launch: ({ url, ticketUrl, recall }) => {
        const gatewayUrl = new URL(url(ROUTE_NAME));
        const secret = gatewayUrl.pathname.split('/')[1] ?? '';
        const providerKey = `model_providers.${provider}`;
        const serverKey = `mcp_servers.${recall.name}`;
        const routeOptions = isBuiltIn
          ? {
              openai_base_url: ticketUrl(ROUTE_NAME),
              ...(!SUPPORTS_ZSTD && { 'features.enable_request_compression': false }),
            }
          : {
              [`${providerKey}.base_url`]: `${gatewayUrl.origin}/${ROUTE_NAME}`,
              [`${providerKey}.env_http_headers.${SECRET_HEADER_NAME}`]: SECRET_VARIABLE,
            };
        const { CONTEXT_CONDENSER_RECALL: recallAddress = '', ...otherVariables } = recall.env;
        const recallOptions = {
          [`${serverKey}.command`]: recall.command,
          [`${serverKey}.args`]: recall.args,
          // Codex passes the variable's value on from the environment.
          [`${serverKey}.env_vars`]: ['CONTEXT_CONDENSER_RECALL'],
          ...Object.fromEntries(
            Object.entries(otherVariables).map(([name, value]) => [`${serverKey}.env.${name}`, value]),
          ),
        };
        const options = Object.entries({ ...routeOptions, ...recallOptions }).flatMap(([name, value]) => [
          '-c',
          // JSON strings, lists and booleans are valid TOML.
          `${name}=${JSON.stringify(value)}`,
        ]);
        return Promise.resolve({
          command: 'codex',
          args: [...options, ...args],
          env: { CONTEXT_CONDENSER_RECALL: recallAddress, ...(!isBuiltIn && { [SECRET_VARIABLE]: secret }) },
        });
      },
    };
  },
};

const makeWindowByModel = (model: unknown, window: unknown): Map<string, number> =>
  new Map(typeof model === 'string' && typeof window === 'number' ? [[model, window]] : []);

/** Collects the settings of all `-c key=value` as nested objects. */
function readConfigOverrides(args: readonly string[], parse: (text: string) => unknown): unknown {
  const configOverrides = args.flatMap((arg, index) => {
    if (arg === '-c' || arg === '--config') return [args[index + 1] ?? ''];
    return arg.startsWith('--config=') ? [arg.slice('--config='.length)] : [];
  });
  const mergedSettings: Record<string, unknown> = {};
  for (const line of configOverrides) {
    const value = parseConfigOverride(line, parse);
    if (isRecord(value)) Object.assign(mergedSettings, mergeSettings(mergedSettings, value));
  }
  return mergedSettings;
}

/** Parses a `key=value`. As in Codex, a value that isn't TOML is a string. */
function parseConfigOverride(line: string, parse: (text: string) => unknown): unknown {
  const equalsIndex = line.indexOf('=');
  if (equalsIndex < 0) return undefined;
  for (const text of [line, `${line.slice(0, equalsIndex)}=${JSON.stringify(line.slice(equalsIndex + 1))}`]) {
    try {
      return parse(text);
    } catch {
      // Try the next form.
    }
  }
  return undefined;
}

function mergeSettings(
  oldSettings: Readonly<Record<string, unknown>>,
  addedSettings: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const mergedSettings: Record<string, unknown> = { ...oldSettings };
  for (const [key, value] of Object.entries(addedSettings)) {
    const oldValue = mergedSettings[key];
    mergedSettings[key] = isRecord(oldValue) && isRecord(value) ? mergeSettings(oldValue, value) : value;
  }
  return mergedSettings;
}

/** Returns the vendor's URL, which depends on how the user signed in. Does not read the key. */
async function readVendorAddress(folder: string, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const api = 'https://api.openai.com/v1';
  if (env['CODEX_API_KEY']) return api;
  const signInSettings = await readSettingsFile(join(folder, 'auth.json'), JSON.parse);
  const authMode = getTextAtPath(signInSettings, 'auth_mode')?.toLowerCase();
  if (
    authMode === 'apikey' ||
    (authMode === undefined && getTextAtPath(signInSettings, 'OPENAI_API_KEY') !== undefined)
  )
    return api;
  if (authMode === 'chatgpt' || isRecord(signInSettings['tokens'])) return 'https://chatgpt.com/backend-api/codex';
  throw new UnsupportedError(
    'It is not known how Codex is signed in. Set where its requests go, with --upstream openai=https://api.openai.com/v1 for a key or --upstream openai=https://chatgpt.com/backend-api/codex for ChatGPT.',
  );
}
