import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/support/temporaryFolder';
import { checkConversation } from '../../../core/messages/firewall';
import { readConversationFile } from '../../readFile';
import { listSessions } from './database';
import { getNoteText } from '../../notes';

type Fields = Record<string, unknown>;

let file: string;
let database: DatabaseSync;
beforeEach(() => {
  file = join(temporaryFolder(), 'opencode.db');
  database = new DatabaseSync(file);
  database.exec(`
    CREATE TABLE session_v2 (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, time_updated INTEGER, data TEXT);
  `);
});

function addSession(id: string, updated: number, messages: readonly (readonly [string, Fields])[]): void {
  database
    .prepare('INSERT INTO session_v2 (id, directory, title, time_created, time_updated) VALUES (?, ?, ?, 1, ?)')
    .run(id, '/w/app', `Session ${id}`, updated);
  messages.forEach(([type, data], seq) => {
    database
      .prepare('INSERT INTO session_message VALUES (?, ?, ?, ?, 1, 1, ?)')
      .run(`msg_${id}_${seq}`, id, type, seq, JSON.stringify({ time: { created: 1_795_600_000_000 }, ...data }));
  });
}

it("OpenCode 2's store omits reverted messages and an unfinished compaction", () => {
  database.exec('ALTER TABLE session_v2 ADD COLUMN revert TEXT');
  addSession('ses_1', 5, [
    ['user', { text: 'first' }],
    ['compaction', { status: 'running', summary: 'half of it' }],
    ['assistant', { content: [text('done')] }],
    ['user', { text: 'taken back' }],
  ]);
  database.prepare('UPDATE session_v2 SET revert = ?').run(JSON.stringify({ messageID: 'msg_ses_1_3' }));
  database.close();
  const { messages, notes } = readConversationFile(`${file}#ses_1`);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(notes).toEqual(['Left out: 1 message taken back (reverted).']);
});

it("OpenCode 2's store is read from the tables of 1.x if a migration has not moved the messages yet", () => {
  database.exec(`
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
  `);
  addSession('ses_1', 5, []);
  database
    .prepare('INSERT INTO session (id, directory, title, time_created, time_updated) VALUES (?, ?, ?, 1, 5)')
    .run('ses_1', '/w/app', 'Old');
  database.prepare('INSERT INTO message VALUES (?, ?, 1, ?)').run('m1', 'ses_1', JSON.stringify({ role: 'user' }));
  database.prepare('INSERT INTO part VALUES (?, ?, ?, ?)').run('p1', 'm1', 'ses_1', JSON.stringify(text('Rename it')));
  database.close();
  expect(readConversationFile(`${file}#ses_1`).messages).toMatchObject([
    { role: 'user', content: [text('Rename it')] },
  ]);
});

const tool = (id: string, state: Fields): Fields => ({
  type: 'tool',
  id,
  name: 'read',
  state: { input: { path: 'a.ts' }, ...state },
});
const text = (words: string): Fields => ({ type: 'text', text: words });
const model = { id: 'claude-sonnet-5', providerID: 'anthropic' };
const SESSION: readonly (readonly [string, Fields])[] = [
  ['model-switched', { model }],
  ['system', { text: 'You are in /w/app.' }],
  [
    'user',
    { text: 'Rename the loader', files: [{ mime: 'image/png', uri: 'data:image/png;base64,AAAA', name: 'a.png' }] },
  ],
  [
    'assistant',
    {
      agent: 'build',
      model,
      content: [
        { type: 'reasoning', text: 'look' },
        tool('c1', { status: 'completed', content: [text('const a = 1;')] }),
        tool('c2', { status: 'error', error: { type: 'unknown', message: 'no such file' } }),
      ],
      tokens: { input: 100, output: 9, reasoning: 0, cache: { read: 8_000, write: 50 } },
      cost: 0.002,
    },
  ],
  ['shell', { command: 'ls', output: 'a.ts' }],
  ['assistant', { agent: 'build', model, content: [text('Renamed.')], finish: 'stop' }],
  ['idle', { outcome: 'succeeded' }],
];

describe('a store of OpenCode 2', () => {
  it('is listed, and read as the messages that the agent would send to a model', () => {
    addSession('ses_a', 2, SESSION);
    expect(listSessions(file)).toMatchObject([{ id: 'ses_a', title: 'Session ses_a', workspace: '/w/app' }]);
    const conversation = readConversationFile(`${file}#ses_a`, { history: 'all' });
    expect(conversation).toMatchObject({ id: 'opencode:ses_a', format: 'opencode', title: 'Session ses_a', notes: [] });
    expect(conversation.messages).toMatchObject([
      { role: 'system', content: [{ text: 'You are in /w/app.' }] },
      { role: 'user', content: [{ text: 'Rename the loader' }, { type: 'image' }] },
      {
        role: 'assistant',
        content: [{ type: 'thinking' }, { type: 'tool_use', id: 'c1' }, { type: 'tool_use', id: 'c2' }],
      },
      {
        role: 'user',
        content: [
          { tool_use_id: 'c1', content: 'const a = 1;' },
          { tool_use_id: 'c2', content: 'no such file', is_error: true },
        ],
      },
      { role: 'user', content: [{ text: 'Shell command: ls\n\na.ts' }] },
      { role: 'assistant', content: [{ text: 'Renamed.' }] },
    ]);
    expect(checkConversation(conversation.messages)).toEqual([]);
    expect(conversation.recorded?.requests).toMatchObject([{ model: 'claude-sonnet-5', recordedCost: 0.002 }]);
  });

  it('begins with its last compaction, with notes on unknown kinds of messages', () => {
    addSession('ses_a', 2, [
      ...SESSION,
      ['compaction', { summary: 'SUMMARY', recent: 'RECENT' }],
      ['invented', { text: 'x' }],
      ['user', { text: 'Go on' }],
    ]);
    const { messages, notes } = readConversationFile(file);
    expect(messages).toHaveLength(2);
    expect(messages[0]).toMatchObject({
      isSummary: true,
      content: [{ text: expect.stringContaining('SUMMARY') as string }],
    });
    expect(notes.map(getNoteText).join()).toContain('does not know): 1 invented.');
  });

  it('lists old and new sessions after a migration, and a session in both in its new form', () => {
    database.exec(`
      CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
      CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
      CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
      INSERT INTO session VALUES ('ses_old', NULL, '/w', 'Old', NULL, 1, 1), ('ses_a', NULL, '/w', 'Frozen', NULL, 1, 1);
      INSERT INTO message VALUES ('m1', 'ses_old', 1, '{"role":"user"}'), ('m2', 'ses_a', 1, '{"role":"user"}');
      INSERT INTO part VALUES ('p1', 'm1', 'ses_old', '{"type":"text","text":"Old words"}'), ('p2', 'm2', 'ses_a', '{"type":"text","text":"Frozen words"}');
    `);
    addSession('ses_a', 3, SESSION);
    addSession('ses_b', 2, SESSION);
    expect(listSessions(file).map(({ id, title }) => `${id} ${title}`)).toEqual([
      'ses_a Session ses_a',
      'ses_b Session ses_b',
      'ses_old Old',
    ]);
    expect(JSON.stringify(readConversationFile(`${file}#ses_old`).messages)).toContain('Old words');
    expect(JSON.stringify(readConversationFile(`${file}#ses_a`).messages)).toContain('Renamed.');
    expect(() => readConversationFile(file)).toThrow('session');
    expect(() => readConversationFile(`${file}#ses_x`)).toThrow('no session "ses_x"');
  });
});

/**
 * Sources in OpenCode: packages/schema session-message, prompt, shell, tool; packages/core
 * to-llm-message.
 */
describe('a message in a store of OpenCode 2', () => {
  const base64 = (words: string): string => Buffer.from(words).toString('base64');
  const read = (...messages: readonly (readonly [string, Fields])[]) => {
    addSession('ses_a', 2, messages);
    return readConversationFile(file, { history: 'all' });
  };
  const contentOf = (...messages: readonly (readonly [string, Fields])[]) =>
    read(...messages).messages.map(({ role, content, isMeta }) => ({
      role,
      content,
      ...(isMeta === true && { isMeta }),
    }));
  const answer = (...content: readonly Fields[]): readonly [string, Fields] => ['assistant', { model, content }];

  it.each<[string, readonly [string, Fields], unknown]>([
    ['a skill', ['skill', { skill: 'k', name: 'K', text: 'Use tabs.' }], text('Use tabs.')],
    ['a synthetic text', ['synthetic', { text: 'Task 1 is done.' }], text('Task 1 is done.')],
    [
      'a command of the person',
      ['shell', { command: 'ls', status: 'exited', output: { output: 'a.ts', cursor: 4, size: 4, truncated: false } }],
      text('Shell command: ls\n\na.ts'),
    ],
    [
      'a command in its older form',
      ['shell', { shell: { command: 'ls' }, output: { output: 'a.ts' } }],
      text('Shell command: ls\n\na.ts'),
    ],
  ])("of the kind %s is sent to the model, but does not count as the person's words", (_, message, expected) => {
    expect(contentOf(['user', { text: 'Go' }], message)).toEqual([
      { role: 'user', content: [text('Go')] },
      { role: 'user', content: [expected], isMeta: true },
    ]);
  });

  it("has the content of attached files, and keeps attached text separate from the person's words", () => {
    const source = (uri: string): Fields => ({ type: 'uri', uri });
    expect(
      contentOf([
        'user',
        {
          text: 'Go',
          files: [
            { data: base64('const é = 1;'), mime: 'text/plain', source: source('file:///w/a.ts') },
            { data: 'AAAA', mime: 'image/png', source: source('file:///w/a.png'), name: 'a.png' },
            { data: base64('a.ts'), mime: 'application/x-directory', source: source('file:///w'), name: 'w' },
            { data: '', mime: 'application/x-directory', source: source('file:///e'), name: 'e', description: 'empty' },
          ],
        },
      ]),
    ).toEqual([
      {
        role: 'user',
        content: [text('Go'), { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
      },
      {
        role: 'user',
        isMeta: true,
        content: [
          text('Attached file: file:///w/a.ts\n\nconst é = 1;'),
          text('Attached directory: w\n\na.ts'),
          text('Attached directory: e\nDescription: empty'),
        ],
      },
    ]);
  });

  it.each<[string, Fields]>([
    ['native', { native: { signature: 'SIG' } }],
    ['state', { state: { signature: 'SIG' } }],
    ['provider', { provider: { metadata: { anthropic: { signature: 'SIG' } } } }],
  ])("keeps the vendor's signature of thinking in %s", (_, fields) => {
    const [, { content } = { content: [] }] = contentOf(
      ['user', { text: 'Go' }],
      answer({ type: 'reasoning', text: 'look', ...fields }),
    );
    expect(content).toEqual([{ type: 'thinking', thinking: 'look', signature: 'SIG' }]);
  });

  it('keeps redacted thinking', () => {
    const [, { content } = { content: [] }] = contentOf(
      ['user', { text: 'Go' }],
      answer({ type: 'reasoning', text: '', native: { redactedData: 'R' } }),
    );
    expect(content).toEqual([{ type: 'redacted_thinking', data: 'R' }]);
  });

  it.each(['streaming', 'pending'])('has an object as the input of a call that is still %s', (status) => {
    const call = (input: string): Fields => ({ type: 'tool', id: 'c', name: 'read', state: { status, input } });
    expect(contentOf(['user', { text: 'Go' }], answer(call('{"path":"a.ts"}')))[1]?.content).toMatchObject([
      { type: 'tool_use', input: { path: 'a.ts' } },
    ]);
    database.exec('DELETE FROM session_v2; DELETE FROM session_message');
    expect(contentOf(['user', { text: 'Go' }], answer(call('{"path":"a.')))[1]?.content).toMatchObject([
      { type: 'tool_use', input: { invalidArguments: '{"path":"a.' } },
    ]);
  });

  it.each<[string, Fields, Fields]>([
    ['structured only', { status: 'completed', content: [], structured: { a: 1 } }, { content: '{"a":1}' }],
    [
      'an error with what came before it',
      { status: 'error', error: { type: 'x', message: 'killed' }, content: [text('half')] },
      { content: 'killed\nhalf', is_error: true },
    ],
    ['from the vendor', { status: 'completed', content: [], result: 'found' }, { content: 'found' }],
  ])('keeps a result that is %s', (_, state, expected) => {
    expect(contentOf(['user', { text: 'Go' }], answer(tool('c', state)))[2]?.content).toMatchObject([expected]);
  });

  const tokens = { input: 900, output: 30, reasoning: 0, cache: { read: 10, write: 0 } };
  it.each<[string, Fields, number]>([
    ['completed', { status: 'completed', summary: 'SUMMARY', recent: 'R', model, tokens, cost: 0.01 }, 1],
    ['failed', { status: 'failed', error: { type: 'x', message: 'refused' }, tokens, cost: 0.01 }, 0],
    ["the vendor's own", { status: 'completed', summary: '', recent: '', model, tokens, providerContext: {} }, 0],
  ])(
    'counts the request of a compaction only if the agent completed the compaction itself: %s',
    (_, compaction, summaries) => {
      const { recorded, messages, notes } = read(
        ['user', { text: 'Go' }],
        ['assistant', { model, content: [text('done')], tokens: { ...tokens, input: 5 } }],
        ['compaction', compaction],
        ['user', { text: 'On' }],
      );
      expect(recorded?.requests).toMatchObject([
        { purpose: 'answer', usage: { inputTokens: 5 } },
        { purpose: 'compaction', usage: { inputTokens: 900, outputTokens: 30, cacheReadTokens: 10 } },
      ]);
      expect(messages.filter(({ isSummary }) => isSummary === true)).toHaveLength(summaries);
      expect(recorded?.compactions).toHaveLength(summaries);
      expect(notes).toEqual([]);
      expect(readConversationFile(file).messages).toHaveLength(summaries === 1 ? 2 : 3);
    },
  );
});
