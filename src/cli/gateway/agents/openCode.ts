import { join } from 'node:path';
import {
  UnsupportedError,
  getFieldAtPath,
  getOptionValue,
  getRecordAtPath,
  getTextAtPath,
  listFolderAndParents,
  parseAddress,
  readSettingsFile,
  type AgentEnvironment,
  type GatewayAgent,
  type AddressWithSource,
  type PreparedAgent,
} from './agent';
import { extractHost, shortenPath, makeTrustFromOption } from './projectTrust';
import { parseJsonc } from './jsonc';

/**
 * Providers that need only a key: the variable that contains the key, and the URL. Source:
 * models.dev, which OpenCode and Kilo use.
 */
const BUILT_IN_PROVIDERS: Readonly<Record<string, { readonly key: string; readonly address: string }>> = {
  anthropic: { key: 'ANTHROPIC_API_KEY', address: 'https://api.anthropic.com/v1' },
  openai: { key: 'OPENAI_API_KEY', address: 'https://api.openai.com/v1' },
  google: { key: 'GOOGLE_GENERATIVE_AI_API_KEY', address: 'https://generativelanguage.googleapis.com/v1beta' },
  openrouter: { key: 'OPENROUTER_API_KEY', address: 'https://openrouter.ai/api/v1' },
  deepseek: { key: 'DEEPSEEK_API_KEY', address: 'https://api.deepseek.com' },
};

/**
 * OpenCode and Kilo read settings for one run from a variable, on top of their files. Providers
 * that authenticate by plugin (GitHub Copilot, ChatGPT) keep their URL. Source: their configuration
 * reference.
 */
const createOpenCodeAgent = (command: 'opencode' | 'kilo'): GatewayAgent => ({
  resumeArguments: ['--continue'],
  async prepare(args, home): Promise<PreparedAgent> {
    const variablePrefix = command.toUpperCase();
    const { env } = home;
    const givenConfig = env[`${variablePrefix}_CONFIG_CONTENT`];
    const overridingConfig = givenConfig === undefined ? {} : parseJsonc(givenConfig);
    const settings = [
      ...(await readOpenCodeSettings(command, variablePrefix, home)),
      { values: overridingConfig, source: `${variablePrefix}_CONFIG_CONTENT`, isFromProject: false },
    ];
    const trust = makeTrustFromOption(home, command === 'kilo' ? 'Kilo' : 'OpenCode');
    const signInsByProvider = await readSettingsFile(join(getDataFolder(home), command, 'auth.json'), JSON.parse);
    const addressByProvider = new Map<string, URL>();
    const sourceByProvider = new Map<string, string>();
    /** By provider, the URL from the project's settings that is not used. */
    const untrustedAddresses = new Map<string, AddressWithSource>();
    const windowByModel = new Map<string, number>();
    for (const [id, { key, address }] of Object.entries(BUILT_IN_PROVIDERS)) {
      const hasKey = Boolean(env[key]) || getTextAtPath(signInsByProvider[id], 'type') === 'api';
      if (hasKey) addressByProvider.set(id, new URL(address));
    }
    for (const { values, source, isFromProject } of settings) {
      for (const [id, provider] of Object.entries(getRecordAtPath(values, 'provider'))) {
        for (const [model, modelSettings] of Object.entries(getRecordAtPath(provider, 'models'))) {
          const window = getFieldAtPath(modelSettings, 'limit', 'context');
          if (typeof window === 'number') windowByModel.set(model, window);
        }
        const text = getTextAtPath(provider, 'options', 'baseURL') ?? getTextAtPath(provider, 'api');
        const address = text === undefined ? undefined : expandEnvironmentVariables(text, env);
        const builtInProvider = BUILT_IN_PROVIDERS[id];
        if (address !== undefined && isFromProject && !trust.isTrusted) {
          untrustedAddresses.set(id, { text: address, source: `a provider's address in ${source}`, isFromProject });
        } else if (address !== undefined) {
          addressByProvider.set(id, parseAddress(address, `The baseURL of "${id}"`));
          sourceByProvider.set(id, `a provider's address in ${source}`);
        } else if (builtInProvider && getTextAtPath(provider, 'options', 'apiKey') !== undefined)
          addressByProvider.set(id, addressByProvider.get(id) ?? new URL(builtInProvider.address));
      }
    }
    const chosenModel =
      getOptionValue(args, '-m', '--model') ??
      settings
        .toReversed()
        .map(({ values }) => getTextAtPath(values, 'model'))
        .find((model) => model !== undefined);
    const provider = chosenModel?.split('/')[0];
    /**
     * Providers that only the project defines. The agent calls these directly, without the gateway.
     */
    const projectProviders = [...untrustedAddresses].filter(([id]) => !addressByProvider.has(id));
    const [, projectAddress] =
      projectProviders.find(([id]) => id === provider) ??
      (addressByProvider.size === 0 ? projectProviders[0] : undefined) ??
      [];
    if (projectAddress) {
      throw new UnsupportedError(
        `Its model would be reached at ${extractHost(projectAddress.text)} (${projectAddress.source}), and ${trust.why}. To allow it, use --trust-project; or choose another model with --model.`,
      );
    }
    if (addressByProvider.size === 0) {
      throw new UnsupportedError(
        'It has no provider with a key or an address of its own; one that signs in through a plugin is not supported.',
      );
    }
    if (provider !== undefined && !addressByProvider.has(provider)) {
      throw new UnsupportedError(
        `The provider of its model "${chosenModel ?? ''}" has no key and no address known here; give the provider a baseURL, or choose another model with --model.`,
      );
    }
    const makeRouteName = (id: string): string => `p-${[...addressByProvider.keys()].indexOf(id)}`;
    return {
      routes: new Map([...addressByProvider].map(([id, address]) => [makeRouteName(id), address])),
      sourceByRoute: new Map([...sourceByProvider].map(([id, source]) => [makeRouteName(id), source])),
      untrusted: [...untrustedAddresses.values()],
      trust,
      canRecall: true,
      windows: windowByModel,
      launch: ({ url, recall }) => {
        const providerConfigs = Object.fromEntries(
          [...addressByProvider.keys()].map((id) => [
            id,
            {
              ...getRecordAtPath(overridingConfig, 'provider', id),
              options: {
                ...getRecordAtPath(overridingConfig, 'provider', id, 'options'),
                baseURL: url(makeRouteName(id)),
              },
            },
          ]),
        );
        const server = {
          type: 'local',
          command: [recall.command, ...recall.args],
          environment: recall.env,
          enabled: true,
        };
        const disabledProviders = settings.flatMap(({ values }) => getListField(values, 'disabled_providers'));
        const configContent = {
          ...getRecordAtPath(overridingConfig),
          ...(projectProviders.length > 0 && {
            disabled_providers: [...disabledProviders, ...projectProviders.map(([id]) => id)],
          }),
          provider: { ...getRecordAtPath(overridingConfig, 'provider'), ...providerConfigs },
          mcp: { ...getRecordAtPath(overridingConfig, 'mcp'), [recall.name]: server },
        };
        return Promise.resolve({
          command,
          args,
          env: { [`${variablePrefix}_CONFIG_CONTENT`]: JSON.stringify(configContent) },
        });
      },
    };
  },
});

export const openCode = createOpenCodeAgent('opencode');
export const kiloGatewayAgent = createOpenCodeAgent('kilo');

const getListField = (value: unknown, field: string): readonly unknown[] => {
  const list = getFieldAtPath(value, field);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
};

const getDataFolder = ({ env, homedir }: AgentEnvironment): string =>
  env['XDG_DATA_HOME'] || join(homedir, '.local', 'share');

interface SettingsWithSource {
  readonly values: unknown;
  readonly source: string;
  readonly isFromProject: boolean;
}

/** Returns settings in ascending order of precedence. */
async function readOpenCodeSettings(
  command: string,
  variablePrefix: string,
  home: AgentEnvironment,
): Promise<SettingsWithSource[]> {
  const { env, homedir, cwd } = home;
  const globalFolder = join(env['XDG_CONFIG_HOME'] || join(homedir, '.config'), command);
  const configPath = env[`${variablePrefix}_CONFIG`];
  const names = [`${command}.json`, `${command}.jsonc`];
  const userFiles = [
    ...['config.json', ...names].map((name) => join(globalFolder, name)),
    ...(configPath === undefined ? [] : [configPath]),
    ...names.map((name) => join(homedir, `.${command}`, name)),
  ];
  const projectFiles = listFolderAndParents(cwd)
    .toReversed()
    .flatMap((folder) => names.flatMap((name) => [join(folder, name), join(folder, `.${command}`, name)]))
    .filter((path) => !userFiles.includes(path));
  const files = [
    ...userFiles.map((path) => [path, false] as const),
    ...projectFiles.map((path) => [path, true] as const),
  ];
  return Promise.all(
    files.map(async ([path, isFromProject]) => ({
      values: await readSettingsFile(path, parseJsonc),
      source: shortenPath(path, home),
      isFromProject,
    })),
  );
}

/** Expands `{env:NAME}` in a setting. */
const expandEnvironmentVariables = (text: string, env: Readonly<Record<string, string | undefined>>): string =>
  text.replace(/\{env:([^}]+)\}/g, (_, name: string) => env[name] ?? '');
