/** Tests real conversations, which are kept outside of the repository (../shared/corpus). */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getBlocks, isToolResult, isToolUse } from '../core/messages/blocks';
import { checkConversation } from '../core/messages/firewall';
import type { ApiMessage } from '../core/messages/types';
import { readConversationFile } from './readFile';
import { findUnansweredCalls } from './formats/unanswered';
import { getNoteText } from './notes';

const CORPUS = join(import.meta.dirname, '../../../shared/corpus');
const present = existsSync(CORPUS);
if (!present) console.warn(`NOT TESTED: the real conversations are not at ${CORPUS}`);

const count = (messages: readonly ApiMessage[]): number =>
  messages.reduce((sum, { content }) => sum + (typeof content === 'string' ? 1 : content.length), 0);

interface RawRecord {
  readonly isSidechain?: boolean;
  readonly isApiErrorMessage?: boolean;
  readonly message?: { readonly content: string | readonly unknown[] };
}

/**
 * Counts independently of the reader: several records on one line are split where one ends and the
 * next begins.
 */
const rawRecords = (path: string): RawRecord[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => line.replaceAll('}{"type":"summary"', '}\n{"type":"summary"').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RawRecord);

/**
 * Number of blocks on abandoned branches. Transcript 03 continues from a message before an `/exit`,
 * which abandons that command and its output.
 */
const ABANDONED: Readonly<Record<string, number>> = { 'transcript-03.jsonl': 2 };
/**
 * Number of prompts that only the queue's records contain, since they were typed while Claude Code
 * worked.
 */
const QUEUED: Readonly<Record<string, number>> = {
  'transcript-03.jsonl': 2,
  'transcript-06.jsonl': 1,
  'transcript-08.jsonl': 1,
  'transcript-09.jsonl': 1,
};
const COMPACTED = ['transcript-01.jsonl', 'transcript-02.jsonl', 'transcript-03.jsonl'];

describe.skipIf(!present)('a real Claude Code transcript', () => {
  const folder = join(CORPUS, 'claude-code');
  describe.each(present ? readdirSync(folder) : [])('named %s', (name) => {
    const path = join(folder, name);
    const all = readConversationFile(path, { history: 'all' });
    const active = readConversationFile(path);

    it('is read with every block of the file', () => {
      const sent = rawRecords(path).filter(
        ({ isSidechain, isApiErrorMessage }) => isSidechain !== true && isApiErrorMessage !== true,
      );
      const blocks = sent.reduce(
        (sum, { message }) => sum + (message ? (typeof message.content === 'string' ? 1 : message.content.length) : 0),
        0,
      );
      expect(count(all.messages)).toBe(blocks - (ABANDONED[name] ?? 0) + (QUEUED[name] ?? 0));
      expect(all.messages.length).toBeGreaterThan(50);
    });

    it('answers every call in the next user message', () => {
      expect(findUnansweredCalls(all.messages)).toEqual([]);
      expect(findUnansweredCalls(active.messages)).toEqual([]);
      const calls = all.messages.flatMap((message) => getBlocks(message).filter(isToolUse));
      const results = all.messages.flatMap((message) => getBlocks(message).filter(isToolResult));
      expect(results).toHaveLength(calls.length);
      expect(calls.length).toBeGreaterThan(60);
    });

    it('is valid for the Messages API', () => {
      // The files contain blank texts. Claude Code drops them when it sends, and we leave them
      // unchanged.
      const violations = [all, active].flatMap(({ messages }) => checkConversation(messages));
      expect(violations.filter(({ rule }) => rule !== 'text-not-blank')).toEqual([]);
    });

    it('has an id and a title without machine-written words', () => {
      expect(active.id).toMatch(/^claude-code:[0-9a-f-]{36}$/);
      // A slash command with its argument is a title.
      expect(active.title).toMatch(/^\/?\p{L}[^<]*$/u);
      expect(active.title).toBe(all.title);
    });

    it('is read from its last compaction on, with a note', () => {
      const left = all.messages.length - active.messages.length;
      expect(left > 0).toBe(COMPACTED.includes(name));
      expect(
        active.notes.some((note) => getNoteText(note).startsWith(`Left out, before the last compaction: ${left} `)),
      ).toBe(left > 0);
    });
  });
});

describe.skipIf(!present)('real conversations of other agents', () => {
  it.each([
    ['roo/synthetic-2-heavy-read/api_conversation_history.json', 32, 'Read 15+'],
    ['roo/synthetic-4-mixed-ops/api_conversation_history.json', 40, 'Simulate a'],
    ['cline/session.messages.json', 32, 'can you update'],
    ['cline/basic.compaction.json', 10, 'can you update'],
    ['cline/agentic.compaction.json', 3, 'Context summary'],
  ])('are read with their messages and title: %s', (name, messages, title) => {
    const path = join(CORPUS, name);
    const conversation = readConversationFile(path);
    expect(conversation.format).toBe('roo');
    expect(conversation.messages).toHaveLength(messages);
    expect(conversation.title).toContain(title);
    expect(findUnansweredCalls(conversation.messages)).toEqual([]);
    const raw = JSON.parse(readFileSync(path, 'utf8')) as ApiMessage[] | { messages: ApiMessage[] };
    expect(count(conversation.messages)).toBe(count('messages' in raw ? raw.messages : raw));
    if (name.startsWith('roo')) expect(conversation.messages).toEqual(raw);
  });
});
