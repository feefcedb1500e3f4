import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CondensationManager, losslessProvider, truncationProvider } from '../../core/condense';
import { applyEdits } from '../../core/condense/edits/applyEdits';
import type { SummaryEdit } from '../../core/condense/edits/edits';
import { hashText } from '../../core/hash';
import { getBlocks, isRecord } from '../../core/messages/blocks';
import { checkConversation, findNewViolations } from '../../core/messages/firewall';
import { listImages } from '../../core/messages/images';
import { replaceValueAt } from '../../core/messages/path';
import { createUneditedView } from '../../core/condense/edits/view';
import type { ApiMessage } from '../../core/messages/types';
import { createCounter } from '../../core/testingCounter';
import { findKnownRequest } from './index';
import { makeRequestBody, PATH_BY_WIRE, WIRE_NAMES } from './testing';
import { WireError, writeViewIntoBody, type RequestBody, type WireFormat, type WireRequest } from './wire';

interface Case {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** Recorded requests of agents, which are skipped if unavailable. */
const RECORDED = join(__dirname, '../../../../shared/real-agents/recorded');
const recorded: Case[] = existsSync(RECORDED)
  ? readdirSync(RECORDED).map((name) => {
      const entry = JSON.parse(readFileSync(join(RECORDED, name), 'utf8')) as { path: string; body: unknown };
      return { name, path: entry.path, text: JSON.stringify(entry.body) };
    })
  : [];
const own: Case[] = WIRE_NAMES.map((name) => ({ name, path: PATH_BY_WIRE[name], text: makeRequestBody(name, 30) }));

const manager = new CondensationManager(createCounter(), [losslessProvider, truncationProvider]);

function read({ path, text }: Case): { wire: WireFormat; body: RequestBody; request: WireRequest } {
  const known = findKnownRequest('POST', path.replace(/\?.*/, ''));
  const body = JSON.parse(text) as RequestBody;
  const request = known?.wire.read(body);
  if (!known || !request) throw new Error('not read');
  return { wire: known.wire, body, request };
}

const itemsIn = (body: RequestBody): number => {
  const list = body['messages'] ?? body['input'] ?? body['contents'];
  return Array.isArray(list) ? list.length : -1;
};

const viewText = (wire: WireFormat, text: string, ...rest: Tail): string => {
  const { head, end } = writeViewIntoBody(wire, text, ...rest);
  return head + text.slice(end);
};
type Tail = Parameters<typeof writeViewIntoBody> extends [WireFormat, string, ...infer Rest] ? Rest : never;

describe.each([...own, ...recorded])('the recorded request $name', (one) => {
  const { wire, body, request } = read(one);
  const { messages } = request;

  it('is read as a valid conversation with its prompt and tools', () => {
    expect(checkConversation(messages)).toEqual([]);
    expect(messages[0]?.role).toBe('user');
    expect(request.system).not.toBe('');
    expect(request.tools.length).toBeGreaterThan(0);
  });

  it('is written back byte for byte if nothing is condensed', () => {
    expect(viewText(wire, one.text, body, request, createUneditedView(messages))).toBe(one.text);
  });

  it.each(['lossless', 'truncation'])(
    'is written back after %s with the condensed content and no other change',
    async (provider) => {
      const outcome = await manager.condense({
        conversation: one.name + provider,
        messages,
        provider,
        trigger: 'manual',
        targetTokens: 1_000,
      });
      if (outcome.kind !== 'condensed') return;
      const { view } = outcome;
      const text = viewText(wire, one.text, body, request, applyEdits(messages, outcome.edits));
      expect(text.length).toBeLessThan(one.text.length);
      const written = read({ ...one, text });
      expect(written.request.messages).toEqual(view);
      expect(findNewViolations(messages, written.request.messages)).toEqual([]);
      expect(itemsIn(written.body)).toBe(itemsIn(body));
      expect({ ...written.request, messages: 0, sources: 0 }).toEqual({ ...request, messages: 0, sources: 0 });
      // The rest of the body is unchanged.
      for (const odd of one.text.match(/1e400|1\.0\b|12345678901234567890/g) ?? []) expect(text).toContain(odd);
    },
  );

  it('is written back with a summary in place of its messages', () => {
    if (messages.length < 10) return;
    const [start, end] = [1, 7];
    const summary: ApiMessage = { role: 'user', content: [{ type: 'text', text: 'What was done: "much".' }] };
    const edit = {
      kind: 'summary',
      start,
      end,
      message: summary,
      before: hashText(JSON.stringify(messages.slice(start, end))),
    } as unknown as SummaryEdit;
    const view = applyEdits(messages, [edit]);
    const text = viewText(wire, one.text, body, request, view);
    const written = read({ ...one, text });
    expect(written.request.messages.length).toBe(view.messages.length);
    // Generated IDs depend on what precedes them, so they are ignored.
    const plain = (message: unknown): string => JSON.stringify(message).replace(/#\d+/g, '#');
    expect(plain(written.request.messages.at(-1))).toEqual(plain(messages.at(-1)));
    expect(JSON.stringify(written.request.messages[1])).toContain('What was done');
  });

  it('can be written back without its thinking, and with text in place of an image', () => {
    const at = messages.findIndex(
      ({ content }) => Array.isArray(content) && content.some(({ type }) => type === 'thinking'),
    );
    if (at < 0) return;
    const view = messages.map((message) => ({
      ...message,
      content: Array.isArray(message.content)
        ? message.content.filter(({ type }) => type !== 'thinking')
        : message.content,
    }));
    const text = viewText(wire, one.text, body, request, { ...createUneditedView(messages), messages: view });
    expect(read({ ...one, text }).request.messages).toEqual(view);
  });
});

describe('in every API format', () => {
  beforeAll(() => expect(own.length).toBe(4));

  it.each([
    [
      'chat',
      '{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]}',
      { type: 'text', text: 'gone' },
    ],
    [
      'responses',
      '{"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"https://e.invalid/a.png"}]}]}',
      { type: 'input_text', text: 'gone' },
    ],
    [
      'anthropic',
      '{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}]}',
      { type: 'text', text: 'gone' },
    ],
    [
      'gemini',
      '{"contents":[{"role":"user","parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}]}',
      { text: 'gone' },
    ],
    [
      'chat',
      '{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":"data:image/png;base64,QUJD"}]}]}',
      { type: 'text', text: 'gone' },
    ],
  ] as const)('an image is replaced with text as the format %s requires', (name, text, part) => {
    const { wire, body, request } = read({ name, path: PATH_BY_WIRE[name], text });
    const [message] = request.messages;
    expect(listImages(request.messages)).toHaveLength(1);
    const content = (message?.content as { type: string }[]).with(1, { type: 'text', text: 'gone' } as never);
    const view = [{ ...message, content } as ApiMessage];
    const written = JSON.parse(
      viewText(wire, text, body, request, { ...createUneditedView(request.messages), messages: view }),
    ) as RequestBody;
    expect(JSON.stringify(written)).toContain(JSON.stringify(part));
  });

  it.each([
    [
      'chat',
      '{"messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"shot","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"a"},IMAGE]}]}',
      { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
      { type: 'text', text: 'gone' },
    ],
    [
      'responses',
      '{"input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"c","name":"shot","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"},IMAGE]}]}',
      { type: 'input_image', image_url: 'data:image/png;base64,QUJD' },
      { type: 'input_text', text: 'gone' },
    ],
    [
      'anthropic',
      '{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"shot","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"a"},IMAGE]}]}]}',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
      { type: 'text', text: 'gone' },
    ],
    [
      'gemini',
      '{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"shot","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"shot","response":{"output":"a","exit":0},"parts":[{"fileData":{"fileUri":"f"}},IMAGE]}}]}]}',
      { inlineData: { mimeType: 'image/png', data: 'QUJD' } },
      // A result part may be a text file.
      { inlineData: { mimeType: 'text/plain', data: 'Z29uZQ==' } },
    ],
    [
      'gemini',
      '{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"shot","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"shot","response":{"output":"a","shot":{"$ref":"shot.png"}},"parts":[IMAGE]}}]}]}',
      { inlineData: { mimeType: 'image/png', displayName: 'shot.png', data: 'QUJD' } },
      // The response refers to its part by name.
      { inlineData: { displayName: 'shot.png', mimeType: 'text/plain', data: 'Z29uZQ==' } },
    ],
  ] as const)(
    'the image in a result of the format %s is found, and only it is replaced with text',
    (name, form, image, part) => {
      const text = form.replace('IMAGE', JSON.stringify(image));
      const { wire, body, request } = read({ name, path: PATH_BY_WIRE[name], text });
      const [found, ...others] = listImages(request.messages);
      expect(others).toEqual([]);
      expect(found).toMatchObject({
        image: { source: { media_type: 'image/png', data: 'QUJD' } },
        call: { name: 'shot' },
      });
      const { message, path } = found!;
      const gone = replaceValueAt(request.messages[message]!, path, { type: 'text', text: 'gone' });
      const view = request.messages.with(message, gone);
      const written = viewText(wire, text, body, request, { ...createUneditedView(request.messages), messages: view });
      expect(written).toBe(form.replace('IMAGE', JSON.stringify(part)));
    },
  );

  it("a change that the format can't express is rejected", () => {
    const { wire, body, request } = read(own[0]!);
    const { messages } = request;
    const changed = (change: (message: ApiMessage) => ApiMessage): (() => string) => {
      const view = messages.map((message, index) => (index === 1 ? change(message) : message));
      return () => viewText(wire, own[0]!.text, body, request, { ...createUneditedView(messages), messages: view });
    };
    expect(changed((message) => ({ ...message, content: [] }))).toThrow(WireError);
    expect(
      changed((message) => ({ ...message, content: [...getBlocks(message), { type: 'text', text: 'x' }] })),
    ).toThrow(WireError);
    expect(
      changed((message) => ({
        ...message,
        content: (message.content as object[]).map((block) => ({ ...block, id: 1 })) as never,
      })),
    ).toThrow(WireError);
    expect(() =>
      viewText(wire, own[0]!.text, body, request, {
        original: messages,
        messages: messages.slice(1),
        origins: messages.slice(1).map((_, index) => index + 1),
      }),
    ).toThrow('Message 0 is missing');
  });

  it('only a request that contains a conversation is read', () => {
    const path = PATH_BY_WIRE.responses;
    for (const text of [
      '{"input":"hello"}',
      '{"input":[],"previous_response_id":"r"}',
      '{"input":[],"conversation":"c"}',
      '{"input":[1]}',
    ]) {
      expect(() => read({ name: '', path, text })).toThrow('not read');
    }
    for (const other of ['/v1/models', '/v1/embeddings', '/v1/responses/compact', '/v1/files']) {
      expect(findKnownRequest('POST', other)).toBeUndefined();
    }
    expect(findKnownRequest('GET', '/v1/responses')).toBeUndefined();
  });

  it('Gemini calls without IDs are paired by name and order', () => {
    const text = JSON.stringify({
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        { role: 'model', parts: ['a', 'b', 'a'].map((name) => ({ functionCall: { name, args: {} } })) },
        {
          role: 'user',
          parts: [
            ['a', 'x'],
            ['a', 'y'],
            ['b', 'z'],
          ].map(([name, id]) => ({ functionResponse: { name, id, response: { output: id } } })),
        },
      ],
    });
    const { messages } = read({ name: 'gemini', path: PATH_BY_WIRE.gemini, text }).request;
    const ids = messages.map(({ content }) =>
      (content as readonly RequestBody[]).map((block) => block['id'] ?? block['tool_use_id']),
    );
    expect(ids.slice(1)).toEqual([
      ['a#1', 'b#1', 'a#2'],
      ['a#1', 'a#2', 'b#1'],
    ]);
    expect(isRecord(messages[2])).toBe(true);
  });
});
