import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyHistory, validHistory } from '../../../test/generators/arbitraries';
import { anthropicFault } from '../../../test/servers/anthropicRules';
import { chatFault } from '../../../test/servers/openaiRules';
import { freshCounter } from '../../core/testingCounter';
import type { ApiMessage, Block } from '../../core/messages/types';
import { readConversation } from '../read';
import { exportConversation, type Exportable, type ExportTarget } from '.';

type Json = Readonly<Record<string, unknown>>;

const signer = { sign: (content: string) => `signed ${content.length}` };
const counter = freshCounter();

const exported = (conversation: Partial<Exportable>, target: ExportTarget) =>
  exportConversation({ title: 'A title', messages: [], ...conversation }, target, counter);
const body = (messages: readonly ApiMessage[], target: ExportTarget, more: Partial<Exportable> = {}): Json =>
  JSON.parse(exported({ messages, ...more }, target).text) as Json;
const anthropicSays = (value: Json) => anthropicFault({ model: 'm', max_tokens: 100, ...value }, signer);
const openaiSays = (value: Json) => chatFault({ model: 'm', ...value }, {});

const user = (...content: Block[]): ApiMessage => ({ role: 'user', content });
const assistant = (...content: Block[]): ApiMessage => ({ role: 'assistant', content });
const text = (words: string): Block => ({ type: 'text', text: words });
const call = (id: string, input: unknown = { path: 'a' }, name = 'Read'): Block => ({
  type: 'tool_use',
  id,
  name,
  input,
});
const result = (id: string, content: unknown, more: Json = {}): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});
const image: Block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

/** Only the server knows how it signs: the thoughts of a generated history are signed here. */
const signed = (messages: readonly ApiMessage[]): readonly ApiMessage[] =>
  messages.map((message) =>
    typeof message.content === 'string'
      ? message
      : {
          ...message,
          content: message.content.map((block) => {
            if (block.type === 'thinking' && typeof block['thinking'] === 'string') {
              return { ...block, signature: signer.sign(block['thinking']) };
            }
            return block.type === 'redacted_thinking' ? { ...block, data: `x.${signer.sign('x')}` } : block;
          }),
        },
  );

describe('whatever the history', () => {
  const history = fc.oneof(validHistory, anyHistory).map(signed);

  it('Anthropic takes its export', () => {
    fc.assert(
      fc.property(history, (messages) => {
        expect(anthropicSays(body(messages, 'anthropic'))).toBeUndefined();
      }),
      { numRuns: 400 },
    );
  });

  it('OpenAI takes its export', () => {
    fc.assert(
      fc.property(history, (messages) => {
        expect(openaiSays(body(messages, 'openai'))).toBeUndefined();
      }),
      { numRuns: 400 },
    );
  });

  it('an export that was read again exports to itself', () => {
    fc.assert(
      fc.property(history, (messages) => {
        const first = exported({ messages }, 'anthropic').text;
        const again = readConversation(first, { name: 'export' });
        expect(exported(again, 'anthropic').text).toBe(first);
      }),
      { numRuns: 200 },
    );
  });

  it('Markdown and hand-over have a text and no more than its notes say', () => {
    fc.assert(
      fc.property(history, fc.constantFrom('markdown' as const, 'handover' as const), (messages, target) => {
        const { text: told, notes } = exported({ messages }, target);
        expect(told.endsWith('\n')).toBe(true);
        expect(notes.every((note) => note.endsWith('.'))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

const messages = [
  user(text('Fix it'), image),
  assistant({ type: 'thinking', thinking: 'hm', signature: signer.sign('hm') }, text('I look.'), call('c1')),
  user(result('c1', [text('line'), image])),
  assistant(text('Done.')),
];

describe('Anthropic', () => {
  it('a whole conversation goes along whole', () => {
    const request = {
      system: [{ type: 'text', text: 'Be careful.' }],
      tools: [{ name: 'Read', description: 'Reads', input_schema: { type: 'object' } }],
    };
    const { text: told, notes } = exported({ messages, request }, 'anthropic');
    expect(JSON.parse(told)).toEqual({ system: 'Be careful.', tools: request.tools, messages });
    expect(notes).toEqual([]);
  });

  it('says what could not go along', () => {
    const { notes } = exported(
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
      '1 thought: left out, Anthropic takes only those that it signed.',
      '1 block of type “openai_reasoning”: left out, Anthropic has no form for it.',
      '1 image: left out, its kind or its address is none that Anthropic takes.',
      '1 document: left out, its kind is none that Anthropic takes.',
      '1 result: without its call, told as text.',
      '1 call: without a result, answered with “No result was recorded.”.',
      '1 first message: put in, because APIs want a conversation to begin with the user.',
      '1 block of type “server_tool_use”: left out, its counterpart is missing.',
      '1 thought: left out, nothing follows it.',
      '1 tool: declared as taking any parameters, since theirs were not recorded.',
    ]);
  });

  it('a result that came late goes back to its call, ids that repeat are told apart', () => {
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
    expect(anthropicSays(late)).toBeUndefined();
  });

  it('names, inputs and empty results take a form that the API takes', () => {
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
    expect(anthropicSays(odd)).toBeUndefined();
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

  it('of nothing there is still a message', () => {
    expect(anthropicSays(body([assistant({ type: 'thinking', thinking: 'x' })], 'anthropic'))).toBeUndefined();
    expect(body([{ role: 'system', content: 'only this' }], 'anthropic')).toMatchObject({ system: 'only this' });
  });

  it('documents and images by address go along', () => {
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

describe('OpenAI', () => {
  it('has the system prompt first, results of their own, their images behind them, raw arguments', () => {
    const raw = [
      messages[0]!,
      assistant(text('I look.'), { ...call('c1'), rawArguments: '{ "path": "a" }' }),
      messages[2]!,
      messages[3]!,
    ];
    const { text: told, notes } = exported({ messages: raw, request: { system: 'Be careful.' } }, 'openai');
    const imagePart = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    expect(JSON.parse(told)).toMatchObject({
      messages: [
        { role: 'system', content: 'Be careful.' },
        { role: 'user', content: [text('Fix it'), imagePart] },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'Read', arguments: '{ "path": "a" }' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'line\n[image]' },
        { role: 'user', content: [text('Images of the results above:'), imagePart] },
        { role: 'assistant', content: 'Done.' },
      ],
      tools: [{ type: 'function', function: { name: 'Read' } }],
    });
    expect(notes).toEqual(['1 tool: declared as taking any parameters, since theirs were not recorded.']);
  });

  it('says what could not go along', () => {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'AA' };
    const { text: told, notes } = exported(
      {
        messages: [
          user(
            { type: 'image', source: {} },
            { type: 'document', source: pdf, title: 'a.pdf' },
            { type: 'document', source: {} },
          ),
          assistant({ type: 'thinking', thinking: 'x' }, image, result('c0', 'x'), call('c1')),
          user(result('c1', 'bad', { is_error: true }), { type: 'document', source: { type: 'text', data: 'words' } }),
          assistant({ type: 'later' }),
        ],
      },
      'openai',
    );
    expect(openaiSays(JSON.parse(told) as Json)).toBeUndefined();
    expect(told).toContain('data:application/pdf;base64,AA');
    expect(notes).toEqual([
      '1 image: left out, it has no address.',
      '1 document: left out, its kind is none that OpenAI takes.',
      '1 thought: left out, Chat Completions has no form for it.',
      '1 image: left out, an assistant has none at OpenAI.',
      '1 block of type “later”: left out, OpenAI has no form for it.',
      '1 tool: declared as taking any parameters, since theirs were not recorded.',
      '1 failed result: not marked as failed, OpenAI has no form for it.',
    ]);
  });
});

describe('Markdown', () => {
  it('tells everything that was said', () => {
    const {
      text: told,
      notes,
      extension,
    } = exported({ title: 'Fix *it* <now>', messages, request: { system: 'Be careful.' } }, 'markdown');
    expect(extension).toBe('md');
    expect(told).toMatch(/^# Fix \\\*it\\\* &lt;now\\>\n/);
    expect(told).toContain('<summary>System prompt</summary>');
    expect(told).toContain('## 2 · Assistant');
    expect(told).toContain('<summary>Thinking</summary>\n\n```\nhm\n```');
    expect(told).toContain('**Read**\n\n```json\n{\n  "path": "a"\n}\n```');
    expect(told).toContain('<summary>Result of Read, 2 lines</summary>');
    expect(told).toContain('*[image/png, 1 KB]*');
    expect(notes).toEqual(['2 images: named, not shown.']);
  });

  it('no text ends the fence that it stands in', () => {
    const { text: told } = exported(
      { messages: [user(text('x')), assistant(call('c', { content: 'a\n````\nb', n: 1 }))] },
      'markdown',
    );
    expect(told).toContain('content:\n\n`````\na\n````\nb\n`````');
  });

  it('names what it doesn’t know, and what is encrypted', () => {
    const { text: told, notes } = exported(
      {
        messages: [
          { role: 'user', content: 'sum', isSummary: true },
          assistant({ type: 'redacted_thinking', data: 'x' }, { type: 'later', value: 1 }, call('c', 'text')),
          user(
            result('c', undefined, { is_error: true }),
            { type: 'image', source: { type: 'url', url: 'https://x/a.png' } },
            { type: 'image', source: { type: 'file', file_id: 'f' } },
            { type: 'image', source: 7 },
          ),
        ],
      },
      'markdown',
    );
    expect(told).toContain('## 1 · User, summary');
    expect(told).toContain('<summary>later</summary>');
    expect(told).toContain('```json\n"text"\n```');
    expect(told).toContain('<summary>Error of Read, 0 lines</summary>');
    expect(told).toContain('![image](https://x/a.png)');
    expect(notes).toEqual(['1 thought: left out, it is encrypted.', '2 images: named, not shown.']);
  });
});

describe('the hand-over prompt', () => {
  it('has the task, the facts and the end, with keys masked', () => {
    const { text: told, notes } = exported(
      {
        messages: [
          user(text('Fix the test in src/a.ts')),
          assistant(call('c1', { file_path: 'src/a.ts' })),
          user(result('c1', 'key sk-ant-abcdefghijklmnopqrst')),
          assistant(text('Found it.')),
        ],
      },
      'handover',
    );
    expect(told).toContain('## The conversation\nA title');
    expect(told).toContain('src/a.ts');
    expect(told).toContain('[4] assistant:\nFound it.');
    expect(told).not.toContain('sk-ant');
    expect(notes).toEqual(['1 prompt: what looks like a key is masked in it.']);
  });

  it('of a long conversation tells the end and what was summed up before', () => {
    const long = Array.from({ length: 60 }, (_, index): ApiMessage[] => [
      user(text(`ask ${index} ${'word '.repeat(400)}`)),
      assistant(text(`say ${index}`)),
    ]).flat();
    const { text: told, notes } = exported(
      { messages: [{ role: 'user', content: 'EARLIER', isCompactSummary: true }, ...long] },
      'handover',
    );
    expect(told).toContain('## What was summed up before\nEARLIER');
    expect(told).toContain('say 59');
    expect(told).not.toContain('say 1\n');
    expect(told).toMatch(/\(\d+ earlier messages are left out\)/);
    expect(counter.text(told)).toBeLessThan(14_000);
    expect(notes[0]).toMatch(/^\d+ messages: told by the facts alone/);
  });
});
