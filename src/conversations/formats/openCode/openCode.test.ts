import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getBlocks } from '../../../core/messages/blocks';
import { applyEdits } from '../../../core/condense/edits/applyEdits';
import { losslessConfigSchema } from '../../../core/condense/lossless/run';
import { losslessProvider } from '../../../core/condense/providers/lossless';
import { listToolExchanges } from '../../../core/messages/exchanges';
import { checkConversation, findNewViolations } from '../../../core/messages/firewall';
import { MessageCounter } from '../../../core/tokens/messageCounter';
import { listSessions } from './database';
import { readConversation } from '../../read';
import { readConversationFile } from '../../readFile';
import type { ReadOptions } from '../../types';

type Fields = Record<string, unknown>;
interface Message {
  readonly info: Fields;
  readonly parts: Fields[];
}

const text = (words: string, more: Fields = {}): Fields => ({ type: 'text', text: words, ...more });
const user = (id: string, ...parts: Fields[]): Message => ({ info: { id, role: 'user' }, parts });
const reply = (id: string, parts: Fields[], info: Fields = {}): Message => ({
  info: { id, role: 'assistant', ...info },
  parts,
});
const tool = (callID: string, state: Fields): Fields => ({
  type: 'tool',
  callID,
  tool: 'read',
  state: { input: { filePath: 'a' }, ...state },
});
const completed = (output: string, more: Fields = {}): Fields => ({
  status: 'completed',
  output,
  time: { start: 1, end: 2 },
  ...more,
});

const INFO = { id: 'ses_1', title: 'New session - 2026', directory: '/home/dev/app', projectID: 'p' };
const read = (messages: readonly Message[], options: ReadOptions = {}, info: Fields = INFO) =>
  readConversation(JSON.stringify({ info, messages }), { path: '/x/export.json' }, options);
const texts = (messages: readonly Message[], options: ReadOptions = {}, info: Fields = INFO): unknown[] =>
  read(messages, options, info).messages.map((message) => getBlocks(message)[0]?.['text']);

describe('an exported OpenCode session', () => {
  it('is read part by part, with each model step as a message', () => {
    const conversation = read([
      user('m1', text('Fix it'), text('hidden', { ignored: true }), {
        type: 'file',
        mime: 'image/png',
        url: 'data:image/png;base64,AAAA',
      }),
      reply('m2', [
        { type: 'step-start' },
        { type: 'reasoning', text: 'Look', metadata: { anthropic: { signature: 'sig' } } },
        { type: 'reasoning', text: '', metadata: { anthropic: { redactedData: 'xyz' } } },
        { type: 'reasoning', text: '' },
        text('I look.'),
        tool('c1', completed('line 1')),
        tool('c2', { status: 'error', error: 'no such file' }),
        { type: 'step-finish' },
        { type: 'step-start' },
        tool('c3', completed('', { attachments: [{ mime: 'image/png', url: 'https://x/a.png' }, 7] })),
        tool('c4', { status: 'error', error: 'x', metadata: { interrupted: true, output: 'so far' } }),
        { type: 'patch', files: [] },
        { type: 'later', value: 1 },
      ]),
      user('m3'),
      reply('m4', [text('Done.')]),
    ]);
    expect(conversation).toMatchObject({
      id: 'opencode:ses_1',
      format: 'opencode',
      title: 'Fix it',
      workspace: '/home/dev/app',
      notes: [],
    });
    expect(conversation.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Fix it' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Look', signature: 'sig' },
          { type: 'redacted_thinking', data: 'xyz' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'c1', name: 'read', input: { filePath: 'a' } },
          { type: 'tool_use', id: 'c2', name: 'read', input: { filePath: 'a' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'line 1' },
          { type: 'tool_result', tool_use_id: 'c2', content: 'no such file', is_error: true },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'c3', name: 'read', input: { filePath: 'a' } },
          { type: 'tool_use', id: 'c4', name: 'read', input: { filePath: 'a' } },
          { type: 'opencode_part', part: { type: 'later', value: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c3',
            content: [{ type: 'image', source: { type: 'url', url: 'https://x/a.png' } }],
          },
          { type: 'tool_result', tool_use_id: 'c4', content: 'so far' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    ]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it('includes files, subtasks and calls without an ID', () => {
    const file = (mime: string, more: Fields = {}): Fields => ({
      type: 'file',
      mime,
      url: 'data:application/pdf;base64,AA',
      ...more,
    });
    const { messages } = read([
      user(
        'm1',
        file('text/plain'),
        file('application/pdf', { filename: 'a.pdf' }),
        file('application/pdf'),
        file('audio/wav'),
        { type: 'file' },
      ),
      user('m2', { type: 'subtask', prompt: 'look' }, { type: 'unheard' }),
      reply('m3', [file('image/png'), { type: 'tool' }, tool('c', { status: 'running' })]),
    ]);
    expect(messages[0]?.content).toMatchObject([
      { type: 'document', title: 'a.pdf' },
      { type: 'document' },
      { type: 'opencode_part' },
    ]);
    expect(messages.slice(1, 3)).toMatchObject([
      { content: [{ type: 'text' }, { type: 'opencode_part' }], isMeta: true },
      { content: [{ type: 'opencode_part' }] },
    ]);
    expect(messages[3]?.content).toMatchObject([{ type: 'image' }, { type: 'opencode_part' }, { type: 'tool_use' }]);
  });

  it('may reuse a call ID, since results are matched by position within and across messages', async () => {
    const file = (name: string): string =>
      Array.from({ length: 40 }, (_, index) => `export const ${name}${index} = compute('${name}', ${index});`).join(
        '\n',
      );
    const reading = (path: string): Fields =>
      tool('again', completed(file(path[0] ?? ''), { input: { filePath: path } }));
    const { messages } = read([
      user('m1', text('Fix it')),
      reply('m2', [reading('a.ts'), reading('b.ts')]),
      reply('m3', [reading('c.ts')]),
      reply('m4', [reading('a.ts')]),
    ]);
    const met = listToolExchanges(messages).map(({ input, resultText }) => [input['filePath'], resultText]);
    expect(met).toEqual(['a.ts', 'b.ts', 'c.ts', 'a.ts'].map((path) => [path, file(path[0] ?? '')]));
    const { edits } = await losslessProvider.condense(
      { messages, edits: [], counter: new MessageCounter({ count: (words) => Math.ceil(words.length / 4) }) },
      losslessConfigSchema.parse({}),
      {},
    );
    expect(edits.map(({ kind }) => kind)).toEqual(['cut']);
    const view = applyEdits(messages, edits).messages;
    expect(findNewViolations(messages, view)).toEqual([]);
    expect(listToolExchanges(view).map(({ resultText }) => resultText.includes('⟦'))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('has its given title, otherwise its first words', () => {
    expect(read([user('m', text('hi'))], {}, { ...INFO, title: 'Named' }).title).toBe('Named');
    expect(read([user('m', text('hi'))], {}, { ...INFO, title: '<system-reminder>x</system-reminder>' }).title).toBe(
      'hi',
    );
    expect(read([user('m', text('hi'))], {}, { ...INFO, title: ' ' }).title).toBe('hi');
  });

  it('names the session that started it', () => {
    expect(read([user('m', text('hi'))], {}, { ...INFO, parentID: 'ses_0' }).parent).toBe('opencode:ses_0');
  });

  it('has notes on reverted, failed and unfinished parts', () => {
    const messages = [
      user('m1', text('one')),
      reply('m2', [], { error: {} }),
      user('m3', text('two')),
      reply('m4', [tool('c', { status: 'running' })]),
    ];
    expect(read(messages).notes).toEqual([
      'Skipped: 1 answer that failed before any text came.',
      '1 tool call without a result (first: message 3); left as it is.',
    ]);
    expect(read(messages, {}, { ...INFO, revert: { messageID: 'm3' } }).notes[0]).toBe(
      'Left out: 2 messages taken back (reverted).',
    );
  });

  it('is reported if it has no messages or invalid parts', () => {
    expect(() => read([])).toThrow('a session without messages');
    expect(() => readConversation('{"info":{"id":"s"},"messages":[{"info":{},"parts":7}]}', { name: 'x' })).toThrow(
      'found the number 7 in "messages[0].parts"',
    );
  });
});

describe('a compacted OpenCode session', () => {
  const summary = reply('m5', [text('SUMMARY')], { summary: true, finish: 'stop', parentID: 'm4' });
  const before = [user('m1', text('one')), reply('m2', [text('1')]), user('m3', text('two'))];

  it('begins with the request for the summary', () => {
    const messages = [...before, user('m4', { type: 'compaction', auto: true }), summary, user('m6', text('three'))];
    expect(texts(messages)).toEqual(['What did we do so far?', 'SUMMARY', 'three']);
    expect(read(messages).messages[1]).toMatchObject({ isSummary: true });
    expect(texts(messages, { history: 'all' })).toHaveLength(6);
  });

  it('has the kept last messages only after the summary', () => {
    const kept = user('m4', { type: 'compaction', auto: true, tail_start_id: 'm3' });
    expect(texts([...before, kept, summary, user('m6', text('three'))])).toEqual([
      'What did we do so far?',
      'SUMMARY',
      'two',
      'three',
    ]);
    const lost = user('m4', { type: 'compaction', auto: true, tail_start_id: 'gone' });
    expect(texts([...before, lost, summary])).toEqual(['What did we do so far?', 'SUMMARY']);
  });

  it('is read completely if the summary was never finished', () => {
    const request = user('m4', { type: 'compaction', auto: true });
    const failed = reply('m5', [text('x')], { summary: true, finish: 'stop', parentID: 'm4', error: {} });
    expect(texts([...before, request, failed])).toHaveLength(5);
    expect(texts([...before, summary])).toHaveLength(4);
  });

  it('shows cleared outputs as cleared, or in full if the whole history ("all") is requested', () => {
    const messages = [
      user('m1', text('x')),
      reply('m2', [tool('c', completed('long', { time: { start: 1, end: 2, compacted: 3 } }))]),
    ];
    const output = (options: ReadOptions): unknown => read(messages, options).messages[2]?.content;
    expect(output({})).toMatchObject([{ content: '[Old tool result content cleared]' }]);
    expect(output({ history: 'all' })).toMatchObject([{ content: 'long' }]);
  });
});

describe("OpenCode's stores", () => {
  let folder: string;
  let file: string;
  let writer: DatabaseSync | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'opencode-'));
    file = join(folder, 'opencode.db');
  });
  afterEach(() => {
    writer?.close();
    writer = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  function makeDatabase(sessions: readonly string[]): void {
    writer = new DatabaseSync(file);
    writer.exec(`PRAGMA journal_mode = WAL;
      CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
      CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
      CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);`);
    for (const [index, id] of sessions.entries()) {
      const add = (table: string, ...values: (string | number | null)[]): void => {
        writer?.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(',')})`).run(...values);
      };
      add('session', id, 'p', index === 0 ? null : 'ses_a', '/w', `Title ${id}`, null, 1, 100 + index);
      add('message', `${id}m2`, id, 2, 2, '{"role":"assistant"}');
      add('message', `${id}m1`, id, 1, 1, '{"role":"user"}');
      add('part', `${id}p2`, `${id}m2`, id, '{"type":"text","text":"one"}');
      add('part', `${id}p3`, `${id}m2`, id, '{"type":"text","text":"two"}');
      add('part', `${id}p1`, `${id}m1`, id, '{"type":"text","text":"Hello"}');
      add('part', `${id}p4`, `${id}m1`, id, '{broken');
    }
  }

  it('date a session by its newest message if that changed last, as after a manual compaction', () => {
    makeDatabase(['ses_a', 'ses_b']);
    writer?.exec(`INSERT INTO message VALUES ('m9', 'ses_a', 90, 500, '{"role":"assistant"}')`);
    expect(listSessions(file).map(({ id, modified }) => [id, modified])).toEqual([
      ['ses_a', 500],
      ['ses_b', 101],
    ]);
  });

  it('can be read while the agent has the database open', () => {
    makeDatabase(['ses_a', 'ses_b']);
    expect(readConversationFile(`${file}#ses_b`)).toMatchObject({
      id: 'opencode:ses_b',
      parent: 'opencode:ses_a',
      title: 'Title ses_b',
      workspace: '/w',
      messages: [
        { role: 'user', content: [{ text: 'Hello' }] },
        { role: 'assistant', content: [{ text: 'one' }, { text: 'two' }] },
      ],
      notes: ['Left out: 1 record of the session that could not be read.'],
    });
    expect(listSessions(file).map(({ id, parent, modified }) => [id, parent, modified])).toEqual([
      ['ses_b', 'ses_a', 101],
      ['ses_a', undefined, 100],
    ]);
  });

  it('get no extra files when a closed database is read', () => {
    makeDatabase(['ses_a']);
    writer?.close();
    writer = undefined;
    expect(readConversationFile(file).id).toBe('opencode:ses_a');
    expect(readdirSync(folder)).toEqual(['opencode.db']);
  });

  it('require a session ID if they have several sessions, and report an ID that they do not contain', () => {
    makeDatabase(['ses_a', 'ses_b']);
    expect(() => readConversationFile(file)).toThrow('found several sessions; expected the path of the database, "#"');
    expect(() => readConversationFile(`${file}#ses_x`)).toThrow('no session "ses_x"');
  });

  it("are rejected if the database is broken or another program's", () => {
    writer = new DatabaseSync(file);
    writer.exec('CREATE TABLE other (x)');
    expect(() => readConversationFile(file)).toThrow('a SQLite database of another kind');
    const broken = join(folder, 'broken.db');
    writeFileSync(broken, `SQLite format 3\0${'x'.repeat(200)}`);
    expect(() => readConversationFile(broken)).toThrow(/a database that can’t be read \(.*\)/);
  });

  it('from before 1.2 are assembled from files, and broken files are left out with a note', () => {
    const write = (path: string, value: unknown): void => {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), typeof value === 'string' ? value : JSON.stringify(value, null, 2));
    };
    write('session/p/ses_1.json', INFO);
    write('message/ses_1/msg_1.json', { id: 'msg_1', role: 'user' });
    write('message/ses_1/msg_2.json', { id: 'msg_2', role: 'assistant' });
    write('message/ses_1/msg_3.json', '{"id":');
    write('message/ses_1/msg_4.json', { id: '../../session', role: 'user' });
    write('message/ses_1/readme.txt', 'x');
    write('part/msg_1/prt_1.json', text('Hello'));
    write('part/msg_2/prt_2.json', text('Hi'));
    write('part/msg_2/prt_3.json', '{"type":"te');
    const session = join(folder, 'session/p/ses_1.json');
    expect(readConversationFile(session)).toMatchObject({
      id: 'opencode:ses_1',
      title: 'Hello',
      messages: [{ role: 'user' }, { role: 'assistant' }],
      notes: ['Left out: 2 records of the session that could not be read.'],
    });
    rmSync(join(folder, 'message'), { recursive: true });
    expect(() => readConversationFile(session)).toThrow('a session without messages');
  });
});
