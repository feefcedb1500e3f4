import { describe, expect, it } from 'vitest';
import { assistant, call, result, text, user } from '../testing';
import { contentsOf, decompose, recompose } from './content';
import type { ApiMessage, Block } from './types';

/** A message's contents as `type: text`. */
const brief = (message: ApiMessage): string[] =>
  contentsOf(message).map((content) => `${content.type}: ${content.text}`);

describe('decompose', () => {
  it('sorts the text of a message by content type', () => {
    const message = assistant('Now', call('a', 'Write', { file_path: 'x', lines: ['1', { deep: '2' }], count: 3 }));
    const { messageText, toolParameters, toolResults } = decompose(message);
    expect(messageText.map((one) => one.text)).toEqual(['Now']);
    expect(toolParameters.map((one) => one.path.join('.'))).toEqual([
      'content.1.input.file_path',
      'content.1.input.lines.0',
      'content.1.input.lines.1.deep',
    ]);
    expect(toolResults).toEqual([]);
  });

  it('reads results as string, as blocks, in the untyped form of Cline 4, and absent', () => {
    const untyped = [{ query: 'q', result: 'found' }] as unknown as Block[];
    expect(brief(user(result('a', 'one')))).toEqual(['toolResults: one']);
    expect(brief(user(result('a', [text('two'), { type: 'image', source: {} }])))).toEqual(['toolResults: two']);
    expect(brief(user(result('a', untyped)))).toEqual(['toolResults: found']);
    expect(brief(user(result('a'), result('b', ''), text('')))).toEqual([]);
  });

  it('leaves thinking, images, documents and unknown blocks alone', () => {
    const blocks: Block[] = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'image', source: {} },
      { type: 'constructor', text: 'no' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
    ];
    expect(brief(assistant(...blocks, 'said'))).toEqual(['messageText: said']);
  });

  it('finds parameters and results of XML-era tools, without their markup', () => {
    expect(brief(assistant('Look <read_file><path>a</path></read_file> now'))).toEqual([
      'messageText: Look ',
      'toolParameters: a',
      'messageText:  now',
    ]);
    const parts = ["[read_file for 'a'] Result:", 'text', '<environment_details>t</environment_details>'];
    expect(brief(user(...parts, 'and I say'))).toEqual([
      'toolResults: text',
      'messageText: <environment_details>t</environment_details>',
      'messageText: and I say',
    ]);
    expect(brief(user(text('[update_todo_list] Result:'), text("[read_file for 'a'] Result:\nx")))).toEqual([
      'toolResults: x',
    ]);
    expect(brief({ role: 'system', content: '[read_file] Result:\nx' })).toEqual([
      'messageText: [read_file] Result:\nx',
    ]);
  });

  it('survives nesting deeper than any schema, and strange keys', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const input: unknown = JSON.parse('{"__proto__": {"constructor": "c"}}');
    expect(brief(assistant(call('a', 'x', { deep, near: 'n' }), call('b', '__proto__', input)))).toEqual([
      'toolParameters: n',
      'toolParameters: c',
    ]);
  });
});

describe('recompose', () => {
  const message = assistant(
    text('<read_file><path>aa</path></read_file> <read_file><path>bb</path></read_file>', { cache_control: {} }),
    call('1', 'x', JSON.parse('{"__proto__": "p", "n": 1}')),
  );

  it('gives back the very same message where nothing changed', () => {
    expect(recompose(message, decompose(message))).toBe(message);
  });

  it('puts changed text back in its place, several slices of one string too', () => {
    const parts = decompose(message);
    const changed = recompose(message, {
      ...parts,
      toolParameters: parts.toolParameters.map((one) => ({ ...one, text: `${one.text}+` })),
    });
    expect(JSON.stringify(changed)).toBe(
      JSON.stringify(message).replace('>aa<', '>aa+<').replace('>bb<', '>bb+<').replace('"p"', '"p+"'),
    );
  });

  it('refuses parts of another message', () => {
    expect(() => recompose(user('x'), decompose(message))).toThrow('no text at content.0.text');
  });
});
