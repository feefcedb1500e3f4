/** Finds the conversations that agents keep on this machine. Where they lie: the agents' own documentation and sources. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** An agent whose conversations are found. */
export type Agent = 'Claude Code' | 'Roo Code' | 'Zoo Code' | 'Kilo Code' | 'Cline';

/** A conversation's file, not yet read. */
export interface FoundConversation {
  readonly agent: Agent;
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  readonly bytes: number;
}

export interface FindOptions {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homedir: string;
  /** The global storage folder of this very VS Code, whatever product it is. */
  readonly globalStorage?: string;
}

/** Extensions of the Roo family and Cline, by the folder that VS Code gives them. */
const TASK_EXTENSIONS: Readonly<Record<string, Agent>> = {
  'rooveterinaryinc.roo-cline': 'Roo Code',
  'zoocodeorganization.zoo-code': 'Zoo Code',
  'kilocode.kilo-code': 'Kilo Code',
  'saoudrizwan.claude-dev': 'Cline',
};

/** VS Code and its kin, by the name of their settings folder. */
const PRODUCTS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'];

/** Folders on a remote machine that hold what the settings folder holds on a local one. */
const SERVERS = ['.vscode-server', '.vscode-server-insiders', '.vscode-remote', '.cursor-server', '.windsurf-server'];

/** All conversations, the newest first. A folder that can't be read has none. */
export async function findConversations(options: FindOptions): Promise<FoundConversation[]> {
  const found = await Promise.all([findClaudeCode(options), ...storageFolders(options).map(findTasks)]);
  return found.flat().toSorted((a, b) => b.modified - a.modified);
}

/** `~/.claude/projects/<folder>/<session>.jsonl`; what subagents wrote (`agent-….jsonl`) belongs to its session. */
async function findClaudeCode({ env, homedir }: FindOptions): Promise<FoundConversation[]> {
  const projects = join(env['CLAUDE_CONFIG_DIR'] || join(homedir, '.claude'), 'projects');
  const folders = await list(projects);
  const files = await Promise.all(
    folders.map(async (folder) => {
      const names = await list(join(projects, folder));
      return names
        .filter((name) => name.endsWith('.jsonl') && !name.startsWith('agent-'))
        .map((name) => join(projects, folder, name));
    }),
  );
  return known('Claude Code', files.flat());
}

/** `<storage>/<extension>/tasks/<task>/api_conversation_history.json`. */
async function findTasks(storage: string): Promise<FoundConversation[]> {
  const found = await Promise.all(
    Object.entries(TASK_EXTENSIONS).map(async ([extension, agent]) => {
      const tasks = join(storage, extension, 'tasks');
      const folders = await list(tasks);
      return known(
        agent,
        folders.map((task) => join(tasks, task, 'api_conversation_history.json')),
      );
    }),
  );
  return found.flat();
}

/** The global storage folders of all VS Code products on this machine, each once. */
function storageFolders({ platform, env, homedir, globalStorage }: FindOptions): string[] {
  const settings =
    platform === 'darwin'
      ? join(homedir, 'Library', 'Application Support')
      : platform === 'win32'
        ? env['APPDATA'] || join(homedir, 'AppData', 'Roaming')
        : env['XDG_CONFIG_HOME'] || join(homedir, '.config');
  const folders = [
    ...PRODUCTS.map((product) => join(settings, product, 'User', 'globalStorage')),
    ...SERVERS.map((server) => join(homedir, server, 'data', 'User', 'globalStorage')),
    join(homedir, '.local', 'share', 'code-server', 'User', 'globalStorage'),
    ...(globalStorage === undefined ? [] : [globalStorage]),
  ];
  return [...new Set(folders)];
}

/** Names in a folder; a folder that isn't there or can't be read has none. */
const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** The files that exist and are not empty. */
async function known(agent: Agent, paths: readonly string[]): Promise<FoundConversation[]> {
  const found = await Promise.all(
    paths.map(async (path): Promise<FoundConversation[]> => {
      const file = await stat(path).catch(() => undefined);
      return file?.isFile() && file.size > 0 ? [{ agent, path, modified: file.mtimeMs, bytes: file.size }] : [];
    }),
  );
  return found.flat();
}
