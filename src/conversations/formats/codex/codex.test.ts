import { collectInstructions } from '../../../core/condense/summary/instructions';
import { listToolExchanges } from '../../../core/messages/exchanges';
import { findTaskMessage } from '../../../core/messages/task';
import { describe, expect, it } from 'vitest';
import { getBlocks } from '../../../core/messages/blocks';
import { checkConversation } from '../../../core/messages/firewall';
import { listDamage, listOmissions } from '../../notes';
import { readCodex } from './codex';
import type { ReadOptions } from '../../types';

type Fields = Record<string, unknown>;

const line = (type: string, payload: Fields): Fields => ({ timestamp: '2026-03-25T11:31:11.752Z', type, payload });
const item = (payload: Fields): Fields => line('response_item', payload);
const said = (role: string, text: string): Fields => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});
const call = (id: string, args: string, name = 'shell'): Fields => ({
  type: 'function_call',
  name,
  arguments: args,
  call_id: id,
});
const output = (id: string, value: unknown): Fields => ({ type: 'function_call_output', call_id: id, output: value });
const META = line('session_meta', {
  id: '019d24c3',
  cwd: '/home/dev/app',
  cli_version: '0.116.0',
  source: 'cli',
  base_instructions: { text: 'You are Codex.' },
});
const ENVIRONMENT = said('user', '<environment_context>\n<cwd>/home/dev/app</cwd>\n</environment_context>');

const read = (records: readonly Fields[], options: ReadOptions = {}) =>
  readCodex(records.map((record) => JSON.stringify(record)).join('\n'), { path: '/home/dev/rollout.jsonl' }, options);

describe('a Codex rollout', () => {
  const rollout = [
    META,
    item(said('developer', '<permissions instructions>ask</permissions instructions>')),
    item(ENVIRONMENT),
    item(said('user', 'Fix the test')),
    line('event_msg', { type: 'user_message', message: 'Fix the test' }),
    item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Look first' }], encrypted_content: 'abc' }),
    item(said('assistant', 'I look.')),
    item(call('c1', '{"command":["ls"]}')),
    item(call('c2', 'not json')),
    item(output('c1', 'a.ts')),
    item(output('c2', { content: 'no such tool', success: false })),
    item({ type: 'custom_tool_call', call_id: 'c3', name: 'apply_patch', input: '*** Begin Patch' }),
    item({ type: 'custom_tool_call_output', call_id: 'c3', output: [{ type: 'input_text', text: 'Done' }] }),
    item({ type: 'local_shell_call', call_id: 'c4', action: { type: 'exec', command: ['pwd'] } }),
    item(output('c4', [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }])),
    item({ type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'x' } }),
    item({ type: 'ghost_snapshot' }),
    line('turn_context', { model: 'gpt-5.5' }),
  ];

  it("is read item by item, and the model's consecutive texts become one message", () => {
    const conversation = read(rollout);
    expect(conversation).toMatchObject({
      id: 'codex:019d24c3',
      format: 'codex',
      title: 'Fix the test',
      workspace: '/home/dev/app',
      request: { system: 'You are Codex.' },
      notes: ['Left out because it is not sent to the model: 1 event user_message, 1 ghost_snapshot, 1 turn_context.'],
    });
    expect(conversation.messages.map(({ role }) => role).join(' ')).toBe(
      'system user user assistant user assistant user assistant user assistant',
    );
    expect(conversation.messages[3]?.content).toEqual([
      { type: 'openai_reasoning', item: expect.objectContaining({ encrypted_content: 'abc' }) },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'c1', name: 'shell', input: { command: ['ls'] }, rawArguments: '{"command":["ls"]}' },
      { type: 'tool_use', id: 'c2', name: 'shell', input: { invalidArguments: 'not json' }, rawArguments: 'not json' },
    ]);
    expect(conversation.messages[4]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: 'a.ts' },
      { type: 'tool_result', tool_use_id: 'c2', content: 'no such tool', is_error: true },
    ]);
    expect(conversation.messages[5]?.content).toMatchObject([
      { name: 'apply_patch', input: { input: '*** Begin Patch' } },
    ]);
    expect(conversation.messages[6]?.content).toMatchObject([{ content: [{ type: 'text', text: 'Done' }] }]);
    expect(conversation.messages[7]?.content).toMatchObject([{ name: 'local_shell', input: { command: ['pwd'] } }]);
    expect(conversation.messages[8]?.content).toMatchObject([
      { content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }] },
    ]);
    expect(conversation.messages[9]?.content).toMatchObject([{ type: 'codex_item', item: { id: 'ws_1' } }]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it("has subagents' reports as text after the results, and tool searches as calls", () => {
    const report = {
      type: 'agent_message',
      author: '/root/a',
      content: [{ type: 'input_text', text: 'Done, 3 files.' }],
    };
    const { messages, title } = read([
      META,
      item(said('user', '# AGENTS.md instructions\n\n<INSTRUCTIONS>\nBe terse.\n</INSTRUCTIONS>')),
      item(said('user', '<environment_context>\n  <cwd>/w</cwd>\n</environment_context>')),
      item(said('user', 'Split the work')),
      item({ type: 'tool_search_call', call_id: 's1', execution: 'client', arguments: { query: 'issues', limit: 8 } }),
      item(report),
      item({ type: 'tool_search_output', call_id: 's1', execution: 'client', tools: [{ name: '_fetch' }] }),
      item({ type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} }),
      item({ type: 'tool_search_output', call_id: null, execution: 'server', tools: [] }),
    ]);
    expect(title).toBe('Split the work');
    expect(messages.slice(3)).toMatchObject([
      { role: 'assistant', content: [{ name: 'tool_search', input: { query: 'issues', limit: 8 } }] },
      { role: 'user', content: [{ tool_use_id: 's1', content: '[{"name":"_fetch"}]' }] },
      { role: 'user', isMeta: true, content: [{ type: 'text', text: 'Done, 3 files.' }] },
      { role: 'assistant', content: [{ type: 'codex_item' }, { type: 'codex_item' }] },
    ]);
    expect(checkConversation(messages)).toEqual([]);
    expect(findTaskMessage(messages)).toBe(2);
    expect(collectInstructions(messages, listToolExchanges(messages)).map(({ text }) => text)).toEqual([
      'Split the work',
    ]);
  });

  it('from before September 2025 is read although its items have no envelope', () => {
    const bare = [
      { id: 'old', timestamp: 't', instructions: 'Be short.' },
      said('user', 'Hello'),
      { record_type: 'state' },
    ];
    expect(read(bare)).toMatchObject({
      id: 'codex:old',
      request: { system: 'Be short.' },
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    });
  });

  it('of a subagent names its parent, and a fork has its own ID', () => {
    const spawned = line('session_meta', {
      id: 'child',
      source: { subagent: { thread_spawn: { parent_thread_id: 'mother', depth: 1 } } },
    });
    expect(read([spawned, META, item(said('user', 'Hello'))])).toMatchObject({
      id: 'codex:child',
      parent: 'codex:mother',
    });
    expect(read([META, item(said('user', 'Hello'))])).not.toHaveProperty('parent');
  });

  it('has a note on unknown kinds of items, which become no messages', () => {
    const odd = { type: 'later_invention', value: 1 };
    const noId = { type: 'function_call_output', output: 'x' };
    const { messages, notes } = read([META, item(said('user', 'x')), item(odd), line('later_record', {}), item(noId)]);
    expect(messages.slice(1)).toEqual([{ role: 'user', content: [{ type: 'codex_item', item: noId }] }]);
    expect(notes[0]).toMatch(/may be sent to the model .*: 1 item later_invention, 1 later_record\.$/);
  });

  it('has tool declarations as a field apart from its messages', () => {
    const tools = [{ type: 'namespace', name: 'functions', tools: [] }];
    const { messages, notes } = read([
      META,
      item({ type: 'additional_tools', role: 'developer', tools }),
      item(said('developer', '<permissions instructions>')),
      item(said('user', 'Fix the test')),
      line('inter_agent_communication', { author: '/root/a', recipient: '/root', content: 'Done.' }),
    ]);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'user']);
    expect(messages[2]).toMatchObject({ isMeta: true, content: [{ text: 'Done.' }] });
    expect(notes[0]).toBe('Declares tools to the model beside the messages: 1 record (additional_tools).');
  });
});

describe('a compacted Codex rollout', () => {
  const before = [META, item(ENVIRONMENT), item(said('user', 'first')), item(said('assistant', 'one'))];
  const texts = (records: readonly Fields[], options: ReadOptions = {}): unknown[] =>
    read(records, options).messages.map((message) => getBlocks(message)[0]?.['text']);

  it('begins with its replacement history', () => {
    const replacement_history = [said('user', 'first'), said('user', 'SUMMARY')];
    const records = [...before, line('compacted', { message: '', replacement_history }), item(said('user', 'second'))];
    expect(texts(records)).toEqual(['first', 'SUMMARY', 'second']);
    expect(texts(records, { history: 'all' })).toEqual([
      expect.stringContaining('<environment'),
      'first',
      'one',
      'second',
    ]);
  });

  it('without a replacement history consists of the user’s words and the summary', () => {
    const records = [...before, line('compacted', { message: 'SUMMARY' }), item(said('user', 'second'))];
    expect(texts(records)).toEqual([expect.stringContaining('<environment'), 'first', 'SUMMARY', 'second']);
    expect(texts(records, { history: 'all' })).toHaveLength(5);
    expect(read(records).messages[2]).toMatchObject({ isSummary: true });
    expect(listOmissions(read(records).notes)[0]).toMatch(/^Left out, before the last compaction: 1 message /);
  });

  it('omits rolled-back turns', () => {
    const records = [
      ...before,
      item(said('user', 'second')),
      item(said('assistant', 'two')),
      item(ENVIRONMENT),
      item(said('user', 'third')),
      line('event_msg', { type: 'thread_rolled_back', num_turns: 2 }),
      item(said('user', 'other')),
    ];
    expect(texts(records)).toEqual([expect.stringContaining('<environment'), 'first', 'one', 'other']);
    expect(read(records).notes).toContain('Left out: 2 turns taken back (rollback).');
    expect(
      texts([...before, line('event_msg', { type: 'thread_rolled_back', num_turns: 9 }), item(said('user', 'x'))]),
    ).toEqual([expect.stringContaining('<environment'), 'x']);
  });
});

it('the error for a rollout without messages names what the file contains', () => {
  expect(() => read([META, line('turn_context', {})])).toThrow('found no messages, only 1 turn_context');
});

it('a truncated last line of a rollout is skipped and noted', () => {
  const text = [META, item(said('user', 'x'))].map((record) => JSON.stringify(record)).join('\n') + '\n{"type":"resp';
  const source = { path: '/r.jsonl' };
  expect(listDamage(readCodex(text, source).notes)[0]).toContain('cut off');
});
