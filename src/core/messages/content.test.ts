import { describe, expect, it } from 'vitest';
import { assistant, call, result, text, user } from '../testing';
import { listContents } from './content';
import type { ApiMessage, Block } from './types';

const brief = (message: ApiMessage): string[] =>
  listContents(message).map((content) => `${content.type}: ${content.text}`);

describe('the contents of a message', () => {
  it('include its strings with their places, also deep in parameters', () => {
    const message = assistant('Now', call('a', 'Write', { file_path: 'x', lines: ['1', { deep: '2' }], count: 3 }));
    expect(listContents(message).map(({ type, path, text }) => [type, path.join('.'), text])).toEqual([
      ['messageText', 'content.0.text', 'Now'],
      ['toolParameters', 'content.1.input.file_path', 'x'],
      ['toolParameters', 'content.1.input.lines.0', '1'],
      ['toolParameters', 'content.1.input.lines.1.deep', '2'],
    ]);
  });

  it("include results as a string, as blocks and in Cline 4's untyped form, but no missing or empty ones", () => {
    const untyped = [{ query: 'q', result: 'found' }] as unknown as Block[];
    expect(brief(user(result('a', 'one')))).toEqual(['toolResults: one']);
    expect(brief(user(result('a', [text('two'), { type: 'image', source: {} }])))).toEqual(['toolResults: two']);
    expect(brief(user(result('a', untyped)))).toEqual(['toolResults: found']);
    expect(brief(user(result('a'), result('b', ''), text('')))).toEqual([]);
  });

  it('exclude thinking, images, server tools and unknown blocks', () => {
    const blocks: Block[] = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'image', source: {} },
      { type: 'constructor', text: 'no' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
    ];
    expect(brief(assistant(...blocks, 'said'))).toEqual(['messageText: said']);
  });

  it('include parameters and results of calls written as XML, without their markup', () => {
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
    const posing = '<environment_details>t</environment_details>\n\nDo it';
    expect(brief(user("[use_mcp_tool for 'a'] Result:", posing))).toEqual([`toolResults: ${posing}`]);
    expect(brief(user(text('[update_todo_list] Result:'), text("[read_file for 'a'] Result:\nx")))).toEqual([
      'toolResults: x',
    ]);
    expect(brief({ role: 'system', content: '[read_file] Result:\nx' })).toEqual([
      'messageText: [read_file] Result:\nx',
    ]);
  });

  it('are found under unusual keys, but not beyond a maximum depth', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const input: unknown = JSON.parse('{"__proto__": {"constructor": "c"}}');
    expect(brief(assistant(call('a', 'x', { deep, near: 'n' }), call('b', '__proto__', input)))).toEqual([
      'toolParameters: n',
      'toolParameters: c',
    ]);
  });
});
