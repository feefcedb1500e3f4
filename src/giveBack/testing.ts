import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generateConversation } from '../../test/generators/conversation';
import { Random } from '../../test/generators/random';
import { condense } from '../../test/generators/setups';
import { toTranscript } from '../../test/generators/transcript';
import { readConversation } from '../conversations/read';
import type { Conversation } from '../conversations/types';
import type { Edit } from '../core/condense/edits/edits';
import type { ApiMessage } from '../core/messages/types';

const START_TIME_MS = Date.UTC(2026, 0, 5, 9);
const TEST_TASK_ID = '0198c7a2-5f0e-7000-8000-3a1b2c3d4e5f';

/** Writes a file that was last changed an hour ago. */
export function writeOldFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  makeFileOld(path);
}

export const makeFileOld = (path: string): void => {
  const seconds = Date.now() / 1000 - 3600;
  utimesSync(path, seconds, seconds);
};

export const createConversation = (seed = 1): ApiMessage[] => generateConversation({ seed, targetTokens: 12_000 });

/** Creates the rows of the agent's chat: a request with its figures for each answer. */
const createUiRows = (messages: readonly ApiMessage[]): unknown[] =>
  messages.map((message, index) =>
    message.role === 'assistant'
      ? {
          ts: START_TIME_MS + index * 1000 + 1,
          type: 'say',
          say: 'api_req_started',
          text: JSON.stringify({ tokensIn: 1_000 + index * 400, tokensOut: 100 }),
        }
      : { ts: START_TIME_MS + index * 1000 + 1, type: 'say', say: 'text', text: 'so it went' },
  );

/**
 * Writes an idle Zoo Code task.
 * @returns the path of its history
 */
export function writeZooTask(
  home: string,
  messages: readonly ApiMessage[] = createConversation(),
  id = TEST_TASK_ID,
): string {
  const folder = join(home, 'globalStorage', 'zoocodeorganization.zoo-code', 'tasks', id);
  const history = messages.map((message, index) => ({ ...message, ts: START_TIME_MS + index * 1000 }));
  writeOldFile(join(folder, 'api_conversation_history.json'), JSON.stringify(history));
  writeOldFile(join(folder, 'ui_messages.json'), JSON.stringify(createUiRows(messages)));
  writeOldFile(join(folder, 'history_item.json'), JSON.stringify({ id, status: 'active' }));
  return join(folder, 'api_conversation_history.json');
}

/** @returns the path of the session's messages */
export function writeClineSession(home: string, messages: readonly ApiMessage[] = createConversation()): string {
  const id = '1784094124598_abcde';
  const path = join(home, '.cline', 'data', 'sessions', id, `${id}.messages.json`);
  const stored = messages.map(({ role, content }, index) => ({
    id: `msg_${index}`,
    role,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    ts: START_TIME_MS + index * 1000,
    ...(role === 'assistant' && { modelInfo: { id: 'claude-sonnet-4-6', provider: 'anthropic' } }),
  }));
  const session = { version: 1, updated_at: new Date(START_TIME_MS).toISOString(), agent: 'lead', sessionId: id };
  writeOldFile(path, JSON.stringify({ ...session, messages: stored, system_prompt: 'You are Cline.' }));
  return path;
}

/** @returns the path of the session's transcript */
export function writeClaudeSession(home: string, messages: readonly ApiMessage[] = createConversation()): string {
  const text = toTranscript(messages, new Random(7), {
    cwd: '/home/me/notes',
    gitBranch: 'main',
    version: '2.1.39',
    model: 'claude-sonnet-4-6',
    start: new Date(START_TIME_MS),
  });
  const path = join(home, '.claude', 'projects', '-home-me-notes', '5f0e7000-8000-4a1b-9c3d-4e5f0198c7a2.jsonl');
  writeOldFile(path, text);
  return path;
}

export interface CondensedFile {
  readonly read: Conversation;
  readonly edits: readonly Edit[];
  readonly view: readonly ApiMessage[];
}

/** Condenses a file's conversation with Truncation. */
export async function condenseFile(path: string, bytes: Uint8Array): Promise<CondensedFile> {
  const read = readConversation(bytes, { path });
  const { edits, view } = await condense({ provider: 'truncation', config: {}, target: undefined }, read.messages);
  return { read, edits, view };
}
