/** Where each agent keeps its conversations. Sources: the agents' own documentation and sources; see docs/formats.md. */
import { basename, dirname, join } from 'node:path';
import { customStorage } from './customStorage';
import { dataFolder, userFolders } from './products';
import type { Agent, FindOptions } from './types';

/** A step from a store's folder down to its files: a name, or the names that fit. */
export type Step = string | RegExp;

/** Files of one kind below one folder. */
export interface Store {
  readonly agent: Agent;
  readonly root: string;
  readonly steps: readonly Step[];
  /** `database`: each file holds many sessions. `session`: its messages lie in other files. */
  readonly kind?: 'database' | 'session';
  /** The file of the conversation that started the one in a file. */
  readonly parentOf?: (path: string) => string;
}

const ANY = /^/;

/** Extensions of the Roo family and Cline, by the folder that VS Code gives them. */
const TASK_EXTENSIONS: Readonly<Record<string, Agent>> = {
  'rooveterinaryinc.roo-cline': 'Roo Code',
  'zoocodeorganization.zoo-code': 'Zoo Code',
  'kilocode.kilo-code': 'Kilo Code',
  'saoudrizwan.claude-dev': 'Cline',
};

/** All stores that may be on this machine. */
export async function storesOf(options: FindOptions): Promise<Store[]> {
  const users = userFolders(options);
  const custom = (await Promise.all(users.map((user) => customStorage(user, options)))).flat();
  const tasks = (agent: Agent, folder: string): Store => ({
    agent,
    root: join(folder, 'tasks'),
    steps: [ANY, 'api_conversation_history.json'],
  });
  const stores = [
    ...commandLineStores(options),
    ...users.flatMap((user) => [
      ...Object.entries(TASK_EXTENSIONS).map(([extension, agent]) =>
        tasks(agent, join(user, 'globalStorage', extension)),
      ),
      ...copilotTranscripts(user),
    ]),
    ...custom.map(({ agent, folder }) => tasks(agent, folder)),
    tasks('Roo Code', join(options.homedir, '.vscode-mock', 'global-storage')),
  ];
  const byRoot = new Map(stores.map((store) => [`${store.root}\n${store.steps.join('/')}`, store]));
  return [...byRoot.values()];
}

/** Transcripts of VS Code's own agent, by workspace; windows without a folder have theirs among the global ones. */
function copilotTranscripts(user: string): Store[] {
  const inside = [/^github\.copilot-chat$/i, 'transcripts', /\.jsonl$/];
  return [
    { agent: 'VS Code', root: join(user, 'workspaceStorage'), steps: [ANY, ...inside] },
    { agent: 'VS Code', root: join(user, 'globalStorage'), steps: inside },
  ];
}

function commandLineStores(options: FindOptions): Store[] {
  const { env, homedir } = options;
  const claude = join(env['CLAUDE_CONFIG_DIR'] || join(homedir, '.claude'), 'projects');
  const codex = env['CODEX_HOME'] || join(homedir, '.codex');
  const copilot = join(env['COPILOT_HOME'] || join(homedir, '.copilot'), 'session-state');
  const gemini = join(env['GEMINI_CLI_HOME'] || homedir, '.gemini', 'tmp');
  const cline = env['CLINE_DATA_DIR'] || join(env['CLINE_DIR'] || join(homedir, '.cline'), 'data');
  const rollout = /^rollout-.*\.jsonl$/s;
  return [
    { agent: 'Claude Code', root: claude, steps: [ANY, /^(?!agent-).*\.jsonl$/s] },
    {
      agent: 'Claude Code',
      root: claude,
      steps: [ANY, ANY, 'subagents', /^agent-.*\.jsonl$/s],
      parentOf: sessionAbove,
    },
    { agent: 'Codex', root: join(codex, 'sessions'), steps: [ANY, ANY, ANY, rollout] },
    { agent: 'Codex', root: join(codex, 'sessions'), steps: [rollout] },
    { agent: 'Codex', root: join(codex, 'archived_sessions'), steps: [rollout] },
    { agent: 'Copilot CLI', root: copilot, steps: [ANY, 'events.jsonl'] },
    { agent: 'Copilot CLI', root: copilot, steps: [/\.jsonl$/] },
    { agent: 'Gemini CLI', root: gemini, steps: [ANY, 'chats', /^session-.*\.jsonl?$/s] },
    { agent: 'Gemini CLI', root: gemini, steps: [ANY, 'chats', ANY, /\.jsonl$/] },
    { agent: 'Cline', root: join(cline, 'tasks'), steps: [ANY, 'api_conversation_history.json'] },
    {
      agent: 'Cline',
      root: env['CLINE_SESSION_DATA_DIR'] || join(cline, 'sessions'),
      steps: [ANY, /\.messages\.json$/],
    },
    ...openCodeStores('OpenCode', 'opencode', options),
    ...openCodeStores('Kilo Code', 'kilo', options),
  ];
}

/** OpenCode and Kilo use `XDG_DATA_HOME` on every system; builds for macOS and Windows were seen with the system's own. */
function openCodeStores(agent: Agent, name: string, options: FindOptions): Store[] {
  const { platform, env, homedir } = options;
  const folders = [
    join(dataFolder(options), name),
    ...(platform === 'darwin' ? [join(homedir, 'Library', 'Application Support', name)] : []),
    ...(platform === 'win32' ? [join(env['LOCALAPPDATA'] || join(homedir, 'AppData', 'Local'), name)] : []),
  ];
  const database = new RegExp(`^${name}(?:-[\\w.-]+)?\\.db$`);
  return folders.flatMap((root): Store[] => [
    { agent, root, steps: [database], kind: 'database' },
    { agent, root: join(root, 'storage', 'session'), steps: [ANY, /^ses_\w+\.json$/], kind: 'session' },
  ]);
}

/** `<session>/subagents/agent-x.jsonl` was started by `<session>.jsonl`. */
function sessionAbove(path: string): string {
  const session = dirname(dirname(path));
  return join(dirname(session), `${basename(session)}.jsonl`);
}
