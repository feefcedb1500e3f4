/** Finds conversations without reading them (except small chat sessions of VS Code). */
import { basename, extname } from 'node:path';
import type { OpenDatabases } from '../databases';
import { formatLocation } from '../location';
import { listSessions } from '../formats/openCode/database';
import { ConversationReadError } from '../readError';
import { readConversationFile } from '../readFile';
import { type AgentStore, findParentSessionPath, listAgentStores } from './agentStores';
import type {
  FindConversationsOptions,
  FindConversationsProblem,
  FindConversationsResult,
  FoundConversation,
} from './types';
import { findStoreFiles } from './walk';

/**
 * Returns the newest first. Queries of databases block, so run it in a worker if possible.
 * @param databases keeps databases open
 */
export async function findConversations(
  options: FindConversationsOptions,
  databases?: OpenDatabases,
): Promise<FindConversationsResult> {
  const problems: FindConversationsProblem[] = [];
  const conversationsByStore = await Promise.all(
    (await listAgentStores(options)).map((store) => findConversationsInStore(store, problems, databases)),
  );
  const conversations = dropOldStoreCopies(conversationsByStore.flat()).sort((a, b) => b.modified - a.modified);
  const byPath = new Map(problems.map((problem) => [problem.path, problem]));
  return { conversations, problems: [...byPath.values()] };
}

export async function listStoreFolders(options: FindConversationsOptions): Promise<string[]> {
  return [...new Set((await listAgentStores(options)).map(({ root }) => root))];
}

async function findConversationsInStore(
  store: AgentStore,
  problems: FindConversationsProblem[],
  databases: OpenDatabases | undefined,
): Promise<FoundConversation[]> {
  const { agent, root, steps, kind } = store;
  const files = await findStoreFiles(root, steps, problems);
  return files.flatMap(({ path, stats }): FoundConversation[] => {
    if (kind === 'database') return listSessionsInFile(agent, path, problems, databases);
    const bytes = kind === 'session' ? undefined : stats.size;
    const parent = findParentSessionPath(store, path);
    return [{ agent, path, modified: stats.mtimeMs, bytes, ...(parent !== undefined && { parent }) }];
  });
}

function listSessionsInFile(
  agent: FoundConversation['agent'],
  path: string,
  problems: FindConversationsProblem[],
  databases: OpenDatabases | undefined,
): FoundConversation[] {
  try {
    return listSessions(path, databases).map(({ id, title, workspace, parent, modified }) => ({
      agent,
      path: formatLocation(path, id),
      modified,
      bytes: undefined,
      title,
      workspace,
      ...(parent !== undefined && { parent: formatLocation(path, parent) }),
    }));
  } catch (error) {
    if (!(error instanceof ConversationReadError)) throw error;
    problems.push({ path, reason: error.reason });
    return [];
  }
}

const CHAT_SESSION_PATH = /[\\/](?:chatSessions|emptyWindowChatSessions)[\\/][^\\/]+$/;

/**
 * Agents that changed their format left old files behind; if a session has both forms, the newer
 * one counts. VS Code's transcripts lack results and the first prompt (1.139), so a chat session
 * replaces them.
 */
function dropOldStoreCopies(conversations: readonly FoundConversation[]): FoundConversation[] {
  const databaseSessionIds = new Set(conversations.map(({ path }) => /#(ses_\w+)$/.exec(path)?.[1]));
  const jsonlPaths = new Set(conversations.map(({ path }) => path).filter((path) => path.endsWith('.jsonl')));
  const transcriptNames = new Set(
    conversations
      .filter(({ agent, path }) => agent === 'VS Code' && !CHAT_SESSION_PATH.test(path))
      .map(({ path }) => basename(path, '.jsonl')),
  );
  const chatNames = new Set(
    conversations
      .filter(({ path }) => CHAT_SESSION_PATH.test(path) && transcriptNames.has(basename(path, extname(path))))
      .filter((found) => !isEmptyChat(found))
      .map(({ path }) => basename(path, extname(path))),
  );
  return conversations.filter(({ agent, path }) => {
    if (agent === 'Gemini CLI') return extname(path) !== '.json' || !jsonlPaths.has(`${path}l`);
    if (agent === 'VS Code') {
      return CHAT_SESSION_PATH.test(path)
        ? extname(path) !== '.json' || !jsonlPaths.has(`${path}l`)
        : !chatNames.has(basename(path, '.jsonl'));
    }
    return !(path.endsWith('.json') && databaseSessionIds.has(basename(path, '.json')));
  });
}

const MAX_EMPTY_CHAT_BYTES = 64 * 1024;

/** Unreadable chat sessions stay, so that their row shows the problem. */
function isEmptyChat({ path, bytes = 0 }: FoundConversation): boolean {
  if (bytes > MAX_EMPTY_CHAT_BYTES) return false;
  try {
    readConversationFile(path, {}, { maxBytes: MAX_EMPTY_CHAT_BYTES });
    return false;
  } catch (error) {
    return error instanceof ConversationReadError && error.problem === 'nothing-said';
  }
}
