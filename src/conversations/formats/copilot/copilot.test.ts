import { describe, expect, it } from 'vitest';
import { getBlocks, isText } from '../../../core/messages/blocks';
import { checkConversation } from '../../../core/messages/firewall';
import { extractPersonText } from '../../../core/messages/personText';
import { listOmissions } from '../../notes';
import { readCopilot } from './copilot';
import type { ReadOptions } from '../../types';

type Fields = Record<string, unknown>;

let count = 0;
const event = (type: string, data: Fields, more: Fields = {}): Fields => ({
  type,
  data,
  id: `e${++count}`,
  timestamp: '2026-04-26T10:00:02Z',
  parentId: null,
  ...more,
});
const start = event('session.start', {
  sessionId: 'abc',
  producer: 'copilot-agent',
  copilotVersion: '0.0.407',
  context: { cwd: '/home/dev/app' },
});
const typed = (content: string, more: Fields = {}): Fields => event('user.message', { content, ...more });
const answered = (content: string, more: Fields = {}): Fields => event('assistant.message', { content, ...more });
const request = (toolCallId: string, args: unknown): Fields => ({ toolCallId, name: 'view', arguments: args });
const done = (toolCallId: string, data: Fields): Fields => event('tool.execution_complete', { toolCallId, ...data });

const read = (events: readonly Fields[], options: ReadOptions = {}) =>
  readCopilot(events.map((each) => JSON.stringify(each)).join('\n'), { path: '/s/events.jsonl' }, options);
const texts = (events: readonly Fields[], options: ReadOptions = {}): string[] =>
  read(events, options).messages.map(({ content }) =>
    typeof content === 'string' ? content : content.map((block) => (isText(block) ? block.text : block.type)).join('+'),
  );

describe('a Copilot CLI session', () => {
  it('is read from its events', () => {
    const conversation = read([
      start,
      event('system.message', { role: 'system', content: 'You are Copilot.' }),
      typed('List the files', { transformedContent: '<current_datetime>now</current_datetime>\nList the files' }),
      event('assistant.turn_start', { turnId: '0' }),
      answered('Listing.', {
        reasoningText: 'They want a list.',
        toolRequests: [request('t1', { path: '.' }), request('t2', '{"path":"b"}'), request('t3', null)],
      }),
      event('tool.execution_start', { toolCallId: 't1', toolName: 'view', arguments: { path: '.' } }),
      done('t1', { success: true, result: { content: 'a.ts', detailedContent: 'a.ts\n' } }),
      done('t2', { success: false, error: { message: 'no such file' } }),
      done('t3', { success: true }),
      answered('Done.'),
    ]);
    expect(conversation).toMatchObject({
      id: 'copilot:abc',
      format: 'copilot',
      title: 'List the files',
      workspace: '/home/dev/app',
      notes: [
        '1 tool result whose content Copilot did not record; they are empty.',
        'Left out because it is not sent to the model: 1 assistant.turn_start.',
      ],
      request: { system: 'You are Copilot.' },
    });
    expect(conversation.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'They want a list.' },
          { type: 'text', text: 'Listing.' },
          { type: 'tool_use', id: 't1', name: 'view', input: { path: '.' } },
          { type: 'tool_use', id: 't2', name: 'view', input: { path: 'b' }, rawArguments: '{"path":"b"}' },
          { type: 'tool_use', id: 't3', name: 'view', input: { input: null } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'a.ts' },
          { type: 'tool_result', tool_use_id: 't2', content: 'no such file', is_error: true },
          { type: 'tool_result', tool_use_id: 't3' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    ]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it('includes calls that were recorded only when they were run', () => {
    const run = (id: string): Fields => event('tool.execution_start', { toolCallId: id, toolName: 'read' });
    const { messages } = read([
      typed('x'),
      answered('Scanning'),
      run('t1'),
      done('t1', { success: true, result: {} }),
      run('t2'),
    ]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(messages[1]?.content).toMatchObject([{ text: 'Scanning' }, { type: 'tool_use', id: 't1' }]);
    expect(messages[3]?.content).toMatchObject([{ type: 'tool_use', id: 't2' }]);
  });

  it('reads results in every recorded form', () => {
    const results = [
      { content: [{ text: 'a' }, { value: 'b' }, 'c'] },
      { result: [{ value: 'jetbrains' }] },
      { stdout: 'x', exitCode: 0 },
      'plain',
      {
        content: 'see',
        contents: [
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
          { type: 'text', text: 'see' },
        ],
      },
    ];
    const { messages } = read([
      typed('x'),
      answered('', { toolRequests: results.map((_, index) => request(`t${index}`, {})) }),
      ...results.map((result, index) => done(`t${index}`, { success: true, result })),
    ]);
    expect(
      messages
        .slice(2, 3)
        .flatMap(getBlocks)
        .map((block) => block['content']),
    ).toEqual([
      'a\nb\nc',
      'jetbrains',
      '{"stdout":"x","exitCode":0}',
      'plain',
      [
        { type: 'text', text: 'see' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      ],
    ]);
  });

  // Copilot CLI 1.0.79 writes the whole system prompt again, with small changes, before each prompt
  // from a person or a notification.
  it('has only its latest system prompt, and a separate message for the notice that a subagent is done', () => {
    const prompt = (text: string): Fields => event('system.message', { role: 'system', content: text });
    const notification = '<system_notification>\nAgent "a" is now idle.\n</system_notification>';
    const events = [
      prompt('You are Copilot.'),
      typed('one'),
      answered('1'),
      prompt('You are Copilot. Call task_complete.'),
      event('system.notification', { content: notification, kind: { type: 'agent_idle' } }),
      answered('2'),
    ];
    expect(texts(events)).toEqual(['one', '1', notification, '2']);
    expect(read(events).request).toEqual({ system: 'You are Copilot. Call task_complete.' });
    expect(extractPersonText(notification)).toBe('');
  });

  it('keeps attachments', () => {
    expect(read([typed('x', { attachments: [{ type: 'file', path: 'a' }] })]).messages[0]).toMatchObject({
      attachments: [{ type: 'file', path: 'a' }],
    });
  });

  it('keeps subagents separate', () => {
    const { messages, sidechains } = read([
      typed('x'),
      answered('', { toolRequests: [request('task-1', {})] }),
      answered('looking around', { parentToolCallId: 'task-1' }),
      event('assistant.message', { content: 'there' }, { agentId: 'a2' }),
      event('tool.execution_complete', {}, { agentId: 'a3' }),
      done('task-1', { success: true, result: { content: 'found' } }),
    ]);
    expect(messages).toHaveLength(3);
    expect(sidechains.map(({ id, messages: side }) => [id, side.length])).toEqual([
      ['task-1', 1],
      ['a2', 1],
    ]);
  });
});

describe('a Copilot CLI session that was shortened', () => {
  const system = event('system.message', { content: 'SYSTEM' });
  const compacted = event('session.compaction_complete', { success: true, summaryContent: 'SUMMARY' });

  it('begins with the summary of its compaction', () => {
    const events = [
      system,
      typed('one'),
      answered('1'),
      event('session.compaction_start', {}),
      answered('meanwhile'),
      compacted,
      typed('two'),
    ];
    expect(texts(events)).toEqual(['SUMMARY', 'meanwhile', 'two']);
    expect(texts(events, { history: 'all' })).toEqual(['one', '1', 'SUMMARY', 'meanwhile', 'two']);
    expect(read(events).request).toEqual({ system: 'SYSTEM' });
    expect(listOmissions(read(events).notes)[0]).toMatch(/^Left out, before the last compaction: 2 messages/);
    expect(read(events).title).toBe('one');
    expect(texts([typed('one'), compacted, typed('two')])).toEqual(['SUMMARY', 'two']);
    const failed = event('session.compaction_complete', { success: false, summaryContent: 'x' });
    expect(texts([typed('one'), failed])).toEqual(['one']);
  });

  it('omits what was cleared or rewound', () => {
    const cleared = [system, typed('one'), event('session.context_cleared', {}), typed('two')];
    expect(texts(cleared)).toEqual(['two']);
    expect(read(cleared).request).toEqual({ system: 'SYSTEM' });
    const second = typed('two');
    const rewind = (upToEventId: unknown): Fields =>
      event('session.snapshot_rewind', { upToEventId, eventsRemoved: 1 });
    expect(texts([typed('one'), second, rewind(second['id']), typed('three')])).toEqual(['one', 'three']);
    expect(texts([typed('one'), rewind('unknown'), rewind(7)])).toEqual(['one']);
    expect(read([typed('one'), second, rewind(second['id'])]).notes).toContain(
      'Left out: 1 event taken back (rewound).',
    );
  });
});

it('an error names the content of a Copilot CLI session without messages; a session without prompts keeps its title', () => {
  expect(() => read([start, event('session.info', {})])).toThrow('found no messages, only 1 session.info');
  expect(() => read([start])).toThrow('found no messages');
  expect(read([answered('hi'), event('session.title_changed', { title: 'Named' })]).title).toBe('Named');
});
