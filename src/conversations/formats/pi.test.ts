import { describe, expect, it } from 'vitest';
import { dropImplausibleUsage } from '../../core/account/recordedRequest';
import { checkConversation } from '../../core/messages/firewall';
import { readConversation } from '../read';
import { PiRequests } from './pi';

type Entry = Readonly<Record<string, unknown>>;

const HEADER = { type: 'session', version: 3, id: 'S1', timestamp: 't', cwd: '/w/app' };
const read = (entries: readonly Entry[], history: 'active' | 'all' = 'active') =>
  readConversation(entries.map((entry) => JSON.stringify(entry)).join('\n'), { path: '/x/s.jsonl' }, { history });

/** Links entries so that each is the parent of the next. */
const linkEntries = (...entries: readonly Entry[]): Entry[] =>
  entries.map((entry, at) => ({ id: `e${at}`, parentId: at === 0 ? null : `e${at - 1}`, timestamp: 't', ...entry }));
const message = (role: string, content: unknown, fields: Entry = {}): Entry => ({
  type: 'message',
  message: { role, content, timestamp: 1, ...fields },
});
const text = (words: string) => ({ type: 'text', text: words });
const call = (id: string, name: string, input: unknown) => ({ type: 'toolCall', id, name, arguments: input });
const result = (id: string, content: unknown, fields: Entry = {}): Entry =>
  message('toolResult', content, { toolCallId: id, toolName: 'x', isError: false, ...fields });

const TASK = message('user', [text('Fix the test')]);

describe('a Pi session', () => {
  it('is read along its tree with parallel results joined', () => {
    const conversation = read([
      HEADER,
      ...linkEntries(
        { type: 'model_change', provider: 'p', modelId: 'm' },
        TASK,
        message(
          'assistant',
          [
            { type: 'thinking', thinking: 'Hm.', thinkingSignature: 'sig' },
            { type: 'thinking', thinking: '', thinkingSignature: 'enc', redacted: true },
            { type: 'thinking', thinking: '', thinkingSignature: 'all' },
            { type: 'thinking', thinking: '' },
            call('c1', 'read', { path: 'a.ts', offset: 2 }),
            call('c2', 'bash', { command: 'ls' }),
          ],
          { api: 'anthropic-messages' },
        ),
        result('c1', [text('one'), { type: 'image', data: 'AAAA', mimeType: 'image/jpeg' }]),
        result('c2', [text('no such file')], { isError: true }),
        message('bashExecution', undefined, { command: 'make', output: 'ok', exitCode: 2 }),
        message('bashExecution', undefined, { command: 'secret', output: 'x', excludeFromContext: true }),
        { type: 'custom_message', customType: 'x', content: '<note>Mind the rules.</note>', display: true },
        message('assistant', [{ type: 'thinking', thinking: 'So.', thinkingSignature: 'reasoning' }, text('Done.')]),
      ),
    ]);
    expect(conversation).toMatchObject({
      id: 'pi:S1',
      format: 'pi',
      title: 'Fix the test',
      workspace: '/w/app',
      notes: ['Left out because it is not sent to the model: 1 bashExecution, 1 model_change.'],
    });
    expect(conversation.messages).toEqual([
      { role: 'user', content: [text('Fix the test')] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
          { type: 'redacted_thinking', data: 'enc' },
          { type: 'thinking', thinking: '', signature: 'all' },
          { type: 'tool_use', id: 'c1', name: 'read', input: { path: 'a.ts', offset: 2 } },
          { type: 'tool_use', id: 'c2', name: 'bash', input: { command: 'ls' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: [
              text('one'),
              { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'c2', content: [text('no such file')], is_error: true },
        ],
      },
      {
        role: 'user',
        content: [text('Ran `make`\n```\nok\n```\n\nCommand exited with code 2')],
        isMeta: true,
      },
      { role: 'user', content: [text('<note>Mind the rules.</note>')], isMeta: true },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'So.' }, text('Done.')] },
    ]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it('excludes abandoned branches and begins with the last compaction', () => {
    const entries = [
      HEADER,
      ...linkEntries(TASK, message('assistant', [text('Wrong way')])),
      { ...message('assistant', [text('Right way')]), id: 'r1', parentId: 'e0' },
      { type: 'branch_summary', id: 'r2', parentId: 'r1', fromId: 'e1', summary: 'It went wrong.' },
      { ...message('user', 'Go on'), id: 'r3', parentId: 'r2' },
      { type: 'compaction', id: 'r4', parentId: 'r3', summary: 'All so far.', firstKeptEntryId: 'r3' },
      { ...message('assistant', [text('Going on')]), id: 'r5', parentId: 'r4' },
      { type: 'label', id: 'r6', parentId: 'r5', targetId: 'r5', label: 'x' },
    ];
    const words = (history: 'active' | 'all') =>
      read(entries, history).messages.map(({ content }) => JSON.stringify(content).replace(/^.*(?:>\\n|"text":")/, ''));
    expect(words('active')).toEqual(['All so far.\\n</summary>"}]', 'Go on"}]', 'Going on"}]']);
    expect(words('all')).toEqual([
      'Fix the test"}]',
      'Right way"}]',
      'It went wrong.\\n</summary>"}]',
      'Go on"}]',
      'All so far.\\n</summary>"}]',
      'Going on"}]',
    ]);
    expect(read(entries).notes).toEqual([
      {
        omission:
          'Left out, before the last compaction: 3 messages (“Part to condense: Everything” or --history all has them).',
      },
      'Left out: 1 message on abandoned branches.',
      'Left out because it is not sent to the model: 1 label.',
    ]);
    expect(read(entries).messages[0]).toMatchObject({ role: 'user', isSummary: true });
  });

  it('is read with the changes that the agent made to its context; the last change of a message applies', () => {
    const entries = [
      HEADER,
      ...linkEntries(
        TASK,
        message('assistant', [call('c1', 'read', { path: 'a' })], { usage: { input: 5, output: 1 } }),
        result('c1', [text('a secret')]),
        message('user', [text('forget that')]),
        message('assistant', [text('Done.')]),
        { type: 'context_edit', targetId: 'e2', replacement: { content: [text('first')] } },
        { type: 'context_edit', targetId: 'e3', replacement: null },
        { type: 'context_edit', targetId: 'e2', replacement: { content: [text('redacted')] } },
      ),
    ];
    for (const history of ['active', 'all'] as const) {
      const { messages, notes } = read(entries, history);
      expect(messages).toHaveLength(4);
      expect(JSON.stringify(messages)).not.toMatch(/a secret|first|forget that/);
      expect(messages[2]?.content).toMatchObject([{ tool_use_id: 'c1', content: [text('redacted')] }]);
      expect(notes).toEqual(['Left out: 1 message taken out of the context (context_edit).']);
    }
  });

  it('starts at its last compaction, with the system message of that time', () => {
    const { messages } = read([
      HEADER,
      ...linkEntries(
        message('system', 'old rules'),
        TASK,
        { type: 'compaction', summary: 'first', firstKeptEntryId: 'e1' },
        message('system', 'rules in between'),
        message('assistant', [text('Done.')]),
        {
          type: 'compaction',
          summary: 'second',
          firstKeptEntryId: 'e1',
          systemMessage: { role: 'system', content: 'rules' },
        },
        message('user', [text('more')]),
      ),
    ]);
    const words = messages.map((message) => [message.role, JSON.stringify(message.content)].join(' '));
    expect(words[0]).toContain('system');
    expect(words[0]).toContain('"rules"');
    expect(words[1]).toContain('second');
    expect(words.slice(2).join()).toMatch(/Fix the test.*Done\..*more/);
    expect(words.join()).not.toMatch(/first|old rules|in between/);
  });

  it('of version 1 is read without a tree, and with a compaction that refers to records by number', () => {
    const entries = [
      { type: 'session', id: 'S0', timestamp: 't', cwd: '/w' },
      message('user', 'One'),
      message('assistant', [text('Two')]),
      { type: 'compaction', summary: 'So far.', firstKeptEntryIndex: 2 },
      message('user', 'Three'),
    ];
    expect(read(entries).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(read(entries, 'all').messages).toHaveLength(4);
  });

  it('of Oh My Pi is read with the title in its first line, its system prompt and the agent’s own reminders', () => {
    const session = read([
      { type: 'title', v: 1, title: 'Mend the tests', pad: '   ' },
      HEADER,
      ...linkEntries(
        { type: 'session_init', systemPrompt: 'Be good.', task: 'x' },
        TASK,
        message('developer', [text('<system-reminder>Go on.</system-reminder>')]),
        message('assistant', [text('Yes')]),
      ),
    ]);
    expect(session).toMatchObject({ title: 'Mend the tests', request: { system: 'Be good.' } });
    expect(session.messages.map(({ role }) => role)).toEqual(['user', 'system', 'assistant']);
  });

  it('is read as far as possible if damaged, or rejected with a reason', () => {
    const circle = [HEADER, { ...TASK, id: 'a', parentId: 'b' }, { ...message('user', 'x'), id: 'b', parentId: 'a' }];
    expect(read(circle).messages).toHaveLength(2);
    const lost = [HEADER, { ...TASK, id: 'a', parentId: 'gone' }];
    expect(read(lost).messages).toHaveLength(1);
    expect(() => read([HEADER])).toThrow('expected a Pi session with "message" entries');
    expect(
      read([HEADER, ...linkEntries(TASK, message('assistant', [{ type: 'odd' }, 7, null, call('', 'x', 1)]))])
        .messages[1],
    ).toEqual({
      role: 'assistant',
      content: [
        { type: 'pi_part', part: { type: 'odd' } },
        { type: 'tool_use', id: '', name: 'x', input: 1 },
      ],
    });
  });
});

describe('requests recorded in a Pi session', () => {
  const usage = (input: number, output: number) => ({ input, output, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } });
  const collect = (entries: readonly Readonly<Record<string, unknown>>[]) => {
    const requests = new PiRequests();
    for (const entry of entries) requests.takeRecord(entry);
    const recorded = requests.getResult();
    return recorded && dropImplausibleUsage(recorded).requests;
  };
  const answer = (id: string, used: object) => ({
    ...{ type: 'message', id, timestamp: '2026-02-01T12:00:00Z' },
    message: { role: 'assistant', model: 'claude-sonnet-4-5', provider: 'anthropic', content: [], usage: used },
  });

  it('have the model that was selected at that time if they wrote a summary', () => {
    const summary = {
      type: 'compaction',
      id: 'c',
      timestamp: '2026-02-01T12:00:01Z',
      summary: 'x',
      usage: usage(5, 1),
    };
    expect(collect([answer('a', usage(9, 1)), summary])?.[1]).toMatchObject({
      ...{ purpose: 'compaction', model: 'claude-sonnet-4-5', seller: 'anthropic' },
    });
    const change = { type: 'model_change', id: 'm', modelId: 'gpt-5.1', provider: 'openai' };
    expect(collect([answer('a', usage(9, 1)), change, summary])?.[1]).toMatchObject({
      model: 'gpt-5.1',
      seller: 'openai',
    });
  });

  it('have no size if the vendor rejected them', () => {
    expect(
      collect([answer('a', usage(9, 1)), answer('b', usage(0, 0))])?.map((each) => each.usage?.inputTokens),
    ).toEqual([9, undefined]);
  });
});
