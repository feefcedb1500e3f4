import { describe, expect, it } from 'vitest';
import { ConversationReadError } from '../readError';
import { readTrajectory, asTrajectoryDocument } from './trajectory';

const read = (value: unknown) => {
  const document = asTrajectoryDocument(value);
  if (!document) throw new Error('no trajectory');
  return readTrajectory(document, { name: 'the run' }, {}, JSON.stringify(value));
};
const text = (words: string) => ({ type: 'text', text: words });

it.each([
  ['steps of no schema', { steps: [] }],
  ['a schema without steps', { schema_version: 'ATIF-v1.6' }],
  ['a history alone', { history: [{ role: 'user', content: 'a' }] }],
  ['events of somebody else', { events: [{ source: 'user', text: 'a' }] }],
  ['no events', []],
  ['a text', 'ATIF'],
])('a recorded agent run (trajectory) is not recognized in %s', (_, value) => {
  expect(asTrajectoryDocument(value)).toBeUndefined();
});

describe('an ATIF trajectory', () => {
  const atif = (...steps: unknown[]) => ({ schema_version: 'ATIF-v1.6', steps });

  it('has text, thinking, and calls with their results, and results without a call as text', () => {
    const call = { tool_call_id: 'c', function_name: 'ls', arguments: { path: '/' } };
    const { id, messages } = read({
      ...atif(
        { source: 'system', message: 'rules' },
        { source: 'user', message: [text('look'), { type: 'image', source: { path: 'a.png' } }, 'plain'] },
        {
          source: 'agent',
          message: ' ',
          reasoning_content: 'hm',
          tool_calls: [call, { tool_call_id: 'd', function_name: 'pwd' }],
          observation: {
            results: [
              { source_call_id: 'c', content: 'a.ts' },
              { source_call_id: 'd', content: [text('/p')] },
              { content: 'by the way' },
            ],
          },
        },
        { source: 'agent', message: 'done' },
      ),
      session_id: 's1',
    });
    expect(id).toBe('atif:s1');
    expect(messages).toEqual([
      { role: 'system', content: [text('rules')] },
      {
        role: 'user',
        content: [
          text('look'),
          { type: 'trajectory_part', part: { type: 'image', source: { path: 'a.png' } } },
          text('plain'),
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'tool_use', id: 'c', name: 'ls', input: { path: '/' } },
          { type: 'tool_use', id: 'd', name: 'pwd', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c', content: 'a.ts' },
          { type: 'tool_result', tool_use_id: 'd', content: [text('/p')] },
          text('by the way'),
        ],
      },
      { role: 'assistant', content: [text('done')] },
    ]);
  });

  it.each([
    ['has no steps', atif()],
    ['says nothing', atif({ source: 'user', message: ' ' }, 'step')],
    ['nests without end', atif(JSON.parse('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)))],
  ])('is rejected if it %s', (_, value) => {
    expect(() => readTrajectory(value, { name: 'the run' }, {}, '')).toThrow(ConversationReadError);
  });
});

it('calls and results in a SWE-agent history are paired by its lists of IDs', () => {
  const call = { id: 'c', type: 'function', function: { name: 'ls', arguments: '{"path":"/"}' } };
  const { messages, notes } = read({
    trajectory: [],
    history: [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: 'a.ts', tool_call_ids: ['c'] },
      { role: 'assistant', content: 'done', tool_calls: [] },
    ],
  });
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect(messages[1]?.content).toMatchObject([{ type: 'tool_use', id: 'c', name: 'ls', input: { path: '/' } }]);
  expect(messages[2]?.content).toMatchObject([{ type: 'tool_result', tool_use_id: 'c', content: 'a.ts' }]);
  expect(notes).toEqual([]);
});

describe('an OpenHands trajectory', () => {
  const made = (id: string, args: string) => ({
    tool_call_id: id,
    function_name: 'execute_bash',
    model_response: {
      choices: [{ message: { tool_calls: [{ id, function: { name: 'execute_bash', arguments: args } }] } }],
    },
  });
  const events = [
    { id: 0, source: 'agent', action: 'system', args: { content: 'rules' } },
    { id: 1, source: 'user', action: 'message', args: { content: 'look' } },
    { id: 2, source: 'agent', action: 'recall', args: { query: 'x' } },
    {
      id: 3,
      source: 'agent',
      action: 'run',
      args: { thought: 'hm', command: 'ls' },
      tool_call_metadata: made('c', '{"command":"ls","is_input":"false"}'),
    },
    { id: 4, source: 'agent', action: 'read', args: { path: 'a.ts', thought: '' } },
    { id: 5, source: 'agent', observation: 'run', cause: 3, content: 'a.ts' },
    { id: 6, source: 'agent', observation: 'error', cause: 4, content: 'no such file' },
    { id: 7, source: 'environment', observation: 'agent_state_changed', content: '' },
    { id: 8, source: 'environment', observation: null },
    { id: 9, source: 'agent', action: 'message', message: 'done' },
  ];

  it.each([
    ['a bare list', events],
    ['events in a document', { events }],
    ['a history in a document', { history: events }],
  ])('has its actions as calls and its observations as their results: %s', (_, value) => {
    const { messages, notes } = read(value);
    expect(messages).toEqual([
      { role: 'system', content: [text('rules')] },
      { role: 'user', content: [text('look')] },
      {
        role: 'assistant',
        content: [
          text('hm'),
          // The file contains this call as the model made it.
          { type: 'tool_use', id: 'c', name: 'execute_bash', input: { command: 'ls', is_input: 'false' } },
        ],
      },
      // The file contains only OpenHands' interpretation of this call.
      { role: 'assistant', content: [{ type: 'tool_use', id: 'event_4', name: 'read', input: { path: 'a.ts' } }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c', content: 'a.ts' },
          { type: 'tool_result', tool_use_id: 'event_4', content: 'no such file', is_error: true },
        ],
      },
      { role: 'assistant', content: [text('done')] },
    ]);
    expect(notes[0]).toContain('1 unnamed');
    expect(notes[1]).toBe('Left out because it is not sent to the model: 1 agent_state_changed, 1 recall.');
  });

  it.each([
    ['no metadata of the answer', { tool_call_id: 'c' }],
    ['an answer without choices', { tool_call_id: 'c', model_response: { choices: [] } }],
    ['an answer with another call', { ...made('d', '{"x":1}'), tool_call_id: 'c', function_name: undefined }],
  ])("uses the action's own arguments for a call if there is %s", (_, metadata) => {
    const { messages } = read([
      { id: 1, source: 'agent', action: 'run', args: { command: 'ls' }, tool_call_metadata: metadata },
    ]);
    expect(messages).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'run', input: { command: 'ls' } }] },
    ]);
  });
});
