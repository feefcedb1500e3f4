import { describe, expect, it } from 'vitest';
import {
  type Fields,
  assistant,
  makeToolUse,
  makeOtherRecord,
  result,
  makeTextBlock,
  user,
} from '../../../../test/fixtures/conversations/claudeCodeLines';
import { readRecords, outline } from './testing';
import { getNoteText } from '../../notes';

const attachment = (uuid: string, parent: string, fields: Fields, record: Fields = {}): Fields =>
  makeOtherRecord('attachment', uuid, parent, { attachment: fields, ...record });

/** Returns the record as if another model had written it. */
const withModel = (model: string, record: Fields): Fields => ({
  ...record,
  message: { ...(record['message'] as Fields), model },
});

/** Creates a turn that runs a command, with attachments after its result. */
const createTurn = (...attachments: ((parent: string) => Fields)[]): Fields[] => {
  const records = [
    user('u1', null, 'Rename the loader.'),
    withModel('claude-opus-4-8', assistant('a1', 'u1', 'm1', makeToolUse('c1', { command: 'npm test' }))),
    user('r1', 'a1', [result('c1', 'ok')]),
  ];
  for (const make of attachments) records.push(make(String(records.at(-1)?.['uuid'])));
  return [
    ...records,
    withModel('claude-opus-4-8', assistant('a2', String(records.at(-1)?.['uuid']), 'm2', makeTextBlock('done'))),
  ];
};

describe('a message typed while Claude Code works', () => {
  it.each([
    ['a text', 'NEVER touch migrations', {}],
    ['blocks', [{ type: 'text', text: 'NEVER touch migrations' }], {}],
    ['with its origin', 'NEVER touch migrations', { origin: { kind: 'human' } }],
    ['as rendered by newer versions', 'NEVER touch migrations', { rendered: true }],
  ])("is read as the person's message: %s", (_, prompt, { rendered, ...fields }: Fields) => {
    const words = 'The user sent a new message while you were working:\nNEVER touch migrations';
    const { messages } = readRecords(
      createTurn((parent) =>
        attachment(
          'q1',
          parent,
          { type: 'queued_command', prompt, commandMode: 'prompt', ...fields },
          rendered ? { rendered: [{ content: words }], renderedRole: 'system' } : {},
        ),
      ),
    );
    expect(messages[3]).toEqual({ role: 'user', content: [{ type: 'text', text: 'NEVER touch migrations' }] });
    expect(messages[4]?.role).toBe('assistant');
  });

  it('keeps its images', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };
    const prompt = [{ type: 'text', text: 'like this' }, image];
    const { messages } = readRecords(
      createTurn((parent) => attachment('q1', parent, { type: 'queued_command', prompt })),
    );
    expect(messages[3]?.content).toEqual(prompt);
  });

  it.each([
    ['behind that prompt, for a model that takes system messages', 'claude-opus-4-8', ['START', 'WORDS']],
    ['in front of it, for an older model', 'claude-sonnet-4-5', ['WORDS', 'START']],
  ])('is placed where Claude Code sends it if it directly follows a prompt: %s', (_, model, expected) => {
    const { messages } = readRecords([
      user('u1', null, 'START'),
      attachment('q1', 'u1', { type: 'queued_command', prompt: 'WORDS', commandMode: 'prompt' }),
      withModel(model, assistant('a1', 'q1', 'm1', makeTextBlock('done'))),
    ]);
    expect(outline(messages)).toEqual([...expected.map((words) => `user: ${words}`), 'assistant: done']);
  });

  it('is read even at the end of a file', () => {
    const records = createTurn((parent) => attachment('q1', parent, { type: 'queued_command', prompt: 'wait' }));
    expect(outline(readRecords(records.slice(0, -1)).messages).at(-1)).toBe('user: wait');
  });

  it("is taken from the queue's record if an old version wrote no attachment", () => {
    const queue = (operation: string, content?: string): Fields => ({
      type: 'queue-operation',
      operation,
      timestamp: '2026-02-07T04:08:26.561Z',
      sessionId: '00000000-0000-4000-8000-000000000001',
      ...(content !== undefined && { content }),
    });
    const [task, command, answer, end] = createTurn();
    const { messages } = readRecords([
      task as Fields,
      queue('enqueue', 'commit first'),
      command as Fields,
      answer as Fields,
      queue('remove'),
      queue('enqueue', 'never sent'),
      queue('popAll', 'never sent'),
      queue('enqueue', '<task-notification>ready</task-notification>'),
      queue('remove'),
      end as Fields,
    ]);
    expect(outline(messages)).toEqual([
      'user: Rename the loader.',
      'assistant: c1',
      'user: c1',
      'user: commit first',
      'assistant: done',
    ]);
  });

  it("is taken from the queue's record although an earlier prompt has the same words", () => {
    const queue = { type: 'queue-operation', sessionId: '00000000-0000-4000-8000-000000000001' };
    const records = createTurn();
    records.splice(1, 0, { ...queue, operation: 'enqueue', content: 'Rename the loader.' });
    records.splice(4, 0, { ...queue, operation: 'remove' });
    expect(outline(readRecords(records).messages)).toEqual([
      'user: Rename the loader.',
      'assistant: c1',
      'user: c1',
      'user: Rename the loader.',
      'assistant: done',
    ]);
  });

  it('is omitted if it was taken from the queue in a turn that was rewound', () => {
    const queue = { type: 'queue-operation', sessionId: '00000000-0000-4000-8000-000000000001' };
    const [task, command, result, end] = createTurn() as [Fields, Fields, Fields, Fields];
    const records = [
      ...[task, command, { ...queue, operation: 'enqueue', content: 'rewound words' }, result],
      ...[{ ...queue, operation: 'remove' }, end, user('u9', null, 'Another task.')],
    ];
    expect(outline(readRecords(records).messages)).toEqual(['user: Another task.']);
  });

  it('appears once if it is both in the queue and in an attachment', () => {
    const records = createTurn((parent) =>
      attachment('q1', parent, { type: 'queued_command', prompt: 'commit first' }),
    );
    const queue = { type: 'queue-operation', sessionId: '00000000-0000-4000-8000-000000000001' };
    records.splice(1, 0, { ...queue, operation: 'enqueue', content: 'commit first' });
    records.splice(4, 0, { ...queue, operation: 'remove' });
    expect(outline(readRecords(records).messages).filter((line) => line === 'user: commit first')).toHaveLength(1);
  });

  it('does not include task reports and messages of other sessions', () => {
    const { messages } = readRecords(
      createTurn(
        (parent) =>
          attachment('q1', parent, { type: 'queued_command', prompt: 'ready', commandMode: 'task-notification' }),
        (parent) => attachment('q2', parent, { type: 'queued_command', prompt: 'hi', origin: { kind: 'peer' } }),
      ),
    );
    expect(messages[3]).toMatchObject({ addedByAgent: true });
  });
});

describe('an attachment that Claude Code adds', () => {
  it('has the text that was sent according to its record', () => {
    const { messages } = readRecords(
      createTurn((parent) =>
        attachment(
          't1',
          parent,
          { type: 'invented_tomorrow' },
          { rendered: [{ content: '<system-reminder>\nnew\n</system-reminder>' }], renderedRole: 'system' },
        ),
      ),
    );
    expect(messages[3]).toEqual({
      role: 'user',
      content: [{ type: 'text', text: '<system-reminder>\nnew\n</system-reminder>' }],
      addedByAgent: true,
      sentAs: 'system',
    });
  });

  it.each<[string, Fields, string]>([
    ['edited_text_file', { filename: '/a.ts', snippet: '7\tconst a = 1;' }, '7\tconst a = 1;'],
    [
      'file',
      { filename: '/b.ts', content: { type: 'text', file: { content: 'one\ntwo', startLine: 4 } } },
      '4\tone\n5\ttwo',
    ],
    ['directory', { path: '/src', content: 'a.ts\nb.ts' }, 'a.ts\nb.ts'],
    ['nested_memory', { content: { path: '/CLAUDE.md', content: 'use tabs' } }, 'use tabs'],
    ['skill_listing', { content: '- deploy: Deploy it' }, '- deploy: Deploy it'],
    ['agent_listing_delta', { addedLines: ['- Explore: looks'] }, '- Explore: looks'],
    ['deferred_tools_delta', { addedLines: ['WebFetch'], removedNames: [] }, 'WebFetch'],
    ['mcp_instructions_delta', { addedBlocks: ['## db\nask first'], removedNames: [] }, '## db\nask first'],
    ['hook_additional_context', { content: ['lint first'], hookName: 'PreToolUse:Bash' }, 'lint first'],
    ['hook_success', { content: 'it is Monday', hookEvent: 'UserPromptSubmit' }, 'it is Monday'],
    ['hook_blocking_error', { blockingError: { blockingError: 'no', command: 'check' } }, 'no'],
    ['async_hook_response', { response: { hookSpecificOutput: { additionalContext: 'late' } } }, 'late'],
    ['task_reminder', { content: [{ id: 1, status: 'pending', subject: 'Write' }] }, '#1. [pending] Write'],
    ['todo_reminder', { content: [{ status: 'pending', content: 'Write' }] }, '1. [pending] Write'],
    ['total_tokens_reminder', { text: '<total_tokens>5</total_tokens>' }, '<total_tokens>5</total_tokens>'],
    ['date_change', { newDate: '2026-02-07' }, '2026-02-07'],
    ['plan_mode', { reminderType: 'full', planFilePath: '/p.md', planExists: false }, '/p.md'],
    ['plan_mode_exit', { planExists: true, planFilePath: '/p.md' }, '/p.md'],
    ['plan_file_reference', { planFilePath: '/p.md', planContent: '1. do' }, '1. do'],
    ['compact_file_reference', { filename: '/a.ts' }, '/a.ts'],
    ['invoked_skills', { skills: [{ name: 'deploy', path: '/s', content: 'make deploy' }] }, 'make deploy'],
    ['diagnostics', { files: [{ uri: 'file:///a.ts', diagnostics: [{ message: 'unused', range: {} }] }] }, 'unused'],
    ['opened_file_in_ide', { filename: '/a.ts' }, '/a.ts'],
    ['selected_lines_in_ide', { filename: '/a.ts', lineStart: 1, lineEnd: 2, content: 'x' }, '1 to 2'],
  ])('of type %s is sent inside a reminder, even if an old record does not say so', (type, fields, words) => {
    const { messages, notes } = readRecords(createTurn((parent) => attachment('t1', parent, { type, ...fields })));
    const added = messages[3];
    expect(added).toMatchObject({ role: 'user', addedByAgent: true });
    const texts = added?.content as readonly { readonly text: string }[];
    expect(texts.map((block) => block.text).join('\n')).toContain(words);
    expect(texts.every((block) => block.text.startsWith('<system-reminder>\n'))).toBe(true);
    expect(notes).toEqual([]);
  });

  it.each<[string, Fields]>([
    ['hook_success', { content: 'seen by the person', hookEvent: 'PostToolUse' }],
    ['hook_success', { content: '', hookEvent: 'SessionStart' }],
    ['hook_system_message', { content: 'hello' }],
    ['async_hook_response', { response: {} }],
    ['command_permissions', { allowedTools: [] }],
    ['prompt_snapshot', { systemPrompt: ['You are'] }],
  ])('of type %s is noted as not sent', (type, fields) => {
    const { messages, notes } = readRecords(createTurn((parent) => attachment('t1', parent, { type, ...fields })));
    expect(messages).toHaveLength(4);
    expect(notes).toEqual([`Left out because it is not sent to the model: 1 attachment ${type}.`]);
  });

  it('is not noted as unsent if it is unknown whether it was sent', () => {
    const { notes } = readRecords([
      ...createTurn((parent) => attachment('t1', parent, { type: 'invented_tomorrow', content: 'x' })),
      makeOtherRecord('invented-record', 'x1', null),
    ]);
    expect(notes.map(getNoteText).join()).toContain('may be sent to the model');
    expect(notes.map(getNoteText).join()).toContain('1 attachment invented_tomorrow, 1 invented-record');
    expect(notes.map(getNoteText).join()).not.toContain('is not sent');
  });

  it('is noted as not sent if its version records what is sent and its record is empty', () => {
    const { messages, notes } = readRecords(
      createTurn(
        (parent) => attachment('t1', parent, { type: 'session_context', context: {} }),
        (parent) =>
          attachment('t2', parent, { type: 'date' }, { rendered: [{ content: 'today' }], renderedRole: 'system' }),
      ),
    );
    expect(outline(messages)[3]).toBe('user: today');
    expect(notes).toEqual(['Left out because it is not sent to the model: 1 attachment session_context.']);
  });

  it('is placed as in the request: before the prompt in the user role, after the prompt in the system role', () => {
    const rendered = (words: string, role: string): Fields => ({ rendered: [{ content: words }], renderedRole: role });
    const { messages } = readRecords([
      user('u1', null, 'Task.'),
      attachment('t1', 'u1', { type: 'environment' }, rendered('environment', 'system')),
      attachment('t2', 't1', { type: 'nested_memory' }, rendered('memory', 'user')),
      attachment('t3', 't2', { type: 'date' }, rendered('date', 'system')),
      withModel('claude-opus-4-8', assistant('a1', 't3', 'm1', makeToolUse('c1', { command: 'ls' }))),
      attachment('t4', 'a1', { type: 'hook_additional_context' }, rendered('hook', 'system')),
      withModel('claude-opus-4-8', assistant('a2', 't4', 'm1', makeToolUse('c2', { command: 'pwd' }))),
      user('r1', 'a2', [result('c1', 'a')]),
      user('r2', 'r1', [result('c2', 'b')]),
      attachment('t5', 'r2', { type: 'total_tokens_reminder' }, rendered('left', 'system')),
      withModel('claude-opus-4-8', assistant('a3', 't5', 'm2', makeTextBlock('done'))),
    ]);
    expect(outline(messages)).toEqual([
      'user: memory',
      'user: Task.',
      'user: environment date',
      'assistant: c1 c2',
      'user: c1 c2',
      'user: hook',
      'user: left',
      'assistant: done',
    ]);
  });

  it.each<[string, Fields]>([
    ['edited_text_file', { filename: '/a.ts', snippet: '7\tWORDS' }],
    ['file', { filename: '/b.ts', content: { type: 'text', file: { content: 'WORDS', startLine: 1 } } }],
    ['nested_memory', { content: { path: '/CLAUDE.md', content: 'WORDS' } }],
    ['skill_listing', { content: '- WORDS: x' }],
    ['hook_additional_context', { content: ['WORDS'], hookName: 'PreToolUse:Bash' }],
  ])('of type %s in an old record is placed where version 2.1.332 sends it after resuming', (type, fields) => {
    const order = (model: string): readonly number[] => {
      const { messages } = readRecords([
        user('u1', null, 'START'),
        attachment('t1', 'u1', { type, ...fields }),
        withModel(model, assistant('a1', 't1', 'm1', makeTextBlock('done'))),
      ]);
      const texts = messages.map((message) => JSON.stringify(message));
      return ['START', 'WORDS'].map((words) => texts.findIndex((message) => message.includes(words)));
    };
    expect(order('claude-opus-4-8')).toEqual([0, 1]);
    expect(order('claude-sonnet-4-5')).toEqual([1, 0]);
  });

  it("from a call's hook is read even if its record is not on the active path", () => {
    const hook = (uuid: string, parent: string, words: string): Fields =>
      attachment(uuid, parent, { type: 'hook_additional_context', content: [words], hookEvent: 'PreToolUse' });
    const { messages } = readRecords([
      user('u1', null, 'Task.'),
      assistant('a1', 'u1', 'm1', makeToolUse('c1', { command: 'ls' })),
      hook('h1', 'a1', 'before the first call'),
      assistant('a2', 'a1', 'm1', makeToolUse('c2', { command: 'pwd' })),
      user('r1', 'a1', [result('c1', 'a')]),
      makeOtherRecord('attachment', 'h2', 'r1', {
        attachment: { type: 'hook_success', hookEvent: 'PostToolUse', content: '' },
      }),
      hook('h3', 'h2', 'behind the first result'),
      user('r2', 'a2', [result('c2', 'b')]),
      assistant('a3', 'r2', 'm2', makeTextBlock('done')),
    ]);
    const texts = outline(messages);
    expect(texts.map((each) => each.slice(0, 16))).toEqual([
      'user: Task.',
      'assistant: c1 c2',
      'user: c1 c2',
      'user: <system-re',
      'assistant: done',
    ]);
    expect(texts[3]).toMatch(/before the first call[^]*behind the first result/);
  });

  it('is not read if it follows a rewound prompt', () => {
    const { messages } = readRecords([
      ...createTurn(),
      user('u2', 'a2', 'Old.'),
      attachment('t1', 'u2', { type: 'date_change', newDate: '2026-02-07' }),
      user('u3', 'a2', 'New.'),
    ]);
    expect(outline(messages).slice(-2)).toEqual(['assistant: done', 'user: New.']);
  });

  it.each([
    ['claude-sonnet-4-5-20250929', false],
    ['claude-opus-4-20250514', false],
    ['us.anthropic.claude-opus-4-7-v1:0', false],
    ['claude-3-7-sonnet-20250219', false],
    ['claude-opus-4-8', true],
    ['claude-sonnet-5', true],
    ['some-model', true],
  ])('has the role that its model accepts: %s', (model, takesSystem) => {
    const rendered = [{ content: '<system-reminder>\nThe date.\n</system-reminder>' }];
    const { messages } = readRecords([
      user('u1', null, 'Rename the loader.'),
      attachment('d1', 'u1', { type: 'date', date: '2026-11-29' }, { rendered, renderedRole: 'system' }),
      withModel(model, assistant('a1', 'd1', 'm1', makeTextBlock('done'))),
    ]);
    const prompt = messages.findIndex(({ content }) => content === 'Rename the loader.');
    const added = messages.findIndex(({ addedByAgent }) => addedByAgent === true);
    expect(added > prompt).toBe(takesSystem);
    expect(messages[added]?.['sentAs']).toBe(takesSystem ? 'system' : undefined);
  });

  it('in place of a tool result that is too large is read as the preview that was sent', () => {
    const { messages } = readRecords([
      ...createTurn(),
      {
        type: 'content-replacement',
        sessionId: '00000000-0000-4000-8000-000000000001',
        replacements: [{ kind: 'tool-result', toolUseId: 'c1', replacement: 'Preview: ok' }],
      },
    ]);
    expect(messages[2]?.content).toMatchObject([{ tool_use_id: 'c1', content: 'Preview: ok' }]);
  });
});
