import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  UnsupportedError,
  getRecord,
  getText,
  listFolders,
  parseAddress,
  settingsIn,
  systemSettings,
  type AgentHome,
  type GatewayAgent,
} from './agent';
import { jsonc } from './jsonc';

const ROUTE = 'gemini';
const ADDRESS = 'GOOGLE_GEMINI_BASE_URL';

/**
 * Gemini CLI with an API key reads its URL from the environment. Google sign-in (Code Assist) and
 * Vertex are not supported, since they use other URLs and signatures. A system settings file given
 * by a variable adds the MCP server; but the agent reads it only if the file and all parent folders
 * are writable by root alone, and then ignores the real one, so most users get no recall. Source:
 * its configuration reference and code (`isFileAndDirectorySecureSync`, 0.61.0).
 */
export const geminiCli: GatewayAgent = {
  goesOn: ['--resume', 'latest'],
  async prepare(args, home) {
    const { env, homedir, cwd } = home;
    const systemFile = env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] ?? systemSettings(home, 'GeminiCli', 'gemini-cli');
    const system = await settingsIn(systemFile, jsonc);
    const [project, user] = await Promise.all(
      [join(cwd, '.gemini', 'settings.json'), join(homedir, '.gemini', 'settings.json')].map((path) =>
        settingsIn(path, jsonc),
      ),
    );
    const chosen = [system, project, user]
      .map((one) => getText(one, 'security', 'auth', 'selectedType') ?? getText(one, 'selectedAuthType'))
      .find((value) => value !== undefined);
    const type = chosen ?? typeInEnvironment(env);
    if (type !== 'gemini-api-key') {
      throw new UnsupportedError(
        `Gemini CLI is signed in with "${type ?? 'nothing yet'}"; only an API key is supported: set GEMINI_API_KEY and choose it with /auth.`,
      );
    }
    const canRecall = isRoots(home.runs, home);
    const set = env[ADDRESS] || undefined;
    return {
      routes: new Map([[ROUTE, parseAddress(set ?? 'https://generativelanguage.googleapis.com', ADDRESS)]]),
      ...(set !== undefined && { from: new Map([[ROUTE, ADDRESS]]) }),
      canRecall,
      async launch({ url, file, recall }) {
        if (!canRecall) return { command: 'gemini', args, env: { [ADDRESS]: url(ROUTE) } };
        const servers = getRecord(system, 'mcpServers');
        const { command, args: serverArgs, env: serverEnv } = recall;
        const server = { command, args: serverArgs, env: serverEnv, trust: true };
        const overlay = { ...system, mcpServers: { ...servers, [recall.name]: server } };
        return {
          command: 'gemini',
          args,
          env: {
            [ADDRESS]: url(ROUTE),
            GEMINI_CLI_SYSTEM_SETTINGS_PATH: await file('gemini.json', JSON.stringify(overlay)),
          },
        };
      },
    };
  },
};

/**
 * Authentication if the settings have none, in the agent's order (`getAuthTypeFromEnv`, 0.61.0).
 */
function typeInEnvironment(env: AgentHome['env']): string | undefined {
  if (env['GOOGLE_GENAI_USE_GCA'] === 'true') return 'oauth-personal';
  if (env['GOOGLE_GENAI_USE_VERTEXAI'] === 'true') return 'vertex-ai';
  return env['GEMINI_API_KEY'] ? 'gemini-api-key' : undefined;
}

const GROUP_OR_OTHERS_WRITE = 0o022;

/** True if files created here belong to root and all parent folders are writable only by root. */
function isRoots(folder: string, { platform }: AgentHome): boolean {
  if (platform === 'win32' || process.getuid?.() !== 0) return false;
  const there = existing(folder);
  return [there, realpathSync(there)].flatMap(listFolders).every((path) => {
    const { uid, mode } = statSync(path);
    return uid === 0 && (mode & GROUP_OR_OTHERS_WRITE) === 0 && lstatSync(path).uid === 0;
  });
}

/** The folder or its nearest existing parent. */
const existing = (folder: string): string => (existsSync(folder) ? folder : existing(dirname(folder)));
