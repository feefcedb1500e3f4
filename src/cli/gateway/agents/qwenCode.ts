import { join } from 'node:path';
import {
  UnsupportedError,
  getFieldAtPath,
  getOptionValue,
  getRecordAtPath,
  getTextAtPath,
  parseAddress,
  readSettingsFile,
  getSystemSettingsPath,
  type GatewayAgent,
  type AddressWithSource,
} from './agent';
import { readQwenCodeTrust, shortenPath, chooseTrustedAddress } from './projectTrust';
import { parseJsonc } from './jsonc';

/** For authentication by key: the variable that contains the URL, and the vendor's default URL. */
const PROVIDER_BY_AUTH_TYPE: Readonly<
  Partial<Record<string, { readonly variable: string; readonly address: string }>>
> = {
  openai: { variable: 'OPENAI_BASE_URL', address: 'https://api.openai.com/v1' },
  'openai-responses': { variable: 'OPENAI_BASE_URL', address: 'https://api.openai.com/v1' },
  anthropic: { variable: 'ANTHROPIC_BASE_URL', address: 'https://api.anthropic.com' },
  gemini: { variable: 'GOOGLE_GEMINI_BASE_URL', address: 'https://generativelanguage.googleapis.com' },
};

/**
 * With a key, Qwen Code reads its URL from the environment, unless a model's settings have one. A
 * system settings file adds the MCP server and prevents deferral of its tools.
 */
export const qwenCode: GatewayAgent = {
  resumeArguments: ['--continue'],
  async prepare(args, home) {
    const { env, homedir, cwd } = home;
    const systemFile = env['QWEN_CODE_SYSTEM_SETTINGS_PATH'] ?? getSystemSettingsPath(home, 'QwenCode', 'qwen-code');
    const systemSettings = await readSettingsFile(systemFile, parseJsonc);
    const folder = env['QWEN_HOME'] ?? join(homedir, '.qwen');
    const projectFile = join(cwd, '.qwen', 'settings.json');
    const userSettings = join(folder, 'settings.json');
    const settingsFiles = [systemFile, projectFile, userSettings];
    const settingsPerFile = [
      systemSettings,
      ...(await Promise.all(settingsFiles.slice(1).map((path) => readSettingsFile(path, parseJsonc)))),
    ];
    const authType =
      getOptionValue(args, '--auth-type') ??
      settingsPerFile
        .map((one) => getTextAtPath(one, 'security', 'auth', 'selectedType'))
        .find((type) => type !== undefined) ??
      (env['OPENAI_API_KEY'] ? 'openai' : undefined);
    const provider = PROVIDER_BY_AUTH_TYPE[authType ?? ''];
    if (!provider || getOptionValue(args, '--openai-base-url') !== undefined) {
      throw new UnsupportedError(
        provider
          ? "An address on its command line overrides the gateway's: set OPENAI_BASE_URL instead."
          : `It is signed in with "${authType ?? 'nothing yet'}"; only a key is supported: set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY and choose it with /auth.`,
      );
    }
    if (settingsPerFile.some((one) => hasModelWithAddress(getFieldAtPath(one, 'modelProviders', authType ?? '')))) {
      throw new UnsupportedError(
        "A model in its settings (modelProviders) has an address of its own, which overrides the gateway's.",
      );
    }
    const trust = await readQwenCodeTrust(home);
    const configuredAddresses = settingsPerFile.map((one, index): AddressWithSource | undefined => {
      const text = authType?.startsWith('openai') ? getTextAtPath(one, 'security', 'auth', 'baseUrl') : undefined;
      const settingsFile = settingsFiles[index] ?? '';
      const source = `security.auth.baseUrl in ${shortenPath(settingsFile, home)}`;
      return text === undefined
        ? undefined
        : { text, source, isFromProject: settingsFile === projectFile && settingsFile !== userSettings };
    });
    const addressFromEnvironment = env[provider.variable];
    const { trusted, untrusted } = chooseTrustedAddress(
      [
        addressFromEnvironment ? { text: addressFromEnvironment, source: provider.variable } : undefined,
        ...configuredAddresses,
      ],
      trust,
    );
    const route = 'qwen';
    return {
      routes: new Map([[route, parseAddress(trusted?.text ?? provider.address, provider.variable)]]),
      ...(trusted && { sourceByRoute: new Map([[route, trusted.source]]) }),
      untrusted,
      trust,
      canRecall: true,
      async launch({ url, file, recall }) {
        const { name, command, args: serverArgs, env: serverEnv } = recall;
        const server = { command, args: serverArgs, env: serverEnv, trust: true };
        const overlay = {
          ...systemSettings,
          mcpServers: { ...getRecordAtPath(systemSettings, 'mcpServers'), [name]: server },
          tools: { ...getRecordAtPath(systemSettings, 'tools'), toolSearch: { enabled: false } },
        };
        return {
          command: 'qwen',
          args,
          env: {
            [provider.variable]: url(route),
            QWEN_CODE_SYSTEM_SETTINGS_PATH: await file('qwen.json', JSON.stringify(overlay)),
          },
        };
      },
    };
  },
};

const hasModelWithAddress = (models: unknown): boolean =>
  Array.isArray(models) &&
  (models as readonly unknown[]).some((model) => getTextAtPath(model, 'baseUrl') !== undefined);
