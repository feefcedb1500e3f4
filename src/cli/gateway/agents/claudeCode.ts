import { join, resolve } from 'node:path';
import { CLAUDE_CODE_CLOUDS, isTurnedOn } from '../../../core/agents/claudeCodeClouds';
import { isRecord } from '../../../core/messages/blocks';
import {
  addressIn,
  NO_PROXY,
  optionIn,
  settingsIn,
  textIn,
  UnsupportedError,
  withLoopback,
  type GatewayAgent,
  type NamedAddress,
} from './agent';
import { claudeCodeTrust, shownPath, usableAddress } from './projectTrust';

const ROUTE = 'anthropic';
const ADDRESS = 'ANTHROPIC_BASE_URL';

/**
 * Claude Code takes its address from the environment, and its settings files may set that; what `--settings` names counts more
 * than both. API key, token and subscription go to the same address. Source: its settings reference, and its own requests.
 */
export const claudeCode: GatewayAgent = {
  goesOn: ['--continue'],
  async prepare(args, home) {
    const { env, homedir, cwd } = home;
    const folder = env['CLAUDE_CONFIG_DIR'] ?? join(homedir, '.claude');
    const given = optionIn(args, '--settings');
    const own = given === undefined ? {} : await givenSettings(given, cwd);
    const users = join(folder, 'settings.json');
    // In the home folder the project's file is the user's own.
    const inProject = ['settings.local.json', 'settings.json']
      .map((name) => join(cwd, '.claude', name))
      .filter((path) => path !== users);
    const files = [...inProject, users];
    // Sources in order of precedence, the strongest first.
    const settings = [own, ...(await Promise.all(files.map((path) => settingsIn(path, JSON.parse))))];
    const variable = (name: string): string | undefined =>
      settings.map((one) => textIn(one, 'env', name)).find((value) => value !== undefined) ?? (env[name] || undefined);
    const cloud = CLAUDE_CODE_CLOUDS.find((name) => isTurnedOn(variable(name)));
    if (cloud !== undefined) {
      throw new UnsupportedError(
        `Claude Code is set to a cloud (${cloud}), whose requests are signed for their address: run it without the gateway.`,
      );
    }
    const trust = await claudeCodeTrust(home);
    const { used, unused } = usableAddress(
      [
        ...settings.map((one, at): NamedAddress | undefined => {
          const text = textIn(one, 'env', ADDRESS);
          const path = files[at - 1];
          const from = path === undefined ? '--settings' : `${ADDRESS} in ${shownPath(path, home)}`;
          return text === undefined ? undefined : { text, from, isProjects: inProject.includes(path ?? '') };
        }),
        env[ADDRESS] ? { text: env[ADDRESS], from: ADDRESS } : undefined,
      ],
      trust,
    );
    return {
      routes: new Map([[ROUTE, addressIn(used?.text ?? 'https://api.anthropic.com', ADDRESS)]]),
      ...(used && { from: new Map([[ROUTE, used.from]]) }),
      unused,
      trust,
      canRecall: true,
      async launch({ url, file, recall }) {
        const permissions = isRecord(own['permissions']) ? own['permissions'] : {};
        const allowed = Array.isArray(permissions['allow']) ? (permissions['allow'] as unknown[]) : [];
        // A proxy in a project's settings would get the key: the address of the gateway is not encrypted.
        const usable = settings.filter((_, at) => trust.isTrusted || !inProject.includes(files[at - 1] ?? ''));
        const direct = NO_PROXY.map((name) => {
          const said = usable.map((one) => textIn(one, 'env', name)).find((value) => value !== undefined);
          return [name, withLoopback(said ?? env[name])] as const;
        });
        const overlay = {
          ...own,
          env: {
            ...(isRecord(own['env']) && own['env']),
            ...Object.fromEntries(direct),
            ANTHROPIC_BASE_URL: url(ROUTE),
          },
          permissions: { ...permissions, allow: [...allowed, `mcp__${recall.name}`] },
        };
        const { command, env: environment } = recall;
        // Tools that the model only finds by searching are not found when a marker names them.
        const server = { type: 'stdio', command, args: recall.args, env: environment, alwaysLoad: true };
        const servers = { mcpServers: { [recall.name]: server } };
        return {
          command: 'claude',
          args: [
            `--settings=${await file('settings.json', JSON.stringify(overlay))}`,
            `--mcp-config=${await file('mcp.json', JSON.stringify(servers))}`,
            ...without(args, '--settings'),
          ],
          env: { ANTHROPIC_BASE_URL: url(ROUTE) },
        };
      },
    };
  },
};

/** `--settings` takes a file or the settings themselves. */
async function givenSettings(given: string, cwd: string): Promise<Readonly<Record<string, unknown>>> {
  if (!given.trimStart().startsWith('{')) return settingsIn(resolve(cwd, given), JSON.parse);
  try {
    const value: unknown = JSON.parse(given);
    if (isRecord(value)) return value;
  } catch {
    // Told below.
  }
  throw new UnsupportedError('The settings given to Claude Code are not a JSON object.');
}

/** A command line without an option and its value. */
function without(args: readonly string[], name: string): string[] {
  const at = args.indexOf(name);
  return at < 0 ? args.filter((arg) => !arg.startsWith(`${name}=`)) : args.toSpliced(at, 2);
}
