import { join, resolve } from 'node:path';
import { CLAUDE_CODE_CLOUD_VARIABLES, isVariableTurnedOn } from '../../../core/agents/claudeCodeClouds';
import { isRecord } from '../../../core/messages/blocks';
import {
  NO_PROXY_VARIABLES,
  UnsupportedError,
  getOptionValue,
  getRecordAtPath,
  getTextAtPath,
  parseAddress,
  readSettingsFile,
  addLoopbackHosts,
  removeOption,
  type GatewayAgent,
  type AddressWithSource,
} from './agent';
import { readClaudeCodeTrust, shortenPath, chooseTrustedAddress } from './projectTrust';

const ROUTE_NAME = 'anthropic';
const ADDRESS_VARIABLE = 'ANTHROPIC_BASE_URL';

/**
 * Claude Code reads its URL from the environment. Its settings files override that, and
 * `--settings` overrides both. Source: its settings reference and requests.
 */
export const claudeCode: GatewayAgent = {
  resumeArguments: ['--continue'],
  async prepare(args, home) {
    const { env, homedir, cwd } = home;
    const configFolder = env['CLAUDE_CONFIG_DIR'] ?? join(homedir, '.claude');
    const settingsOption = getOptionValue(args, '--settings');
    const givenSettings = settingsOption === undefined ? {} : await readSettingsOption(settingsOption, cwd);
    const userSettings = join(configFolder, 'settings.json');
    // If the home folder is the working folder, the project's settings files are the user's own.
    const projectFiles = ['settings.local.json', 'settings.json']
      .map((name) => join(cwd, '.claude', name))
      .filter((path) => path !== userSettings);
    const settingsFiles = [...projectFiles, userSettings];
    // Settings in descending order of precedence.
    const settings = [
      givenSettings,
      ...(await Promise.all(settingsFiles.map((path) => readSettingsFile(path, JSON.parse)))),
    ];
    const getVariable = (name: string): string | undefined =>
      settings.map((one) => getTextAtPath(one, 'env', name)).find((value) => value !== undefined) ??
      (env[name] || undefined);
    const cloudVariable = CLAUDE_CODE_CLOUD_VARIABLES.find((name) => isVariableTurnedOn(getVariable(name)));
    if (cloudVariable !== undefined) {
      throw new UnsupportedError(
        `Claude Code is set to a cloud (${cloudVariable}), whose requests are signed for their address: run it without the gateway.`,
      );
    }
    const trust = await readClaudeCodeTrust(home);
    const { trusted, untrusted } = chooseTrustedAddress(
      [
        ...settings.map((one, index): AddressWithSource | undefined => {
          const addressText = getTextAtPath(one, 'env', ADDRESS_VARIABLE);
          const settingsFile = settingsFiles[index - 1];
          const source =
            settingsFile === undefined ? '--settings' : `${ADDRESS_VARIABLE} in ${shortenPath(settingsFile, home)}`;
          return addressText === undefined
            ? undefined
            : { text: addressText, source, isFromProject: projectFiles.includes(settingsFile ?? '') };
        }),
        env[ADDRESS_VARIABLE] ? { text: env[ADDRESS_VARIABLE], source: ADDRESS_VARIABLE } : undefined,
      ],
      trust,
    );
    return {
      routes: new Map([[ROUTE_NAME, parseAddress(trusted?.text ?? 'https://api.anthropic.com', ADDRESS_VARIABLE)]]),
      ...(trusted && { sourceByRoute: new Map([[ROUTE_NAME, trusted.source]]) }),
      untrusted,
      trust,
      canRecall: true,
      async launch({ url, file, recall }) {
        const permissions = getRecordAtPath(givenSettings, 'permissions');
        const allowedTools = Array.isArray(permissions['allow']) ? (permissions['allow'] as unknown[]) : [];
        // A proxy in project settings would receive the key, because the connection to the gateway
        // is unencrypted.
        const trustedSettings = settings.filter(
          (_, at) => trust.isTrusted || !projectFiles.includes(settingsFiles[at - 1] ?? ''),
        );
        const noProxyVariables = NO_PROXY_VARIABLES.map((name) => {
          const configuredHosts = trustedSettings
            .map((one) => getTextAtPath(one, 'env', name))
            .find((value) => value !== undefined);
          return [name, addLoopbackHosts(configuredHosts ?? env[name])] as const;
        });
        const changedSettings = {
          ...givenSettings,
          env: {
            ...getRecordAtPath(givenSettings, 'env'),
            ...Object.fromEntries(noProxyVariables),
            ANTHROPIC_BASE_URL: url(ROUTE_NAME),
          },
          permissions: { ...permissions, allow: [...allowedTools, `mcp__${recall.name}`] },
        };
        const { command, env: environment } = recall;
        // Claude Code does not find a deferred tool that a marker mentions, so always load this
        // one.
        const mcpServer = { type: 'stdio', command, args: recall.args, env: environment, alwaysLoad: true };
        const mcpConfig = { mcpServers: { [recall.name]: mcpServer } };
        return {
          command: 'claude',
          args: [
            `--settings=${await file('settings.json', JSON.stringify(changedSettings))}`,
            `--mcp-config=${await file('mcp.json', JSON.stringify(mcpConfig))}`,
            ...removeOption(args, '--settings'),
          ],
          env: { ANTHROPIC_BASE_URL: url(ROUTE_NAME) },
        };
      },
    };
  },
};

/** `--settings` accepts a file or JSON. */
async function readSettingsOption(option: string, cwd: string): Promise<Readonly<Record<string, unknown>>> {
  if (!option.trimStart().startsWith('{')) return readSettingsFile(resolve(cwd, option), JSON.parse);
  try {
    const value: unknown = JSON.parse(option);
    if (isRecord(value)) return value;
  } catch {
    // Text that isn't JSON gets the error below, too.
  }
  throw new UnsupportedError('The settings given to Claude Code are not a JSON object.');
}
