import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import {
  assistant,
  jsonl,
  makeOtherRecord,
  makeTextBlock,
  user,
} from '../../test/fixtures/conversations/claudeCodeLines';
import { makeSourceId, lowercaseDriveLetter } from './conversationId';
import { EXPECTED_FORMATS_TEXT } from './detect';
import { readConversation } from './read';
import { ConversationReadError, type ReadErrorDetails, describeValue as words } from './readError';
import type { ReadOptions } from './types';
import { listDamage } from './notes';

const source = { path: '/tmp/conversation' };
const read = (input: string | Uint8Array, options: ReadOptions = {}) => readConversation(input, source, options);
const errorOf = (input: string | Uint8Array, options: ReadOptions = {}): ReadErrorDetails => {
  try {
    read(input, options);
  } catch (error) {
    if (error instanceof ConversationReadError) return error.data;
    throw error;
  }
  throw new Error('was read');
};

const message = { role: 'user', content: 'hi' };
const codexMessage = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] };
const geminiMessage = { id: 'm1', type: 'user', content: 'hi' };
const lines = jsonl(user('u1', null, 'hi'), assistant('a1', 'u1', 'm1', makeTextBlock('hello')));
const [line1 = '', line2 = ''] = lines.split('\n');

describe('the format of a conversation file', () => {
  it.each([
    ['claude-code', lines],
    ['claude-code', line1],
    ['claude-code', `${line1}${line2}`],
    ['anthropic', JSON.stringify([message])],
    ['anthropic', JSON.stringify({ messages: [message] })],
    ['anthropic', JSON.stringify({ system: 'x', messages: [message] }, null, 2)],
    [
      'anthropic',
      JSON.stringify([
        message,
        { role: 'system', content: 'x' },
        { role: 'user', content: [{ type: 'image', source: {} }] },
      ]),
    ],
    [
      'anthropic',
      JSON.stringify([{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] }]),
    ],
    ['roo', JSON.stringify([{ ...message, ts: 1 }])],
    ['roo', JSON.stringify([message, { ...message, isSummary: true }])],
    ['roo', JSON.stringify([message, { type: 'reasoning', summary: [] }])],
    ['openai', JSON.stringify([{ role: 'system', content: 'x' }, message])],
    ['openai', JSON.stringify([message, { role: 'tool', tool_call_id: 'c', content: 'x' }])],
    ['openai', JSON.stringify([message, { role: 'assistant', content: null, tool_calls: [] }])],
    ['openai', JSON.stringify([{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }])],
    ['codex', jsonl({ type: 'session_meta', payload: { id: 's' } }, { type: 'response_item', payload: codexMessage })],
    ['codex', jsonl({ id: 's', instructions: null }, codexMessage)],
    [
      'copilot',
      jsonl({ type: 'session.start', data: {}, id: 'e1' }, { type: 'user.message', data: { content: 'hi' } }),
    ],
    ['gemini', jsonl({ sessionId: 's', projectHash: 'h' }, geminiMessage)],
    ['gemini', JSON.stringify({ sessionId: 's', projectHash: 'h', messages: [geminiMessage] })],
    [
      'opencode',
      JSON.stringify({
        info: { id: 'ses_1' },
        messages: [{ info: { role: 'user' }, parts: [{ type: 'text', text: 'hi' }] }],
      }),
    ],
  ])('is detected as %s from the content (%#)', (format, input) => {
    expect(read(input).format).toBe(format);
    expect(read(Buffer.from(input)).format).toBe(format);
  });

  it('keeps the other fields of a request body', () => {
    const request = { model: 'claude-opus-4-5', system: [{ type: 'text', text: 'x' }], tools: [{ name: 'Read' }] };
    expect(read(JSON.stringify({ ...request, messages: [message] })).request).toEqual(request);
    expect(read(JSON.stringify([message]))).not.toHaveProperty('request');
  });
});

describe('unusual but valid content of a conversation file is read:', () => {
  it.each([
    ['a byte order mark', `\ufeff${lines}`],
    ['CRLF', lines.replaceAll('\n', '\r\n')],
    ['blank lines', `\n\n${lines.replaceAll('\n', '\n \t\r\n\n')}`],
    ['no newline at the end', lines.trimEnd()],
    ['two records on one line', `${line1} ${line2}\n`],
  ])('a file with %s', (_, input) => {
    expect(read(input).messages).toHaveLength(2);
    expect(read(Buffer.from(input)).messages).toEqual(read(input).messages);
  });

  it('a file with line separators inside strings', () => {
    const words = 'a\u2028b\u2029c\u0085d';
    expect(read(Buffer.from(jsonl(user('u1', null, words)))).messages[0]?.content).toBe(words);
  });

  it('a file with keys such as __proto__ and constructor', () => {
    const input = '{"__proto__": {"polluted": true}, "constructor": 1}';
    const block = `{"type": "tool_use", "id": "t", "name": "n", "input": ${input}, "__proto__": {"type": "text"}}`;
    const body = `{"__proto__": {"x": 1}, "messages": [{"role": "assistant", "content": [${block}], "__proto__": {"role": "x"}}]}`;
    const { messages, request } = read(body);
    expect(JSON.stringify(messages[0])).toBe(JSON.stringify((JSON.parse(body) as { messages: unknown[] }).messages[0]));
    expect(Object.keys(request ?? {})).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(request)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    const line = line1.replace('"content":"hi"', '"content":"hi","__proto__":{"role":"assistant"}');
    expect(Object.hasOwn(read(line).messages[0]!, '__proto__')).toBe(true);
    expect(read(line).messages[0]?.role).toBe('user');
  });
});

const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('a last line that is cut off', () => {
  it.each([
    ['in a string', line2.slice(0, 60)],
    ['in a character', Buffer.concat([Buffer.from(line2.slice(0, line2.indexOf('hello'))), Buffer.from([0xe2, 0x82])])],
    ['before a newline', `${line2.slice(0, 60)}\n\n`],
    ['behind a whole record', `${line2}{"type":"us`],
  ])('is skipped and reported in %s', (_, tail) => {
    const { messages, notes } = read(Buffer.concat([Buffer.from(`${line1}\n`), Buffer.from(tail)]));
    expect(messages).toHaveLength(String(tail).startsWith(line2) ? 2 : 1);
    expect(listDamage(notes).join()).toMatch(
      /Line 2 is damaged; skipped \d+ bytes: found a last line that is cut off; expected a complete JSON record\./,
    );
  });

  it('is an error if it is the only line', () => {
    expect(errorOf(`${line1.slice(0, 50)}\n{"type":"us`)).toMatchObject({ problem: 'broken-line', line: 1 });
  });
});

describe('a damaged line in a conversation file', () => {
  const line3 = jsonl(user('u2', 'a1', 'Go on')).trim();
  it.each<[string, string | Uint8Array, string, number]>([
    ['is all NULs', '\0'.repeat(512), 'skipped 512 bytes: found NUL bytes in the line', 2],
    ['has NULs in front of a record', `${'\0'.repeat(9)}${line2}`, 'skipped 9 bytes: found NUL bytes', 3],
    [
      'breaks in the middle',
      `${line2.slice(0, 40)}\u0001${line2.slice(40)}`,
      'found a line that breaks at column 41',
      2,
    ],
    ['is half a record', line2.slice(0, 50), 'found a line that breaks at column', 2],
    ['is half a record with a whole one glued to it', `{"type":"mode","sess${line2}`, 'skipped 20 bytes', 3],
    ['is half a record with a whole one at a key', `{"type":"mode",${line2}`, 'skipped 15 bytes', 3],
    ['is no record', '[1]', 'skipped 3 bytes: found an array; expected a record: a JSON object', 2],
    [
      'has a message of a wrong shape',
      JSON.stringify({ type: 'user', uuid: 'x', message: 7 }),
      'found the number 7',
      2,
    ],
    ['is nested too deeply', `{"type":"x","a":${deep(600)}}`, 'found a record that is nested too deeply', 2],
  ])('does not affect the other lines if it %s', (_, line, told, count) => {
    for (const [input, at] of [
      [`${line1}\n${String(line)}\n${line3}\n`, 2],
      [`${String(line)}\n${line1}\n${line2}\n${line3}\n`, 1],
    ] as const) {
      const { messages, notes } = read(Buffer.from(input));
      expect(listDamage(notes).join()).toContain(`Line ${at} is damaged`);
      expect(listDamage(notes).join()).toContain(told);
      const texts = JSON.stringify(messages);
      expect(texts).toContain('"hi"');
      expect(texts).toContain('Go on');
      if (at === 2) expect(messages.length).toBe(count);
    }
  });

  it('that is not UTF-8 is read with replacement characters', () => {
    const latin1 = Buffer.concat([Buffer.from(line1.replace('hi', 'caf\u00e9'), 'latin1'), Buffer.from(`\n${line2}`)]);
    const { messages, notes } = read(latin1);
    expect(messages).toMatchObject([{ content: 'caf\ufffd' }, {}]);
    expect(notes).toEqual(['Line 1 contains bytes that are not UTF-8; they were replaced with "\ufffd".']);
  });

  it('is listed in the note only if it is among the first of many', () => {
    const { messages, notes } = read([line1, ...Array.from({ length: 30 }, () => 'oops'), line2].join('\n'));
    expect(messages).toHaveLength(2);
    expect(listDamage(notes)).toHaveLength(6);
    expect(listDamage(notes)[5]).toMatch(/^Also damaged: lines 7, 8, .*, 26, …; skipped 100 bytes\.$/);
  });
});

const record = (fields: Record<string, unknown>) => jsonl({ ...user('u1', null, 'hi'), ...fields });

describe('an unreadable conversation file causes one clear error', () => {
  it.each<[string, string | Uint8Array, Partial<ReadErrorDetails>]>([
    ['nothing', '', { problem: 'empty', found: 'nothing' }],
    ['nothing but a mark', '\ufeff', { problem: 'empty' }],
    ['no bytes', Buffer.from(''), { problem: 'empty' }],
    ['blanks', Buffer.from(' \r\n\t'), { problem: 'empty' }],
    ['no messages', '[]', { problem: 'empty', found: 'a conversation without messages' }],
    ['a body without messages', '{"messages":[]}', { problem: 'empty' }],
    ['binary data', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]), { problem: 'binary', found: 'binary data' }],
    ['an archive', Buffer.from([0x1f, 0x8b, 8, 0]), { problem: 'binary', advice: 'Unpack it first.' }],
    ['UTF-16', Buffer.from('\ufeff[]', 'utf16le'), { problem: 'encoding', found: 'UTF-16 text' }],
    ['UTF-16, big end first', Buffer.from([0xfe, 0xff, 0, 0x5b]), { problem: 'encoding' }],
    [
      'Latin-1 in a document',
      Buffer.from('[{"role":"user","content":"caf\u00e9"}]', 'latin1'),
      { problem: 'encoding' },
    ],
    ['prose', '# Notes\n\nhello', { problem: 'unknown-format', line: 1, found: 'text that is not JSON' }],
    ['a number', '42', { problem: 'unknown-format', found: 'the number 42' }],
    ['another object', '{\n"a": 1\n}', { problem: 'unknown-format', found: 'an object with "a"' }],
    [
      'messages of the screen',
      '[{"ts":1,"type":"say","say":"text"},{"ts":2,"type":"ask"}]',
      { problem: 'unknown-format', advice: 'Read api_conversation_history.json in the same folder.' },
    ],
    [
      'a truncated list',
      '[\n{"role":"user",\n"content":"h',
      { problem: 'truncated', line: 3, expected: 'the end of a string there' },
    ],
    ['a truncated body', '{\n"messages": [', { problem: 'truncated', line: 2 }],
    ['a truncated first line', line1.slice(0, 50), { problem: 'truncated', line: 1 }],
    [
      'a broken list',
      '[\n{"role": "user",}\n]',
      { problem: 'broken-json', line: 2, found: 'JSON that breaks at column 17' },
    ],
    ['text behind a list', '[] trailing', { problem: 'broken-json', expected: 'the end of the text there' }],
    ['lines that are all broken', '{"type":"us\n{"type":"as\n', { problem: 'broken-line', line: 1 }],
    [
      'JSON that is no conversation',
      '{"a":1}',
      { problem: 'unknown-format', found: 'an object with "a"', expected: EXPECTED_FORMATS_TEXT },
    ],
    ['records without a type', '{"a":1}\n{"b":2}', { problem: 'unknown-format', found: 'an object with "a"' }],
    [
      'a record without a type',
      '{"a":1}\n{"type":"x"}',
      {
        problem: 'wrong-shape',
        found: 'no messages, only 1 x',
        advice: expect.stringContaining('Line 1 is damaged; skipped 7 bytes: found nothing in "type"') as string,
      },
    ],
    [
      'a record without a message',
      record({ message: undefined }),
      { problem: 'wrong-shape', line: 1, found: 'nothing in "message"' },
    ],
    [
      'a record with a wrong role',
      record({ message: { role: 'tool', content: 'x' } }),
      { problem: 'wrong-shape', line: 1, found: '"tool" in "message.role"' },
    ],
    [
      'a record with wrong content',
      record({ message: { role: 'user', content: 7 } }),
      { problem: 'wrong-shape', found: 'the number 7 in "message.content"' },
    ],
    [
      'no messages among the records',
      jsonl(makeOtherRecord('progress', 'p', null), { type: 'summary' }),
      { problem: 'wrong-shape', found: 'no messages, only 1 progress, 1 summary' },
    ],
    [
      'a Codex session without a word',
      jsonl({ type: 'session_meta', payload: {} }),
      { problem: 'wrong-shape', found: 'no messages' },
    ],
    [
      'a message without a role',
      '[{"content":"x"}]',
      { problem: 'wrong-shape', found: 'nothing in "messages[0].role"' },
    ],
    [
      'an invalid message',
      '[{"role":"user","content":"x"},null]',
      { problem: 'wrong-shape', found: 'null in "messages[1]"' },
    ],
    [
      'content that is a number',
      '[{"role":"user","content":1}]',
      { problem: 'wrong-shape', found: 'the number 1 in "messages[0].content"' },
    ],
    [
      'an invalid block',
      '[{"role":"user","content":["x"]}]',
      { problem: 'wrong-shape', found: '"x" in "messages[0].content[0]"' },
    ],
    [
      'a block without a type',
      '[{"role":"user","content":[{}]}]',
      { found: 'nothing in "messages[0].content[0].type"' },
    ],
    [
      'a text without text',
      '[{"role":"user","content":[{"type":"text"}]}]',
      { found: 'nothing in "messages[0].content[0].text"' },
    ],
    [
      'thinking without thought',
      '[{"role":"user","content":[{"type":"thinking"}]}]',
      { found: 'nothing in "messages[0].content[0].thinking"' },
    ],
    [
      'a call without an id',
      '[{"role":"user","content":[{"type":"tool_use"}]}]',
      { found: 'nothing in "messages[0].content[0].id"' },
    ],
    [
      'a call without a name',
      '[{"role":"user","content":[{"type":"tool_use","id":"t"}]}]',
      { found: 'nothing in "messages[0].content[0].name"' },
    ],
    [
      'a result without its call',
      '[{"role":"user","content":[{"type":"tool_result"}]}]',
      { found: 'nothing in "messages[0].content[0].tool_use_id"' },
    ],
    [
      'a result with wrong content',
      '[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":false}]}]',
      { found: 'the boolean false in "messages[0].content[0].content"' },
    ],
    [
      'a message too deep',
      `[{"role":"user","content":[{"type":"x","y":${deep(5000)}}]}]`,
      { problem: 'wrong-shape', expected: 'at most 500 levels of nesting' },
    ],
    ['a list too deep', deep(200_000), { problem: 'wrong-shape', found: 'an array in "messages[0]"' }],
    [
      'a record too deep',
      record({ message: { role: 'user', content: 'x', y: JSON.parse(deep(600)) as unknown } }),
      { problem: 'wrong-shape', line: 1 },
    ],
  ])('if it is %s', (_, input, expected) => {
    expect(errorOf(input)).toMatchObject({ source: '/tmp/conversation', ...expected });
  });

  it('with file, line, and what was found and expected', () => {
    expect(() => read('{"type":7}\n{"type":8}')).toThrow(
      '/tmp/conversation:1: found the number 7 in "type"; expected the kind of the record, a string.',
    );
  });
});

it('error messages about a conversation file describe values without quoting their content', () => {
  expect([undefined, [], {}, { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, 'x'.repeat(21), Symbol('s')].map(words)).toEqual([
    'nothing',
    'an empty array',
    'an empty object',
    'an object with "a", "b", "c", "d", "e", …',
    'a long string',
    'a symbol',
  ]);
});

describe('the ID of a conversation', () => {
  it('is the same for the same file, however its drive letter is written', () => {
    expect(makeSourceId({ path: '/a/../b/c' }, '')).toBe(makeSourceId({ path: '/b/c' }, 'changed'));
    expect(lowercaseDriveLetter('C:\\work\\a')).toBe(lowercaseDriveLetter('c:\\work\\a'));
    expect(lowercaseDriveLetter('/C:/x')).toBe('/C:/x');
  });

  it('is derived from the content if there is no file', () => {
    expect(makeSourceId({ name: 'stdin' }, 'a')).not.toBe(makeSourceId({ name: 'stdin' }, 'b'));
    expect(readConversation(JSON.stringify([message]), { name: 'stdin' }).id).toMatch(/^text:[0-9a-f]{16}$/);
  });
});
