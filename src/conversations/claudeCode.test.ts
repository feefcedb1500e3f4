import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Fields,
  assistant,
  boundary,
  call,
  jsonl,
  other,
  result,
  summary,
  text,
  user,
} from '../../test/fixtures/conversations/claudeCodeLines';
import { blocksOf } from '../core/messages/blocks';
import { checkConversation } from '../core/messages/firewall';
import type { ApiMessage, Block } from '../core/messages/types';
import { readClaudeCode } from './claudeCode';
import type { ReadOptions } from './types';

const read = (records: readonly Fields[], options: ReadOptions = {}) =>
  readClaudeCode(jsonl(...records), { path: '/home/me/session.jsonl' }, options);

/** The conversation in a short form: role and what its blocks say. */
const outline = (messages: readonly ApiMessage[]): string[] =>
  messages.map((message) => `${message.role}: ${words(message)}`);
const words = (message: ApiMessage): string =>
  typeof message.content === 'string' ? message.content : message.content.map(sign).join(' ');

const sign = (block: Block): string => {
  const id = block['text'] ?? block['id'] ?? block['tool_use_id'];
  return typeof id === 'string' ? id : block.type;
};

describe('the active branch', () => {
  it('follows parents through records of other types', () => {
    const { messages } = read([
      user('u1', null, 'fix the test'),
      other('progress', 'p1', 'u1'),
      other('system', 's1', 'p1', { subtype: 'stop_hook_summary' }),
      other('attachment', 't1', 's1', { attachment: { type: 'todo' } }),
      assistant('a1', 't1', 'm1', text('done')),
    ]);
    expect(outline(messages)).toEqual(['user: fix the test', 'assistant: done']);
  });

  it('is the newest one: what a rewind left behind is dropped and told', () => {
    const { messages, notes } = read([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', text('first try')),
      user('u2', 'a1', 'no, wrong'),
      assistant('a2', 'u2', 'm2', text('second try')),
      user('u3', 'a1', 'use the other file'),
      assistant('a3', 'u3', 'm3', text('third try')),
      other('progress', 'p1', 'a2'),
    ]);
    expect(outline(messages)).toEqual([
      'user: task',
      'assistant: first try',
      'user: use the other file',
      'assistant: third try',
    ]);
    expect(notes).toContain('Left out: 2 records that the newest branch does not lead to (rewound or replaced).');
  });

  it('starts where a parent is not in the file, and says so', () => {
    const { messages, notes } = read([
      user('u1', null, 'lost'),
      user('u2', 'gone', 'here'),
      assistant('a1', 'u2', 'm', text('yes')),
    ]);
    expect(outline(messages)).toEqual(['user: here', 'assistant: yes']);
    expect(notes.join()).toContain("Line 2 continues a message that isn't in the file");
  });

  it('ends where links run in a circle', () => {
    expect(outline(read([user('u1', 'u2', 'a'), user('u2', 'u1', 'b')]).messages)).toEqual(['user: a', 'user: b']);
  });

  it('is the order of the file where records have no uuid', () => {
    const bare = (fields: Fields): Fields => ({
      ...fields,
      uuid: undefined,
      parentUuid: undefined,
      sessionId: undefined,
    });
    const conversation = read([bare(user('', null, 'hello')), bare(assistant('', null, 'm1', text('hi')))]);
    expect(outline(conversation.messages)).toEqual(['user: hello', 'assistant: hi']);
    expect(conversation.id).toMatch(/^file:[0-9a-f]{16}$/);
    expect(
      outline(read([bare(user('', null, 'old')), bare(boundary('', 'x')), bare(user('', null, 'new'))]).messages),
    ).toEqual(['user: new']);
  });
});

describe('compaction', () => {
  const compacted = [
    user('u1', null, 'the task'),
    assistant('a1', 'u1', 'm1', text('working')),
    boundary('b1', 'a1'),
    summary('s1', 'b1'),
    assistant('a2', 's1', 'm2', text('going on')),
  ];

  it('reads from the last boundary on, as resuming would, and tells what is left out', () => {
    const { messages, notes, title } = read(compacted);
    expect(outline(messages)).toEqual([expect.stringContaining('user: This session'), 'assistant: going on']);
    expect(messages[0]).toMatchObject({ isCompactSummary: true });
    expect(notes).toContain('Left out, before the last compaction: 2 messages (read them with history "all").');
    expect(title).toBe('the task');
  });

  it('reads across the boundary with history "all"', () => {
    const { messages, notes } = read(compacted, { history: 'all' });
    expect(outline(messages).map((line) => line.slice(0, 18))).toEqual([
      'user: the task',
      'assistant: working',
      'user: This session',
      'assistant: going o',
    ]);
    expect(notes.join()).not.toContain('before the last compaction');
  });

  it('finds the older part without its logical parent: the last message above the boundary', () => {
    const records = compacted.map((fields) =>
      fields['uuid'] === 'b1' ? { ...fields, logicalParentUuid: 'gone' } : fields,
    );
    expect(read(records, { history: 'all' }).messages).toHaveLength(4);
    const without = compacted.map((fields) =>
      fields['uuid'] === 'b1' ? { ...fields, logicalParentUuid: null } : fields,
    );
    expect(read(without, { history: 'all' }).messages).toHaveLength(4);
  });

  it('counts only the last of several', () => {
    const again = [...compacted, boundary('b2', 'a2'), summary('s2', 'b2'), user('u9', 's2', 'next')];
    expect(outline(read(again).messages)).toEqual([expect.stringContaining('This session'), 'user: next']);
    expect(read(again, { history: 'all' }).messages).toHaveLength(6);
  });

  it('is a conversation of its summary when nothing followed yet', () => {
    expect(read(compacted.slice(0, 4)).messages).toHaveLength(1);
  });

  describe('with messages that it kept', () => {
    const before = [
      user('u1', null, 'the task'),
      assistant('a1', 'u1', 'm1', text('working')),
      user('u2', 'a1', 'kept question'),
      assistant('a2', 'u2', 'm2', text('kept answer')),
    ];
    const after = [summary('s1', 'b1'), user('u3', 's1', 'next')];
    const segment = { headUuid: 'u2', tailUuid: 'a2', anchorUuid: 's1' };
    const expected = [
      expect.stringContaining('This session'),
      'user: kept question',
      'assistant: kept answer',
      'user: next',
    ];

    it.each([
      ['named by head and tail', { preservedSegment: segment }],
      ['named one by one', { preservedMessages: { anchorUuid: 's1', uuids: ['u2', 'a2'] } }],
      [
        'of which some are gone',
        { preservedMessages: { anchorUuid: 's1', allUuids: ['u2', 'gone', 'a2'], uuids: [] } },
      ],
    ])('%s: puts them behind the summary', (_, metadata) => {
      const records = [...before, boundary('b1', 'a2', metadata), ...after];
      expect(outline(read(records).messages)).toEqual(expected);
      expect(outline(read(records, { history: 'all' }).messages)).toEqual([
        'user: the task',
        'assistant: working',
        ...expected,
      ]);
    });

    it('in front of the summary where the boundary is the anchor', () => {
      const metadata = { preservedSegment: { ...segment, anchorUuid: 'b1' } };
      expect(outline(read([...before, boundary('b1', 'a2', metadata), ...after]).messages)).toEqual([
        'user: kept question',
        'assistant: kept answer',
        expect.stringContaining('This session'),
        'user: next',
      ]);
    });

    it('when the next message hangs at the last kept one, or nothing followed yet', () => {
      const records = [...before, boundary('b1', 'a2', { preservedSegment: segment }), summary('s1', 'b1')];
      expect(outline(read([...records, user('u3', 'a2', 'next')]).messages)).toEqual(expected);
      expect(outline(read(records).messages)).toEqual(expected.slice(0, 3));
    });

    it('and wrote again under the same uuid', () => {
      const metadata = { preservedMessages: { anchorUuid: 's1', uuids: ['u2', 'a2'] } };
      const copies = before.slice(2);
      const records = [...before, boundary('b1', 'a2', metadata), ...copies, ...after];
      expect(outline(read(records).messages)).toEqual(expected);
    });

    it.each([
      ['the anchor is not in the file', { preservedSegment: { ...segment, anchorUuid: 'gone' } }],
      ['the walk misses the head', { preservedSegment: { ...segment, headUuid: 'gone' } }],
      ['the tail is missing', { preservedSegment: { headUuid: 'u2', anchorUuid: 's1' } }],
    ])('moves nothing where %s', (_, metadata) => {
      const records = [...before, boundary('b1', 'a2', metadata), ...after];
      expect(outline(read(records).messages)).toEqual([expect.stringContaining('This session'), 'user: next']);
    });

    it('can have kept everything', () => {
      const metadata = { preservedSegment: { ...segment, headUuid: 'u1' } };
      const records = [...before, boundary('b1', 'a2', metadata), ...after];
      expect(read(records, { history: 'all' }).messages).toHaveLength(6);
    });
  });
});

describe('joining', () => {
  it('makes one message of the lines of one API message; the last line has the last word', () => {
    const records = [
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', { type: 'thinking', thinking: 'hm', signature: 's' }),
      assistant('a2', 'a1', 'm1', text('I will read')),
    ];
    const last = assistant('a3', 'a2', 'm1', call('t1'));
    (last['message'] as Fields)['stop_reason'] = 'tool_use';
    const { messages } = read([...records, last, user('u2', 'a3', [result('t1')])]);
    expect(messages).toHaveLength(3);
    expect(messages[1]).toMatchObject({ id: 'm1', model: 'claude-opus-4-5', stop_reason: 'tool_use' });
    expect(blocksOf(messages[1]!).map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
  });

  it('puts parallel results into one message, those beside the path too', () => {
    const { messages, notes } = read([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', call('t1')),
      assistant('a2', 'a1', 'm1', call('t2')),
      user('u2', 'a1', [result('t1')]),
      user('u3', 'a2', [result('t2')]),
      assistant('a3', 'u3', 'm2', text('both read')),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: t1 t2', 'user: t1 t2', 'assistant: both read']);
    expect(checkConversation(messages)).toEqual([]);
    expect(notes.join()).not.toContain('Left out');
  });

  it('takes in siblings that hang beside the path', () => {
    const { messages } = read([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', call('t1')),
      assistant('a2', 'a1', 'm1', call('t2')),
      user('u3', 'a2', [result('t2')]),
      user('u2', 'a1', [result('t1')]),
      assistant('a3', 'u2', 'm2', text('both read')),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: t1 t2', 'user: t2 t1', 'assistant: both read']);
  });

  it('joins calls that were written between the results of the first ones', () => {
    const { messages } = read([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', call('t1')),
      user('u2', 'a1', [result('t1'), text('(reminder)')]),
      assistant('a2', 'u2', 'm1', call('t2')),
      user('u3', 'a2', [result('t2')]),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: t1 t2', 'user: t1 t2 (reminder)']);
  });

  it('does not join over what was said meanwhile, but puts a result to its call', () => {
    const { messages } = read([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', call('t1')),
      user('u2', 'a1', 'by the way'),
      user('u3', 'u2', [result('t1')]),
      assistant('a2', 'u3', 'm1', call('t2')),
      user('u4', 'a2', [result('t2')]),
    ]);
    expect(outline(messages)).toEqual([
      'user: task',
      'assistant: t1',
      'user: t1',
      'user: by the way',
      'assistant: t2',
      'user: t2',
    ]);
    expect(checkConversation(messages)).toEqual([]);
  });

  it('leaves a message with results as it stands in its own record', () => {
    const content = [text('before'), result('t1')];
    const { messages } = read([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', call('t1')),
      user('u2', 'a1', content),
    ]);
    expect(messages[2]?.content).toEqual(content);
  });

  it('keeps an interrupted call as it is and tells it', () => {
    const { messages, notes } = read([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', call('t1')),
      user('u2', 'a1', [text('[Request interrupted by user for tool use]')]),
    ]);
    expect(messages).toHaveLength(3);
    expect(notes).toContain('1 tool call without a result (first: message 2); left as it is.');
  });

  it('does not carry a late result over another answer', () => {
    const { messages } = read([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', call('t1')),
      assistant('a2', 'a1', 'm2', text('meanwhile')),
      user('u2', 'a2', [result('t1')]),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: t1', 'assistant: meanwhile', 'user: t1']);
  });

  it('reads content that is a string, and messages without an id', () => {
    const records = [
      user('u1', null, 'task'),
      other('assistant', 'a1', 'u1', { message: { role: 'assistant', content: 'first' } }),
      other('assistant', 'a2', 'a1', { message: { role: 'assistant', content: 'second' } }),
      other('assistant', 'a3', 'a2', { message: { role: 'assistant', id: 'm', content: 'a' } }),
      other('assistant', 'a4', 'a3', { message: { role: 'assistant', id: 'm', content: '' } }),
      other('assistant', 'a5', 'a4', { message: { role: 'assistant', id: 'm', content: [text('b')] } }),
    ];
    expect(outline(read(records).messages)).toEqual([
      'user: task',
      'assistant: first',
      'assistant: second',
      'assistant: a b',
    ]);
  });
});

describe('what is part of the conversation', () => {
  it('keeps meta messages, which are sent, and marks them', () => {
    const { messages } = read([
      user('u1', null, 'skill content', { isMeta: true }),
      assistant('a1', 'u1', 'm', text('ok')),
    ]);
    expect(messages[0]).toEqual({ role: 'user', content: 'skill content', isMeta: true });
  });

  it('sends what a local command printed as a user message', () => {
    const { messages } = read([
      other('system', 's1', null, {
        subtype: 'local_command',
        content: '<local-command-stdout>ok</local-command-stdout>',
      }),
      user('u1', 's1', 'go'),
    ]);
    expect(outline(messages)).toEqual(['user: <local-command-stdout>ok</local-command-stdout>', 'user: go']);
  });

  it('passes over API errors and records of other kinds, and counts them', () => {
    const { messages, notes } = read([
      { type: 'summary', summary: 'Old work', leafUuid: 'x' },
      { type: 'file-history-snapshot', messageId: 'u1', snapshot: {} },
      { type: 'queue-operation', operation: 'enqueue' },
      user('u1', null, 'task'),
      other('progress', 'p1', 'u1'),
      other('progress', 'p2', 'u1'),
      assistant('a1', 'u1', 'm1', text('API Error: 500'), { isApiErrorMessage: true }),
      assistant('a2', 'a1', 'm2', text('done')),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: done']);
    expect(notes).toEqual([
      'Left out, since it is not sent to the model: 2 progress, 1 API error message, 1 file-history-snapshot, 1 queue-operation, 1 summary.',
    ]);
  });

  it('keeps unknown fields of messages and leaves those of records', () => {
    const line = user('u1', null, 'x', { toolUseResult: { stdout: 'x' } });
    (line['message'] as Fields)['later'] = { a: 1 };
    expect(read([line]).messages[0]).toEqual({ role: 'user', content: 'x', later: { a: 1 } });
  });
});

describe('sidechains', () => {
  const side = { isSidechain: true };

  it('are kept apart, one per agent', () => {
    const { messages, sidechains } = read([
      user('u1', null, 'task'),
      user('x1', null, 'explore', { ...side, agentId: 'one' }),
      user('y1', null, 'plan', { ...side, agentId: 'two' }),
      assistant('x2', 'x1', 'mx', text('found'), { ...side, agentId: 'one' }),
      assistant('a1', 'u1', 'm1', text('done')),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: done']);
    expect(sidechains.map(({ messages: side }) => outline(side))).toEqual([
      ['user: explore', 'assistant: found'],
      ['user: plan'],
    ]);
  });

  it('without the name of their agent are told apart by the root of their tree', () => {
    const { sidechains } = read([
      user('u1', null, 'task'),
      user('x1', 'u1', 'explore', side),
      user('y1', null, 'plan', side),
      assistant('x2', 'x1', 'mx', text('found'), side),
      assistant('x3', 'x2', 'mx2', text('more'), side),
      assistant('y2', 'y1', 'my', text('planned'), side),
      other('progress', 'z1', null, side),
    ]);
    expect(sidechains.map(({ messages: side }) => outline(side))).toEqual([
      ['user: explore', 'assistant: found', 'assistant: more'],
      ['user: plan', 'assistant: planned'],
    ]);
  });

  it('in a file of their own are the conversation', () => {
    const agent = { ...side, agentId: 'abc' };
    const { id, messages, sidechains } = read([
      user('x1', null, 'explore', agent),
      assistant('x2', 'x1', 'm', text('found'), agent),
    ]);
    expect(outline(messages)).toEqual(['user: explore', 'assistant: found']);
    expect(sidechains).toEqual([]);
    expect(id).toBe('claude-code:00000000-0000-4000-8000-000000000001:abc');
  });

  it('survive links that run in a circle', () => {
    const { sidechains } = read([user('u', null, 'task'), user('x1', 'x2', 'a', side), user('x2', 'x1', 'b', side)]);
    expect(sidechains.flatMap(({ messages }) => messages)).toHaveLength(2);
  });
});

it('has the id of the newest session', () => {
  const copied = user('u1', null, 'task', { sessionId: 'older' });
  expect(read([copied, user('u2', 'u1', 'go on')]).id).toBe('claude-code:00000000-0000-4000-8000-000000000001');
});

describe('a generated session', () => {
  interface Turn {
    readonly calls: number;
    readonly thinks: boolean;
    readonly chained: boolean;
    readonly order: 'asked' | 'reversed';
    readonly lost: number;
    readonly noise: boolean;
  }
  const turn: fc.Arbitrary<Turn> = fc.record({
    calls: fc.nat({ max: 4 }),
    thinks: fc.boolean(),
    chained: fc.boolean(),
    order: fc.constantFrom('asked', 'reversed'),
    lost: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat({ max: 2 })),
    noise: fc.boolean(),
  });

  /** The session as the API saw it, and as Claude Code writes it: a line per block, results linked to their own call. */
  function session(turns: readonly Turn[]): { sent: ApiMessage[]; records: Fields[] } {
    const sent: ApiMessage[] = [{ role: 'user', content: 'the task' }];
    const records = [user('u', null, 'the task')];
    let leaf = 'u';
    turns.forEach(({ calls, thinks, chained, order, lost, noise }, n) => {
      const ids = Array.from({ length: calls }, (_, i) => `t${n}_${i}`);
      const blocks = [
        ...(thinks ? [{ type: 'thinking', thinking: 'hm', signature: 's' }] : []),
        text(`turn ${n}`),
        ...ids.map((id) => call(id)),
      ];
      const parents = new Map<string, string>();
      const answered = ids.slice(0, ids.length - Math.min(lost, ids.length));
      const results: Fields[] = [];
      blocks.forEach((block, i) => {
        const uuid = `a${n}_${i}`;
        records.push(assistant(uuid, leaf, `m${n}`, block));
        if (block['type'] === 'tool_use') parents.set(String(block['id']), uuid);
        leaf = uuid;
        // A call can be answered while the message is still being streamed.
        if (chained && answered.includes(String(block['id']))) {
          records.push(user(`r${String(block['id'])}`, leaf, [result(String(block['id']))]));
          if (noise) leaf = `r${String(block['id'])}`;
        }
      });
      if (noise) records.push(other('progress', `p${n}`, leaf));
      for (const id of order === 'asked' ? answered : answered.toReversed()) {
        results.push(result(id));
        if (!chained) records.push(user(`r${id}`, parents.get(id) ?? null, [result(id)]));
        leaf = chained ? leaf : `r${id}`;
      }
      const last = answered.at(-1);
      if (chained && last !== undefined) leaf = `r${last}`;
      sent.push({ role: 'assistant', content: blocks as unknown as Block[] });
      if (results.length > 0) sent.push({ role: 'user', content: results as unknown as Block[] });
      if (results.length === 0) {
        records.push(user(`u${n}`, leaf, `go on ${n}`));
        sent.push({ role: 'user', content: `go on ${n}` });
        leaf = `u${n}`;
      }
    });
    return { sent, records };
  }

  const sortedIds = (messages: readonly ApiMessage[]) =>
    messages.map(({ role, content }) => [
      role,
      typeof content === 'string' ? content : content.map((block) => JSON.stringify(block)).sort(),
    ]);

  it('is read as it was sent', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 6 }), (turns) => {
        const { sent, records } = session(turns);
        expect(sortedIds(read(records).messages)).toEqual(sortedIds(sent));
      }),
      { numRuns: 150 },
    );
  });

  it('is never less valid joined than in the lines it came from', () => {
    // With an end behind it: an open call in the last message is no violation, and which is the last may change.
    const violations = (messages: readonly ApiMessage[]) =>
      checkConversation([...messages, { role: 'user', content: 'end' }]);
    const line = fc.record({
      kind: fc.constantFrom('text', 'call', 'result', 'user', 'progress'),
      message: fc.nat({ max: 3 }),
      tool: fc.nat({ max: 10 }),
    });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), (lines) => {
        // Ids of calls are the API's and never repeat; results name any, of no call and of one that is answered too.
        const callBefore = (n: number, tool: number): string => {
          const callLines = lines.flatMap(({ kind }, at) => (kind === 'call' && at < n ? [at] : []));
          return `t${callLines[tool % (callLines.length + 1)] ?? 'none'}`;
        };
        const records = lines.map(({ kind, message, tool }, n) => {
          const above = n === 0 ? null : `r${n - 1}`;
          const uuid = `r${n}`;
          if (kind === 'text') return assistant(uuid, above, `m${message}`, text(`words ${n}`));
          if (kind === 'call') return assistant(uuid, above, `m${message}`, call(`t${n}`));
          if (kind === 'result') return user(uuid, above, [result(callBefore(n, tool))]);
          return kind === 'user' ? user(uuid, above, `say ${n}`) : other('progress', uuid, above);
        });
        fc.pre(records.some((record) => 'message' in record));
        const conversation = read(records);
        // The same lines, each a message of its own.
        const raw = records.flatMap(({ message }) => (message ? [message as ApiMessage] : []));
        expect(violations(conversation.messages).length).toBeLessThanOrEqual(violations(raw).length);
      }),
      { numRuns: 400 },
    );
  });
});
