import { describe, expect, it } from 'vitest';
import { exportTo, body, checkWithAnthropicServer, user, assistant, text, call, result, messages } from './testing';

describe('the Anthropic export', () => {
  it('contains a complete conversation without losses', () => {
    const request = {
      system: [{ type: 'text', text: 'Be careful.' }],
      tools: [{ name: 'Read', description: 'Reads', input_schema: { type: 'object' } }],
    };
    const { text: output, notes } = exportTo({ messages, request }, 'anthropic');
    expect(JSON.parse(output)).toEqual({ system: 'Be careful.', tools: request.tools, messages });
    expect(notes).toEqual([]);
  });

  it('lists in its notes what could not be exported', () => {
    const { notes } = exportTo(
      {
        messages: [
          assistant(
            { type: 'thinking', thinking: 'unsigned' },
            text('Hi'),
            { type: 'openai_reasoning', item: {} },
            call('c1'),
          ),
          user(
            { type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'A' } },
            { type: 'document', source: {} },
          ),
          assistant({ type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }, text('x')),
          user(result('gone', 'orphan'), text('y')),
          assistant(text('z'), { type: 'thinking', thinking: 'a', signature: 's' }),
        ],
      },
      'anthropic',
    );
    expect(notes).toEqual([
      '1 thought: left out because Anthropic accepts only those that it signed.',
      '1 block of type “openai_reasoning”: left out because Anthropic has no equivalent.',
      '1 image: left out because Anthropic does not accept this type or address.',
      '1 document: left out because Anthropic does not accept this type.',
      '1 result: without its call, exported as text.',
      '1 call: without a result, answered with “No result was recorded.”.',
      '1 first message: added because APIs require a conversation to begin with the user.',
      '1 block of type “server_tool_use”: left out because its counterpart is missing.',
      '1 thought: left out because nothing follows.',
      '1 tool: declared as taking any parameters, since theirs were not recorded.',
    ]);
  });

  it('moves a late result to its call and makes repeated IDs unique', () => {
    const late = body(
      [
        user(text('a')),
        assistant(call('c:1'), call('c:1')),
        user(text('wait')),
        assistant(text('b')),
        user(result('c:1', 'first'), result('c:1', 'second')),
      ],
      'anthropic',
    );
    expect(late['messages']).toEqual([
      user(text('a')),
      assistant(call('c_1'), call('c_1_2')),
      user(result('c_1', 'first'), result('c_1_2', 'second'), text('wait')),
      assistant(text('b')),
    ]);
    expect(checkWithAnthropicServer(late)).toBeUndefined();
  });

  it('makes tool names, inputs and empty results valid for the API', () => {
    const odd = body(
      [
        user(text('a')),
        assistant(call('c1', 'text', 'mcp.server/tool'), call('c2', null), call('', {})),
        user(result('c1', ''), result('c2', [], { is_error: true }), result('', [text(' ')])),
      ],
      'anthropic',
      {
        request: {
          system: 'S',
          tools: [
            { type: 'function', function: { name: 'mcp.server/tool', parameters: { type: 'object' } } },
            7,
            { name: 'x' },
          ],
        },
      },
    );
    expect(checkWithAnthropicServer(odd)).toBeUndefined();
    expect(odd).toMatchObject({
      system: 'S',
      tools: [{ name: 'mcp_server_tool', input_schema: { type: 'object' } }, { name: 'Read' }],
      messages: [
        {},
        {
          content: [{ input: { input: 'text' }, name: 'mcp_server_tool' }, { input: { input: null } }, { id: 'call' }],
        },
        { content: [{}, { content: 'The tool failed.', is_error: true }, {}] },
      ],
    });
  });

  it('represents an empty conversation as one message', () => {
    expect(
      checkWithAnthropicServer(body([assistant({ type: 'thinking', thinking: 'x' })], 'anthropic')),
    ).toBeUndefined();
    expect(body([{ role: 'system', content: 'only this' }], 'anthropic')).toMatchObject({ system: 'only this' });
  });

  it('includes documents, and images with a URL', () => {
    const sources = [
      { type: 'image', source: { type: 'url', url: 'https://x/a.png' } },
      { type: 'document', source: { type: 'url', url: 'https://x/a.pdf' }, title: 'A' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'abc' } },
    ];
    expect(body([user(...sources)], 'anthropic')['messages']).toEqual([user(...sources)]);
    expect(
      body([user(text('a')), assistant(call('c')), user(result('c', sources))], 'anthropic')['messages'],
    ).toMatchObject([{}, {}, user(result('c', sources))]);
  });
});
