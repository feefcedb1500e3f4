import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  UnsupportedError,
  getRecordAtPath,
  getTextAtPath,
  listFolderAndParents,
  parseAddress,
  readSettingsFile,
  getSystemSettingsPath,
  type AgentEnvironment,
  type GatewayAgent,
} from './agent';
import { parseJsonc } from './jsonc';

const ROUTE_NAME = 'gemini';
const ADDRESS_VARIABLE = 'GOOGLE_GEMINI_BASE_URL';

/**
 * With an API key, Gemini CLI reads its URL from the environment. Google sign-in and Vertex use
 * other URLs and signatures, so they are not supported. The MCP server needs a system settings file
 * that only root can write to, so most users get no recall. Source: its configuration reference and
 * code (`isFileAndDirectorySecureSync`, 0.61.0).
 */
export const geminiCli: GatewayAgent = {
  resumeArguments: ['--resume', 'latest'],
  async prepare(args, home) {
    const { env, homedir, cwd } = home;
    const systemFile = env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] ?? getSystemSettingsPath(home, 'GeminiCli', 'gemini-cli');
    const systemSettings = await readSettingsFile(systemFile, parseJsonc);
    const [project, user] = await Promise.all(
      [join(cwd, '.gemini', 'settings.json'), join(homedir, '.gemini', 'settings.json')].map((path) =>
        readSettingsFile(path, parseJsonc),
      ),
    );
    const authType = [systemSettings, project, user]
      .map((one) => getTextAtPath(one, 'security', 'auth', 'selectedType') ?? getTextAtPath(one, 'selectedAuthType'))
      .find((value) => value !== undefined);
    const chosenAuthType = authType ?? readAuthType(env);
    if (chosenAuthType !== 'gemini-api-key') {
      throw new UnsupportedError(
        `Gemini CLI is signed in with "${chosenAuthType ?? 'nothing yet'}"; only an API key is supported: set GEMINI_API_KEY and choose it with /auth.`,
      );
    }
    const canRecall = isWritableOnlyByRoot(home.runs, home);
    const addressFromEnvironment = env[ADDRESS_VARIABLE] || undefined;
    return {
      routes: new Map([
        [
          ROUTE_NAME,
          parseAddress(addressFromEnvironment ?? 'https://generativelanguage.googleapis.com', ADDRESS_VARIABLE),
        ],
      ]),
      ...(addressFromEnvironment !== undefined && { sourceByRoute: new Map([[ROUTE_NAME, ADDRESS_VARIABLE]]) }),
      canRecall,
      async launch({ url, file, recall }) {
        if (!canRecall) return { command: 'gemini', args, env: { [ADDRESS_VARIABLE]: url(ROUTE_NAME) } };
        const servers = getRecordAtPath(systemSettings, 'mcpServers');
        const { command, args: serverArgs, env: serverEnv } = recall;
        const server = { command, args: serverArgs, env: serverEnv, trust: true };
        const overlaySettings = { ...systemSettings, mcpServers: { ...servers, [recall.name]: server } };
        return {
          command: 'gemini',
          args,
          env: {
            [ADDRESS_VARIABLE]: url(ROUTE_NAME),
            GEMINI_CLI_SYSTEM_SETTINGS_PATH: await file('gemini.json', JSON.stringify(overlaySettings)),
          },
        };
      },
    };
  },
};

/**
 * Returns the kind of authentication if the settings name none, checked in the agent's order
 * (`getAuthTypeFromEnv`, 0.61.0).
 */
function readAuthType(env: AgentEnvironment['env']): string | undefined {
  if (env['GOOGLE_GENAI_USE_GCA'] === 'true') return 'oauth-personal';
  if (env['GOOGLE_GENAI_USE_VERTEXAI'] === 'true') return 'vertex-ai';
  return env['GEMINI_API_KEY'] ? 'gemini-api-key' : undefined;
}

const GROUP_OR_OTHERS_WRITE_MODE = 0o022;

/** True if files created here belong to root and only root can write to the parent folders. */
function isWritableOnlyByRoot(folder: string, { platform }: AgentEnvironment): boolean {
  if (platform === 'win32' || process.getuid?.() !== 0) return false;
  const existingFolder = findExistingParent(folder);
  return [existingFolder, realpathSync(existingFolder)].flatMap(listFolderAndParents).every((path) => {
    const { uid, mode } = statSync(path);
    return uid === 0 && (mode & GROUP_OR_OTHERS_WRITE_MODE) === 0 && lstatSync(path).uid === 0;
  });
}

const findExistingParent = (folder: string): string =>
  existsSync(folder) ? folder : findExistingParent(dirname(folder));
