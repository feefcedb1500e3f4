import { closeSync, openSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AGENT_LIST, type AgentName } from '../../core/agents';
import type { StoreRow } from '../../core/agents/types';
import { readCustomStorageFolders } from './customStorage';
import { getDataFolder, getLocalFolders, listVsCodeUserFolders } from './products';
import type { FindConversationsOptions } from './types';

export interface AgentStore extends StoreRow {
  readonly agent: AgentName;
}

export async function listAgentStores(options: FindConversationsOptions): Promise<AgentStore[]> {
  const userFolders = listVsCodeUserFolders(options);
  const customFolders = (await Promise.all(userFolders.map((user) => readCustomStorageFolders(user, options)))).flat();
  const stores = [
    ...AGENT_LIST.flatMap(({ name, stores: rows }) =>
      rows.flatMap((row) =>
        resolveStoreFolders(row.root, options, userFolders).map((root): AgentStore => ({ ...row, agent: name, root })),
      ),
    ),
    ...customFolders.map(({ agent, folder }): AgentStore => ({
      agent,
      root: join(folder, 'tasks'),
      steps: [/^/, 'api_conversation_history.json'],
    })),
  ];
  const storeByRootAndSteps = new Map(stores.map((store) => [`${store.root}\n${store.steps.join('/')}`, store]));
  return [...storeByRootAndSteps.values()];
}

export function findParentSessionPath({ parent }: StoreRow, path: string): string | undefined {
  if (parent === undefined) return undefined;
  if (parent === 'session-named') {
    const parentId = readParentId(path);
    return parentId === undefined ? undefined : join(dirname(path), `${parentId}.jsonl`);
  }
  const sessionFolder = parent === 'session-folder' ? dirname(path) : dirname(dirname(path));
  return join(dirname(sessionFolder), `${basename(sessionFolder)}.jsonl`);
}

/** Enough bytes for the first record, which is short or starts with the parent's id. */
const DETECTION_BYTES = 4_096;

function readParentId(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(DETECTION_BYTES);
    const beginning = bytes.toString('utf8', 0, readSync(file, bytes));
    return /"sessionId"\s*:\s*"([\w-]+)"/.exec(beginning)?.[1];
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function resolveStoreFolders(
  root: string,
  options: FindConversationsOptions,
  userFolders: readonly string[],
): string[] {
  const expandedPath = expandVariables(root, options.env);
  const [variable = '', ...subfolders] = expandedPath.split('/');
  const foldersByVariable: Readonly<Record<string, readonly string[]>> = {
    '~': [options.homedir],
    '<data>': [getDataFolder(options)],
    '<local>': getLocalFolders(options),
    '<user>': userFolders,
  };
  return foldersByVariable[variable]?.map((start) => join(start, ...subfolders)) ?? [join(expandedPath)];
}

/** Expands `${NAME:-else}`, innermost first; empty variables count as unset. */
function expandVariables(text: string, env: FindConversationsOptions['env']): string {
  // A variable's value is a path and must not be expanded again.
  return (text.match(/\$\{/g) ?? []).reduce(
    (path) => path.replace(/\$\{(\w+):-([^${}]*)\}/, (_, name: string, other: string) => env[name] || other),
    text,
  );
}
