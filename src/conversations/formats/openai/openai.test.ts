import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkConversation } from '../../../core/messages/firewall';
import type { ApiMessage } from '../../../core/messages/types';
import { convertFromOpenAI, convertToOpenAI } from './openai';
import { type OpenAIRecord, parseArguments } from './arguments';
import { readConversation } from '../../read';

const call = (id: string, args: string, name = 'read_file') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

const conversation: OpenAIRecord[] = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', name: 'ada', content: 'Fix the test.' },
  { role: 'assistant', content: null, tool_calls: [call('c1', '{ "path": "a.ts" }'), call('c2', '{"path":"b.ts"}')] },
  { role: 'tool', tool_call_id: 'c1', content: 'one' },
  { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
  { role: 'assistant', content: 'Both read.', refusal: null },
];

describe('reading OpenAI messages', () => {
  it('converts calls and results to blocks, with parallel results in one message', () => {
    const messages = convertFromOpenAI(conversation);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user', 'assistant']);
    expect(messages[2]?.content).toEqual([
      { type: 'tool_use', id: 'c1', name: 'read_file', input: { path: 'a.ts' }, rawArguments: '{ "path": "a.ts" }' },
      { type: 'tool_use', id: 'c2', name: 'read_file', input: { path: 'b.ts' }, rawArguments: '{"path":"b.ts"}' },
    ]);
    expect(messages[3]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: 'one' },
      { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'two' }] },
    ]);
    expect(checkConversation(messages.slice(1))).toEqual([]);
  });

  it('leaves a plain message unchanged', () => {
    expect(convertFromOpenAI([{ role: 'user', content: 'hi' }])).toEqual([{ role: 'user', content: 'hi' }]);
  });

  it('keeps images as images', () => {
    const url = { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } };
    const data = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const [message] = convertFromOpenAI([{ role: 'user', content: [url, data] }]);
    expect(message?.content).toMatchObject([
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ]);
  });

  it.each([
    ['', {}],
    ['  ', {}],
    ['{"path": "a', { invalidArguments: '{"path": "a' }],
    ['[1]', { invalidArguments: '[1]' }],
    ['null', { invalidArguments: 'null' }],
    ['{"a":'.repeat(600) + '1' + '}'.repeat(600), { invalidArguments: expect.any(String) as unknown }],
  ])('accepts arguments that are not an object: %j', (text, input) => {
    expect(parseArguments(text)).toEqual(input);
  });
});

describe('converting back to OpenAI messages', () => {
  it('keeps arguments verbatim unless the input was edited', () => {
    const messages = convertFromOpenAI(conversation);
    expect(convertToOpenAI(messages)).toEqual(conversation);
    const edited = messages.map((message): ApiMessage =>
      Array.isArray(message.content)
        ? {
            ...message,
            content: message.content.map((block) => (block.id === 'c1' ? { ...block, input: { path: 'x' } } : block)),
          }
        : message,
    );
    expect(convertToOpenAI(edited)[2]).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [call('c1', '{"path":"x"}'), call('c2', '{"path":"b.ts"}')],
    });
  });

  it.each([
    ['an element more', { a: [1, 2] }],
    ['another key', { b: [1] }],
    ['a key more', { a: [1], b: 1 }],
    ['another kind', { a: { 0: 1 } }],
    ['no object', 'text'],
  ])('detects a changed input: %s', (_, input) => {
    const block = { type: 'tool_use', id: 'c', name: 'n', input, rawArguments: '{"a": [1]}' };
    const [message] = convertToOpenAI([{ role: 'assistant', content: [block] }]);
    expect(message).toMatchObject({ tool_calls: [call('c', JSON.stringify(input), 'n')] });
  });

  it('puts edited results, texts and custom calls back in their places', () => {
    const custom = { id: 'c9', type: 'custom', custom: { name: 'patch', input: 'raw text' } };
    const messages = convertFromOpenAI([
      { role: 'assistant', content: 'see', tool_calls: [custom], audio: null },
      { role: 'tool', tool_call_id: 'c9', content: null, name: 'patch' },
      { role: 'tool', tool_call_id: 'c9' },
    ]);
    const [first, second] = messages as [ApiMessage, ApiMessage];
    const blocks = first.content as readonly Record<string, unknown>[];
    expect(
      convertToOpenAI([
        { ...first, content: [blocks[0]!, { ...blocks[1]!, input: { input: 'a', more: 1 } }] as never },
      ]),
    ).toEqual([
      {
        role: 'assistant',
        content: 'see',
        tool_calls: [{ ...custom, custom: { name: 'patch', input: '{"input":"a","more":1}' } }],
        audio: null,
      },
    ]);
    const results = (second.content as readonly Record<string, unknown>[]).map((block) => ({
      ...block,
      content: 'short',
    }));
    expect(convertToOpenAI([{ ...second, content: results as never }])).toEqual([
      { role: 'tool', tool_call_id: 'c9', content: 'short', name: 'patch' },
      { role: 'tool', tool_call_id: 'c9', content: 'short' },
    ]);
    expect(
      convertToOpenAI([
        {
          ...first,
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ]),
    ).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        tool_calls: [],
        audio: null,
      },
    ]);
  });

  it('accepts messages that did not come from OpenAI originally', () => {
    expect(
      convertToOpenAI([
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
            { type: 'image', source: 'file' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'reading' },
            { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'a' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1' },
            { type: 'text', text: 'and now?' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'image', source: { type: 'base64', data: 1 } },
            { type: 'image', source: { type: 'url', url: 'u' } },
          ],
        },
      ]),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
          { type: 'image', source: 'file' },
        ],
      },
      { role: 'assistant', content: 'reading', tool_calls: [call('t1', '{"file_path":"a"}', 'Read')] },
      { role: 'tool', tool_call_id: 't1', content: '' },
      { role: 'user', content: [{ type: 'text', text: 'and now?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'image', source: { type: 'base64', data: 1 } },
          { type: 'image_url', image_url: { url: 'u' } },
        ],
      },
    ]);
  });
});

describe('converting OpenAI messages to ours and back', () => {
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
  const extra = fc.dictionary(
    fc.oneof(
      fc.constantFrom('name', 'refusal', 'audio', 'openai', 'type', '__proto__', 'constructor', 'input', '1'),
      fc.string(),
    ),
    json,
    { maxKeys: 2, noNullPrototype: true },
  );
  const mostly = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 6, arbitrary }, { weight: 1, arbitrary: json });
  /**
   * Creates objects with their fields in any order and unknown ones among them. Every key is the
   * object's own, even `__proto__`.
   */
  const withExtra = (fields: Record<string, fc.Arbitrary<unknown>>, needed: readonly string[]) =>
    fc
      .tuple(fc.record(fields, { requiredKeys: [...needed], noNullPrototype: true }), extra, fc.nat({ max: 5 }))
      .map(([own, more, turn]) => {
        const entries = [
          ...Object.entries(own),
          ...Object.entries(more).filter(([key]) => !(key in own) || key === '__proto__'),
        ];
        return Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)]);
      });
  const part = fc.oneof(
    withExtra({ type: fc.constant('text'), text: mostly(fc.string()) }, ['type', 'text']),
    withExtra(
      {
        type: fc.constant('image_url'),
        image_url: mostly(
          withExtra({ url: mostly(fc.constantFrom('http://x/y.png', 'data:image/png;base64,AAAA', 'data:,x')) }, [
            'url',
          ]),
        ),
      },
      ['type', 'image_url'],
    ),
    withExtra(
      {
        type: fc.constantFrom(
          'tool_use',
          'tool_result',
          'image',
          'thinking',
          'refusal',
          'openai_part',
          'openai_call',
          'openai_message',
        ),
      },
      ['type'],
    ),
    json,
  );
  const content = mostly(fc.oneof(fc.string(), fc.constant(null), fc.constant(''), fc.array(part, { maxLength: 3 })));
  const args = fc.oneof(
    json.map((value) => JSON.stringify(value)),
    fc.constantFrom('', '{', '{"a": 1}', '{"__proto__": {"x": 1}}', '{"a":1,"a":2}', '{"n":-0}', '{"n":1e400}'),
    fc.string(),
  );
  const callOf = fc.oneof(
    withExtra(
      {
        id: mostly(fc.string()),
        type: fc.constant('function'),
        function: mostly(withExtra({ name: mostly(fc.string()), arguments: mostly(args) }, ['name', 'arguments'])),
      },
      ['id', 'function'],
    ),
    withExtra(
      {
        id: fc.string(),
        type: fc.constant('custom'),
        custom: mostly(withExtra({ name: fc.string(), input: mostly(fc.string()) }, ['name', 'input'])),
      },
      ['id', 'type', 'custom'],
    ),
    json,
  );
  const message = withExtra(
    {
      role: fc.oneof(
        {
          weight: 9,
          arbitrary: fc.constantFrom(
            'system',
            'developer',
            'user',
            'assistant',
            'assistant',
            'tool',
            'tool',
            'function',
          ),
        },
        fc.string(),
      ),
      content,
      tool_calls: mostly(fc.array(callOf, { maxLength: 3 })),
      tool_call_id: mostly(fc.string()),
    },
    ['role'],
  );
  const plain = withExtra({ role: fc.constantFrom('user', 'assistant', 'system'), content: fc.string() }, [
    'role',
    'content',
  ]);

  it('returns the same text for every input', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(message, plain, json as fc.Arbitrary<OpenAIRecord>), { maxLength: 6 }), (input) => {
        // Converts the values to what a JSON file would contain.
        const messages = JSON.parse(JSON.stringify(input)) as OpenAIRecord[];
        const before = JSON.stringify(messages);
        const converted = convertFromOpenAI(messages);
        expect(JSON.stringify(convertToOpenAI(converted))).toBe(before);
        expect(JSON.stringify(messages)).toBe(before);
        // The result is the same if the converted messages pass through a worker or a file.
        expect(JSON.stringify(convertToOpenAI(JSON.parse(JSON.stringify(converted)) as ApiMessage[]))).toBe(before);
      }),
    );
  });
});

describe('reading an OpenAI conversation', () => {
  const read = (value: unknown) => readConversation(JSON.stringify(value), { name: 'body' });

  it('accepts a list or a request body', () => {
    expect(read(conversation)).toMatchObject({
      format: 'openai',
      title: 'Fix the test.',
      id: expect.stringMatching(/^text:/) as unknown,
    });
    const body = read({ model: 'gpt-5', messages: conversation, tools: [] });
    expect(body.request).toEqual({ model: 'gpt-5', tools: [] });
    expect(read({ messages: conversation })).not.toHaveProperty('request');
  });

  it.each([
    [[1, ...conversation], 'messages[0]'],
    [[{ content: 'x' }, ...conversation], 'messages[0].role'],
    [[{ role: 'user', content: 5 }, ...conversation], 'messages[0].content'],
    [[{ role: 'assistant', tool_calls: 'x' }], 'messages[0].tool_calls'],
    [[{ role: 'tool', content: 'x' }], 'messages[0].tool_call_id'],
    [[{ role: 'tool', tool_call_id: 'c', x: JSON.parse('['.repeat(900) + ']'.repeat(900)) as unknown }], 'messages[0]'],
  ])('names the invalid message and field', (value, field) => {
    expect(() => read(value)).toThrow(`in "${field}"`);
  });
});
