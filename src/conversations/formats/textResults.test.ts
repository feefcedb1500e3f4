import { describe, expect, it } from 'vitest';
import { checkConversation } from '../../core/messages/firewall';
import { listToolExchanges } from '../../core/messages/exchanges';
import { readConversation } from '../read';

const text = (words: string) => ({ type: 'text', text: words });
const call = (id: string, name: string) => ({
  type: 'tool_use',
  id,
  name,
  input: { path: 'a.ts' },
  call_id: `c_${id}`,
});
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const details = text('<environment_details>\n# Time\n</environment_details>');

const history = (answer: readonly unknown[], fields = {}) => [
  { role: 'user', content: [text('<task>\nAdd a test\n</task>'), details], ...fields },
  { role: 'assistant', content: [text('I look.'), call('t1', 'read_file'), call('t2', 'read_file')], ...fields },
  { role: 'user', content: answer, ...fields },
];
const read = (value: unknown) => readConversation(JSON.stringify(value), { path: '/x/api_conversation_history.json' });

describe('a Cline history whose results are text', () => {
  const answer = [
    text("[read_file for 'a.ts'] Result:"),
    text('const a = 1;'),
    image,
    text("[read_file for 'b.ts'] Result:\nconst b = 2;"),
    text('Use vitest, please'),
    details,
  ];

  it.each([
    ['with times', { ts: 1, modelInfo: { modelId: 'm' } }],
    ['without', {}],
  ])('has a result for each call, in order, followed by everything else (%s)', (_, fields) => {
    const { format, messages, notes } = read(history(answer, fields));
    expect(format).toBe('roo');
    expect(notes).toEqual([]);
    expect(messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 't1', content: answer.slice(0, 3) },
      { type: 'tool_result', tool_use_id: 't2', content: [answer[3]] },
      answer[4],
      answer[5],
    ]);
    expect(checkConversation(messages)).toEqual([]);
    expect(listToolExchanges(messages)).toHaveLength(2);
  });

  it('keeps text without a call and interrupted calls unchanged', () => {
    const { messages, notes } = read(history([text('[list_files for a] Result:'), text('x'), details], { ts: 1 }));
    expect(messages[2]?.content).toHaveLength(3);
    expect(notes).toEqual(['2 tool calls without a result (first: message 2); left as it is.']);
  });

  it("does not treat the next header or the agent's own text as output", () => {
    const both = [text("[read_file for 'a.ts'] Result:"), text("[read_file for 'b.ts'] Result:"), details];
    expect(read(history(both, { ts: 1 })).messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 't1', content: [both[0]] },
      { type: 'tool_result', tool_use_id: 't2', content: [both[1]] },
      details,
    ]);
  });
});
