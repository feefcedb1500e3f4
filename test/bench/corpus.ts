/**
 * Loads the conversations to measure: real ones if corpora are next to the project, or else
 * generated ones.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { readConversationFile } from '../../src/conversations/readFile';
import type { HistoryScope } from '../../src/conversations/types';
import type { ApiMessage, Block } from '../../src/core/messages/types';
import { generateConversation } from '../generators/conversation';
import { freshCounter } from './measure';

export interface BenchConversation {
  readonly name: string;
  readonly format: string;
  readonly agent: string;
  /** Owner of the repository; all repositories of one owner count as one project. */
  readonly project: string;
  readonly messages: readonly ApiMessage[];
}

export interface BenchCorpus {
  readonly isReal: boolean;
  readonly conversations: readonly BenchConversation[];
}

/** The path is relative to the project. */
const CORPUS_FOLDER = '../shared/corpus';
/** Contains sessions of many agents and projects, with a manifest. */
export const WIDE_CORPUS_FOLDER = '../shared/corpus-wide';
const CONVERSATION_FILE = /(?:\.jsonl?|\.messages\.json)$/;
/** Matches files that are next to conversations but are none. */
const OTHER_FILE_PATTERN = /(?:^|[\\/])(?:ui_messages|task_metadata|taskHistory|package|tsconfig)\.json$|compact/;
const GENERATED_SEEDS = [1, 2, 3, 4, 5, 6];

/** @param warn called with the reason if real conversations can't be measured. */
export function loadCorpus(warn: (text: string) => void, folder = CORPUS_FOLDER): BenchCorpus {
  if (!existsSync(folder)) {
    warn(
      `NO CORPUS at ${resolve(folder)}: what follows is measured on GENERATED conversations. --corpus FOLDER measures those in a folder of yours.`,
    );
    return { isReal: false, conversations: GENERATED_SEEDS.map(generated) };
  }
  return { isReal: true, conversations: readConversationsIn(folder, warn) };
}

/** Contains newer sessions, and those of less common agents. */
const NEWER_CORPUS_FOLDER = '../shared/corpus-2';
export const ALL_CORPUS_FOLDERS: readonly string[] = [CORPUS_FOLDER, NEWER_CORPUS_FOLDER, WIDE_CORPUS_FOLDER];

/** Loads all available corpora, including the history from before agents' own compactions. */
export const loadAllSessions = (
  warn: (text: string) => void,
  folders: readonly string[] = ALL_CORPUS_FOLDERS,
): BenchConversation[] => sessionFiles(folders).flatMap((session) => session.read(warn));

/** A session that is read on demand. */
export interface SessionFile {
  readonly name: string;
  readonly path: string;
  /**
   * Reads the session. @returns no conversation if it is unreadable, which is reported to `warn`
   */
  read(warn: (text: string) => void): BenchConversation[];
}

export const sessionFiles = (folders: readonly string[] = [CORPUS_FOLDER, WIDE_CORPUS_FOLDER]): SessionFile[] =>
  folders.filter((folder) => existsSync(folder)).flatMap((folder) => listSessionsIn(folder, 'all'));

const readConversationsIn = (folder: string, warn: (text: string) => void): BenchConversation[] =>
  listSessionsIn(folder, 'active').flatMap((session) => session.read(warn));

function listSessionsIn(folder: string, history: HistoryScope): SessionFile[] {
  const manifest = readManifest(folder);
  return listConversationFiles(folder).map((file) => {
    const name = relative(folder, file);
    return {
      name,
      path: file,
      read(warn) {
        try {
          const { format, messages } = readConversationFile(file, { history });
          const { agent = format, project = getProject(name) } = manifest.get(name.replaceAll(sep, '/')) ?? {};
          return [{ name, format, agent, project, messages }];
        } catch (error) {
          warn(`left out: ${error instanceof Error ? error.message : String(error)}`);
          return [];
        }
      },
    };
  });
}

/**
 * Reads agent and repository of each file from `manifest.tsv`; empty if the manifest is missing.
 */
function readManifest(folder: string): Map<string, { readonly agent: string; readonly project: string }> {
  const file = join(folder, 'manifest.tsv');
  if (!existsSync(file)) return new Map();
  const [head = [], ...rows] = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  const cell = (row: readonly string[], name: string): string => row[head.indexOf(name)] ?? '';
  return new Map(
    rows.map((row) => {
      const agent = cell(row, 'agent');
      const project = cell(row, 'repo').split('/')[0]?.toLowerCase() ?? '';
      return [`${agent}/${cell(row, 'file').split('/').at(-1) ?? ''}`, { agent, project }];
    }),
  );
}

/**
 * The older corpus contains Claude Code sessions of a repository whose owner is also in the wider
 * corpus, so they count as the same project.
 */
const getProject = (name: string): string => {
  const folder = dirname(name).split(sep)[0] ?? '';
  return folder === 'claude-code' ? 'entireio' : folder;
};

const listConversationFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() &&
        CONVERSATION_FILE.test(entry.name) &&
        !OTHER_FILE_PATTERN.test(join(entry.parentPath, entry.name)),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

const generated = (seed: number): BenchConversation => ({
  name: `generated ${seed}`,
  format: 'generated',
  agent: 'generated',
  project: `generated ${seed}`,
  messages: generateConversation({ seed, targetTokens: 25_000 * seed }),
});

/**
 * Joins sessions until each joined conversation reaches this many tokens, and makes call IDs
 * unique.
 */
export function joinSessions(conversations: readonly BenchConversation[], most: number): [string, ApiMessage[]][] {
  const counter = freshCounter();
  const joinedConversations: [string, ApiMessage[]][] = [];
  let openConversation: ApiMessage[] = [];
  let tokens = 0;
  for (const [index, { messages }] of conversations.entries()) {
    for (const message of messages) {
      openConversation.push(prefixCallIds(message, `${index}-`));
      tokens += counter.countMessage(message);
      if (tokens < most) continue;
      joinedConversations.push([`real, joined ${joinedConversations.length + 1}`, openConversation]);
      openConversation = [];
      tokens = 0;
      break;
    }
  }
  return joinedConversations;
}

function prefixCallIds(message: ApiMessage, prefix: string): ApiMessage {
  if (typeof message.content === 'string') return message;
  const content = message.content.map((block): Block => {
    const { id, tool_use_id: of } = block as { readonly id?: unknown; readonly tool_use_id?: unknown };
    return {
      ...block,
      ...(typeof id === 'string' && { id: prefix + id }),
      ...(typeof of === 'string' && { tool_use_id: prefix + of }),
    };
  });
  return { ...message, content };
}
