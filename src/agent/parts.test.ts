import { describe, expect, it } from 'vitest';
import * as vscode from 'vscode';
import { TINY_PNG_BASE64 } from '../api/testing';
import { convertChatMessages, convertChatTools } from './conversion';
import { convertPartToBlock } from './parts';
import { makeChatMessage } from './testing';

const data = (content: string | Uint8Array, mimeType: string) =>
  new vscode.LanguageModelDataPart(typeof content === 'string' ? new TextEncoder().encode(content) : content, mimeType);

describe('a part of a chat message', () => {
  it('becomes a block if a model can read it', () => {
    expect(convertPartToBlock(new vscode.LanguageModelTextPart('words'))).toEqual({ type: 'text', text: 'words' });
    expect(convertPartToBlock(data(Buffer.from(TINY_PNG_BASE64, 'base64'), 'image/png'))).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: TINY_PNG_BASE64 },
    });
    // Content that vendors reject becomes text, because otherwise every later request would be
    // rejected, too.
    expect(convertPartToBlock(data('<svg/>', 'image/svg+xml'))).toEqual({ type: 'text', text: '<svg/>' });
    expect(convertPartToBlock(data('BM', 'image/bmp'))).toMatchObject({
      text: "[2 bytes of image/bmp that can't be shown here]",
    });
    expect(convertPartToBlock(data('', 'image/png'))).toMatchObject({
      text: "[0 bytes of image/png that can't be shown here]",
    });
    expect(convertPartToBlock(data('%PDF', 'application/pdf'))).toMatchObject({
      type: 'document',
      source: { media_type: 'application/pdf' },
    });
    expect(convertPartToBlock(data('{"a":1}', 'application/json'))).toEqual({ type: 'text', text: '{"a":1}' });
    expect(convertPartToBlock(data('plain', 'text/plain; charset=utf-8'))).toEqual({ type: 'text', text: 'plain' });
    expect(convertPartToBlock(data('zip', 'application/zip'))).toEqual({
      type: 'text',
      text: "[3 bytes of application/zip that can't be shown here]",
    });
  });

  it.each([
    ['image/webp', [0x89, 0x50, 0x4e, 0x47], 'image/png'],
    ['image/jpg', [0xff, 0xd8, 0xff, 0xe0], 'image/jpeg'],
    ['image/png', Buffer.from('GIF89a'), 'image/gif'],
    ['image/png', Buffer.from('RIFF\x01\x02\x03\x04WEBPVP8 '), 'image/webp'],
  ])(
    'with the MIME type %s gets the type that its bytes show, since vendors reject a wrong type',
    (name, bytes, type) => {
      expect(convertPartToBlock(data(Uint8Array.from(bytes), name))).toMatchObject({
        type: 'image',
        source: { media_type: type },
      });
      expect(convertPartToBlock(data('<html>No such page</html>', name))).toEqual({
        type: 'text',
        text: `[25 bytes of ${name} that can't be shown here]`,
      });
    },
  );

  it("is dropped if it is blank, VS Code's internal data, or thinking of another model", () => {
    for (const part of [
      new vscode.LanguageModelTextPart(' \n'),
      data('{}', 'cache_control'),
      data('{}', 'usage'),
      data('x', 'stateful_marker'),
      { value: 'I think', id: 'th1', metadata: { signature: 's' } },
      { value: undefined },
      { value: null },
      null,
      7,
      '',
    ]) {
      expect(convertPartToBlock(part)).toBeUndefined();
    }
  });

  it('of an unknown kind is kept as a text block if it contains text', () => {
    expect(convertPartToBlock({ value: 'from prompt-tsx' })).toEqual({ type: 'text', text: 'from prompt-tsx' });
    expect(convertPartToBlock({ value: { node: 1 } })).toEqual({ type: 'text', text: '{"node":1}' });
    expect(convertPartToBlock('bare')).toEqual({ type: 'text', text: 'bare' });
  });

  it('inside a result becomes a string if it is the only text', () => {
    const content = (...parts: unknown[]): unknown =>
      convertPartToBlock(new vscode.LanguageModelToolResultPart('a', parts))?.['content'];
    expect(content()).toBe('');
    expect(content(new vscode.LanguageModelTextPart('one'))).toBe('one');
    expect(content(new vscode.LanguageModelTextPart('one'), new vscode.LanguageModelTextPart('two'))).toHaveLength(2);
  });
});

describe('messages and tools from the chat', () => {
  const message = (role: number, text: string) => makeChatMessage(role, new vscode.LanguageModelTextPart(text));

  it('get their role from the role number, and leading system messages become the system prompt', () => {
    expect(
      convertChatMessages([
        message(3, 'one'),
        message(3, 'two'),
        message(1, 'go'),
        message(2, 'done'),
        message(3, 'note'),
      ]),
    ).toEqual({
      system: 'one\n\ntwo',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
        { role: 'system', content: [{ type: 'text', text: 'note' }] },
      ],
    });
    expect(convertChatMessages([message(3, 'alone')])).toEqual({ system: 'alone', messages: [] });
    expect(convertChatMessages([message(1, 'go')]).system).toBeUndefined();
  });

  it('have a schema for each tool, an empty one if none was given', () => {
    expect(convertChatTools([{ name: 'x', description: 'y' }])).toEqual([
      { name: 'x', description: 'y', input_schema: { type: 'object', properties: {} } },
    ]);
    expect(convertChatTools()).toEqual([]);
  });
});
