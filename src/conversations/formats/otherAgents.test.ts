import { describe, expect, it } from 'vitest';
import { checkConversation } from '../../core/messages/firewall';
import { readConversation } from '../read';
import type { ReadOptions } from '../types';

type Fields = Record<string, unknown>;

const read = (value: unknown, options: ReadOptions = {}) =>
  readConversation(JSON.stringify(value), { path: '/x/y.json' }, options);
const lines = (records: readonly unknown[], options: ReadOptions = {}) =>
  readConversation(records.map((each) => JSON.stringify(each)).join('\n'), { path: '/x/y.jsonl' }, options);
const text = (words: string): Fields => ({ type: 'text', text: words });

describe('a Qwen Code session', () => {
  const record = (uuid: string, parentUuid: string | null, type: string, fields: Fields): Fields => ({
    uuid,
    parentUuid,
    sessionId: 's1',
    timestamp: '2026-08-05T18:36:21.455Z',
    type,
    cwd: '/work',
    ...fields,
  });
  const said = (role: string, ...parts: readonly Fields[]): Fields => ({ message: { role, parts } });
  const session = [
    record('u1', null, 'user', said('user', { text: 'Read a.ts' })),
    record('t1', 'u1', 'system', { subtype: 'ui_telemetry', systemPayload: {} }),
    record('left', 'u1', 'user', said('user', { text: 'Read b.ts' })),
    record('a1', 't1', 'assistant', {
      ...said(
        'model',
        { text: 'Look first', thought: true },
        { functionCall: { id: 'c1', name: 'read_file', args: { file_path: '/w/a.ts' } } },
        { functionCall: { id: 'c2', name: 'read_file', args: {} } },
      ),
      model: 'qwen3-coder',
      contextWindowSize: 262_144,
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 9, totalTokenCount: 120, thoughtsTokenCount: 11 },
    }),
    record('r1', 'a1', 'tool_result', {
      ...said(
        'user',
        { functionResponse: { id: 'c1', name: 'read_file', response: { output: 'const a = 1;' } } },
        { functionResponse: { id: 'c2', name: 'read_file', response: { error: 'no such file' } } },
      ),
    }),
    record('a2', 'r1', 'assistant', said('model', { text: 'It sets a.' })),
  ];

  it('has the messages of the newest branch, and the recorded requests', () => {
    const conversation = lines(session, { history: 'all' });
    expect(conversation).toMatchObject({ id: 'qwen:s1', format: 'qwen', title: 'Read a.ts', workspace: '/work' });
    expect(conversation.messages).toEqual([
      { role: 'user', content: [text('Read a.ts')] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Look first' },
          { type: 'tool_use', id: 'c1', name: 'read_file', input: { file_path: '/w/a.ts' } },
          { type: 'tool_use', id: 'c2', name: 'read_file', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [text('const a = 1;')] },
          { type: 'tool_result', tool_use_id: 'c2', content: 'no such file', is_error: true },
        ],
      },
      { role: 'assistant', content: [text('It sets a.')] },
    ]);
    expect(conversation.notes).toEqual([
      'Left out: 1 message on abandoned branches.',
      'Left out because it is not sent to the model: 1 system ui_telemetry.',
    ]);
    expect(conversation.recorded?.requests).toMatchObject([
      { message: 1, model: 'qwen3-coder', window: 262_144, usage: { inputTokens: 100, outputTokens: 20 } },
    ]);
  });

  it('begins with the result of its last compression', () => {
    const compressed = [
      ...session,
      record('k', 'a2', 'system', {
        subtype: 'chat_compression',
        systemPayload: {
          compressedHistory: [
            { role: 'user', parts: [{ text: 'SUMMARY' }] },
            { role: 'model', parts: [{ text: 'Got it.' }] },
          ],
        },
      }),
      record('u2', 'k', 'user', said('user', { text: 'Go on' })),
    ];
    const active = lines(compressed);
    expect(active.messages.map(({ content }) => content)).toEqual([
      [text('SUMMARY')],
      [text('Got it.')],
      [text('Go on')],
    ]);
    expect(active.notes[0]).toHaveProperty(
      'omission',
      expect.stringContaining('before the last compaction: 4 messages'),
    );
    expect(lines(compressed, { history: 'all' }).messages).toHaveLength(5);
  });
});

describe('a Continue session', () => {
  const item = (message: Fields, fields: Fields = {}): Fields => ({ message, contextItems: [], ...fields });
  const session = (history: readonly Fields[]): Fields => ({
    sessionId: 'k1',
    title: 'New Session',
    workspaceDirectory: 'file:///work',
    history,
  });
  const call = (id: string): Fields => ({
    id,
    type: 'function',
    function: { name: 'read_file', arguments: '{"filepath":"a.ts"}' },
  });
  const state = (id: string, status: string, content: string): Fields => ({
    toolCallId: id,
    toolCall: call(id),
    status,
    output: [{ name: 'a.ts', description: '', content }],
  });
  const history = [
    item({ role: 'user', content: 'Read a.ts' }, { contextItems: [{ name: 'b.ts', content: 'const b = 2;' }] }),
    item({ role: 'thinking', content: 'Look first', signature: 'sig' }),
    item(
      { role: 'assistant', content: 'I look.', toolCalls: [call('c1'), call('c2')] },
      { toolCallStates: [state('c1', 'done', 'const a = 1;'), state('c2', 'errored', 'no such file')] },
    ),
    item({ role: 'assistant', content: 'It sets a.' }),
  ];

  it('has context before a person’s words, and results from the recorded states of calls', () => {
    const conversation = read(session(history));
    expect(conversation).toMatchObject({ id: 'continue:k1', format: 'continue', workspace: 'file:///work' });
    expect(conversation.messages).toEqual([
      { role: 'user', content: [text('const b = 2;')], isMeta: true },
      { role: 'user', content: [text('Read a.ts')] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Look first', signature: 'sig' },
          text('I look.'),
          { type: 'tool_use', id: 'c1', name: 'read_file', input: { filepath: 'a.ts' } },
          { type: 'tool_use', id: 'c2', name: 'read_file', input: { filepath: 'a.ts' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'const a = 1;' },
          { type: 'tool_result', tool_use_id: 'c2', content: 'no such file', is_error: true },
        ],
      },
      { role: 'assistant', content: [text('It sets a.')] },
    ]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it("takes results from separate messages if a call's state has none", () => {
    const { messages } = read(
      session([
        item({ role: 'user', content: 'Read' }),
        item({ role: 'assistant', content: '', toolCalls: [call('c1'), call('c2')] }),
        item({ role: 'tool', content: 'one', toolCallId: 'c1' }),
        item({ role: 'tool', content: 'two', toolCallId: 'c2' }),
      ]),
    );
    expect(messages).toHaveLength(3);
    expect(checkConversation(messages)).toEqual([]);
  });

  it('begins with its last summary', () => {
    const summarized = session([
      item({ role: 'system', content: 'You are.' }),
      ...history.slice(0, 3),
      item({ role: 'assistant', content: 'It sets a.' }, { conversationSummary: 'SUMMARY' }),
      item({ role: 'user', content: 'Go on' }),
    ]);
    expect(read(summarized).messages).toEqual([
      { role: 'system', content: [text('You are.')] },
      { role: 'user', content: [text('SUMMARY')], isSummary: true },
      { role: 'user', content: [text('Go on')] },
    ]);
  });
});

describe('OpenHands V1 events', () => {
  const action = (id: string, call: string, reply: string): Fields => ({
    id,
    kind: 'ActionEvent',
    source: 'agent',
    thought: [text(`thought ${id}`)],
    reasoning_content: null,
    tool_name: 'terminal',
    tool_call_id: call,
    tool_call: { id: call, name: 'terminal', arguments: '{"command":"ls"}', origin: 'completion' },
    llm_response_id: reply,
    action: { kind: 'TerminalAction', command: 'ls' },
  });
  const observation = (id: string, call: string): Fields => ({
    id,
    kind: 'ObservationEvent',
    source: 'environment',
    tool_name: 'terminal',
    tool_call_id: call,
    observation: { kind: 'TerminalObservation', content: [text(`result ${call}`)], is_error: false },
  });
  const events = [
    { id: '1', kind: 'SystemPromptEvent', source: 'agent', system_prompt: text('You are.'), tools: [] },
    { id: '2', kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: [text('List')] } },
    action('3', 'c1', 'r1'),
    observation('4', 'c1'),
    action('5', 'c2', 'r1'),
    {
      id: '6',
      kind: 'AgentErrorEvent',
      source: 'agent',
      tool_name: 'terminal',
      tool_call_id: 'c2',
      error: 'no such tool',
    },
    { id: '7', kind: 'PauseEvent', source: 'user' },
    { id: '8', kind: 'LaterEvent', source: 'agent' },
    { id: '9', kind: 'MessageEvent', source: 'agent', llm_message: { role: 'assistant', content: [text('Done')] } },
  ];

  it('become one message per reply, followed by its results', () => {
    const { format, messages, notes } = read(events);
    expect(format).toBe('trajectory');
    expect(messages).toEqual([
      { role: 'system', content: [text('You are.')] },
      { role: 'user', content: [text('List')] },
      {
        role: 'assistant',
        content: [
          text('thought 3'),
          { type: 'tool_use', id: 'c1', name: 'terminal', input: { command: 'ls' } },
          text('thought 5'),
          { type: 'tool_use', id: 'c2', name: 'terminal', input: { command: 'ls' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [text('result c1')] },
          { type: 'tool_result', tool_use_id: 'c2', content: 'no such tool', is_error: true },
        ],
      },
      { role: 'assistant', content: [text('Done')] },
    ]);
    expect(notes[0]).toMatch(/does not know\): 1 LaterEvent\.$/);
    expect(notes[1]).toBe('Left out because it is not sent to the model: 1 PauseEvent.');
  });

  it("are read alike from a page of the server's answer and from a file with one event per line", () => {
    const { messages } = read(events);
    expect(read({ items: events, next_page_id: null }).messages).toEqual(messages);
    expect(lines(events)).toMatchObject({ format: 'trajectory', messages });
  });

  it("are read as the agent's condensed history if the agent condensed it", () => {
    const condensed = [
      ...events,
      {
        id: '10',
        kind: 'Condensation',
        source: 'environment',
        forgotten_event_ids: ['3', '4', '5', '6'],
        summary: 'SUMMARY',
        summary_offset: 2,
      },
    ];
    expect(read(condensed).messages.map(({ content }) => content)).toEqual([
      [text('You are.')],
      [text('List')],
      [text('SUMMARY')],
      [text('Done')],
    ]);
    expect(read(condensed, { history: 'all' }).messages).toHaveLength(5);
  });
});

const IMAGE = 'data:image/png;base64,AAAA';

describe('a Responses API request', () => {
  it('is read with its calls, and keeps its other fields', () => {
    const { format, messages, request } = read({
      model: 'gpt-5.6',
      instructions: 'You are.',
      input: [
        { role: 'user', content: 'List' },
        { type: 'function_call', name: 'shell', arguments: '{"cmd":"ls"}', call_id: 'c1' },
        { type: 'function_call_output', call_id: 'c1', output: 'a' },
      ],
      tools: [{ type: 'function', name: 'shell', parameters: { type: 'object' } }],
    });
    expect(format).toBe('responses');
    expect(messages).toMatchObject([
      { role: 'user', content: [text('List')] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a' }] },
    ]);
    expect(request).toMatchObject({ system: 'You are.', model: 'gpt-5.6', tools: [{ name: 'shell' }] });
  });

  it.each<[string, Fields, Fields, string]>([
    ['function', { name: 'f', arguments: '{}' }, { output: 'OUT' }, 'OUT'],
    ['custom_tool', { name: 'f', input: 'x' }, { output: [{ type: 'input_text', text: 'OUT' }] }, 'OUT'],
    ['local_shell', { action: { command: ['ls'] } }, { output: 'OUT' }, 'OUT'],
    [
      'shell',
      { action: { commands: ['ls'] } },
      { output: [{ stdout: 'OUT', stderr: 'ERR', outcome: {} }] },
      'OUT\\nERR',
    ],
    ['apply_patch', { operation: { path: 'a' } }, { status: 'completed', output: 'OUT' }, 'OUT'],
    [
      'computer',
      { action: { type: 'click' } },
      { output: { type: 'computer_screenshot', image_url: IMAGE } },
      '"image"',
    ],
    ['of_tomorrow', { action: {} }, { output: 'OUT' }, 'OUT'],
  ])('is read with the output of a client-side %s call in a user message', (kind, made, given, shown) => {
    const { messages } = read({
      model: 'gpt-6',
      input: [
        { role: 'user', content: 'Go' },
        { type: `${kind}_call`, call_id: 'c1', ...made },
        { type: `${kind}_call_output`, call_id: 'c1', ...given },
      ],
    });
    expect(checkConversation(messages)).toEqual([]);
    expect(messages).toMatchObject([{}, { role: 'assistant', content: [{ type: 'tool_use' }] }, { role: 'user' }]);
    expect(JSON.stringify(messages[2]?.content)).toContain(shown);
    expect(JSON.stringify(messages[2]?.content)).not.toContain('codex_item');
  });

  it('keeps calls of tools that OpenAI ran unchanged in the answer', () => {
    const ran = ['web_search', 'file_search', 'code_interpreter', 'image_generation', 'mcp'].map((kind) => ({
      type: `${kind}_call`,
      id: kind,
    }));
    const { messages } = read({ model: 'gpt-6', input: [{ role: 'user', content: 'Go' }, ...ran] });
    expect(messages[1]).toEqual({ role: 'assistant', content: ran.map((item) => ({ type: 'codex_item', item })) });
  });

  it('may be a response that contains only the answer', () => {
    const output = [
      { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'x' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Look' }] },
      { type: 'function_call', name: 'shell', arguments: '{"cmd":"ls"}', call_id: 'c1' },
    ];
    const { format, messages } = read({ object: 'response', id: 'resp_1', model: 'gpt-5.6', output });
    expect(format).toBe('responses');
    expect(messages).toMatchObject([
      { role: 'assistant', content: [{}, text('Look'), { type: 'tool_use', id: 'c1' }] },
    ]);
  });

  it('may have a text as its input', () => {
    expect(read({ model: 'gpt-5.6', input: 'Hello' }).messages).toEqual([{ role: 'user', content: [text('Hello')] }]);
  });
});

it('an export from Claude Code on the web is read like a transcript', () => {
  const { format, messages } = read({
    loglines: [
      { type: 'user', message: { role: 'user', content: 'Add a test' }, timestamp: '2026-01-01T00:00:00Z' },
      { type: 'assistant', message: { role: 'assistant', content: [text('Done')] }, timestamp: '2026-01-01T00:00:01Z' },
    ],
  });
  expect(format).toBe('claude-code');
  expect(messages).toHaveLength(2);
});

describe('a conversation of an unsupported agent', () => {
  it.each([
    ['Windsurf', '/home/me/.codeium/windsurf/cascade/0a1b.pb'],
    ['Windsurf', 'C:\\Users\\me\\.codeium\\windsurf\\cascade\\0a1b.pb'],
    ['Antigravity CLI', '/home/me/.gemini/antigravity/conversations/0a1b.pb'],
  ])("of %s is rejected with the agent's name even if its file is binary", (name, path) => {
    const bytes = Uint8Array.from([8, 0, 250, 17, 0, 3, 255]);
    expect(() => readConversation(bytes, { path })).toThrow(`found a conversation of ${name}, which is not read`);
    expect(() => readConversation(bytes, { path: '/home/me/0a1b.pb' })).toThrow('found binary data');
  });

  it.each<[string, () => unknown]>([
    [
      'Kimi Code',
      () =>
        lines([
          { type: 'metadata', protocol_version: '1.4' },
          { type: 'turn.prompt', input: [] },
        ]),
    ],
    [
      'goose',
      () =>
        lines([
          { working_dir: '/w', description: 'x', message_count: 2 },
          { role: 'user', content: [] },
        ]),
    ],
    ['Antigravity CLI', () => lines([{ step_index: 0, source: 'user', type: 'x', status: 'done' }, { step_index: 1 }])],
    [
      'iFlow',
      () =>
        lines([
          { type: 'user', uuid: 'u', sessionId: 'session-5de701fc-7454-4858-a249-95cac4fd3b51', message: {} },
          { type: 'x' },
        ]),
    ],
    ['Amp', () => read({ v: 3, id: 'T-1', messages: [{ role: 'user', content: [text('x')] }] })],
    ['Zed', () => read({ version: '0.3.0', initial_project_snapshot: null, messages: [] })],
    ['aider', () => readConversation('\n# aider chat started at 2026-01-01 10:00:00\n\n> x\n', { path: '/x/y' })],
  ])("of %s is rejected with the agent's name", (name, reading) => {
    expect(reading).toThrow(`found a conversation of ${name}, which is not read; expected`);
  });
});
