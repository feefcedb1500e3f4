import { describe, expect, it } from 'vitest';
import { assistant, call, readCpuMs, makeToolExchange, user } from '../testing';
import { hasXmlCalls, findXmlCalls, parseXmlResultHeader } from './xmlTools';

/** Returns calls as `tool(parameter=value, …)`. */
const readCalls = (text: string): string[] =>
  findXmlCalls(text).map(
    ({ tool, parameters }) =>
      `${tool}(${parameters.map(({ name, start, end }) => `${name}=${text.slice(start, end)}`).join(', ')})`,
  );

describe('finding calls written as XML in a text', () => {
  it('returns calls between prose, with their parameters', () => {
    const text =
      'Let me look.\n<read_file><path>a.ts</path></read_file> and <list_files><path>src</path><recursive>true</recursive></list_files>';
    expect(readCalls(text)).toEqual(['read_file(path=a.ts)', 'list_files(path=src, recursive=true)']);
    const [first] = findXmlCalls(text);
    expect(text.slice(first!.start, first!.end)).toBe('<read_file><path>a.ts</path></read_file>');
  });

  it('ignores other tags', () => {
    expect(readCalls('<div><path>x</path></div> <thinking>hm</thinking> <b>read_file</b>')).toEqual([]);
  });

  it('returns the whole content of a written file even if it contains tags', () => {
    const content = '<div>\n<content>x</content>\n<path>y</path></write_to_file>\n</content> tail';
    const text = `<write_to_file><path>a.html</path><content>${content}</content><line_count>3</line_count></write_to_file>`;
    expect(readCalls(text)).toEqual([`write_to_file(path=a.html, content=${content}, line_count=3)`]);
  });

  it('returns the whole content of a file that is about the tools themselves, and finds the next call', () => {
    const example = 'Say <write_to_file><path>x</path><content>y</content></write_to_file> to write.';
    const write = (content: string): string =>
      `<write_to_file><path>a.md</path><content>${content}</content></write_to_file>`;
    expect(readCalls(`${write(example)} and ${write('z')}`)).toEqual([
      `write_to_file(path=a.md, content=${example})`,
      'write_to_file(path=a.md, content=z)',
    ]);
    const unclosed = 'It begins with <write_to_file>, you know.';
    expect(readCalls(write(unclosed))).toEqual([`write_to_file(path=a.md, content=${unclosed})`]);
  });

  it('returns nested arguments as one value', () => {
    const args = '<file><path>a.ts</path></file><file><path>b.ts</path></file>';
    expect(readCalls(`<read_file><args>${args}</args></read_file>`)).toEqual([`read_file(args=${args})`]);
  });

  it('ends a truncated call with the text', () => {
    expect(readCalls('<write_to_file><path>a.ts</path><content>half a fi')).toEqual([
      'write_to_file(path=a.ts, content=half a fi)',
    ]);
    expect(readCalls('<execute_command>')).toEqual(['execute_command()']);
  });

  it('takes linear time if tags are never closed', () => {
    const started = readCpuMs();
    findXmlCalls('<read_file><path>'.repeat(20_000));
    findXmlCalls(`<write_to_file>${'<path>'.repeat(50_000)}</write_to_file>`);
    findXmlCalls('<read_file></read_file>'.repeat(20_000));
    expect(readCpuMs() - started).toBeLessThan(1_000);
  });
});

describe('the header of a result of a call written as XML', () => {
  it.each([
    ["[read_file for 'a.ts'] Result:", 'read_file', ''],
    ['[update_todo_list] Result:\n\nDone.', 'update_todo_list', 'Done.'],
    ["[read_file for 'a.ts'. Reading multiple files at once is more efficient.] Result: \t\nbody", 'read_file', 'body'],
    ["[read_file for 'a.ts', 'b.ts'. Reading multiple files at once, isn't it.] Result:\nx", 'read_file', 'x'],
    ['[read_file for 4 files] Result:\n<files>', 'read_file', '<files>'],
    ["[search_files for 'a[0]'] Result:\nfound", 'search_files', 'found'],
    ["[execute_command for 'cat <<EOF\nx\nEOF'] Result:\nok", 'execute_command', 'ok'],
  ])('is parsed in %j', (text, tool, rest) => {
    const header = parseXmlResultHeader(text);
    expect(header?.tool).toBe(tool);
    expect(text.slice(header?.length)).toBe(rest);
  });

  it.each([
    'plain',
    '[Read] Result: x',
    '[a list for you]',
    "[read_file for 'a'] result",
    ' [read_file] Result:',
    '[note for later\nand more] Result: none',
    '[read_file',
  ])('is not found in %j', (text) => {
    expect(parseXmlResultHeader(text)).toBeUndefined();
  });

  it('is searched in linear time on a line made to be slow', () => {
    const started = readCpuMs();
    expect(parseXmlResultHeader(`[a for '${"'".repeat(300_000)}`)).toBeUndefined();
    expect(parseXmlResultHeader(`[${'a'.repeat(300_000)}`)).toBeUndefined();
    expect(readCpuMs() - started).toBeLessThan(1_000);
  });
});

describe('the check whether a conversation has calls written as XML', () => {
  const XML = 'I look.\n<read_file><path>a.ts</path></read_file>';
  const words = { type: 'text', text: XML };

  it('says yes if answers contain calls in their text', () => {
    expect(hasXmlCalls([user('go'), { role: 'assistant', content: XML }])).toBe(true);
    expect(hasXmlCalls([user('go'), assistant({ type: 'text', text: 'Hm.' }, words), user('done')])).toBe(true);
  });

  it('says no if there are no calls, only a person writes about them, or calls are native', () => {
    expect(hasXmlCalls([user('go'), { role: 'assistant', content: 'Well, <b>no</b>.' }])).toBe(false);
    expect(hasXmlCalls([user(XML), { role: 'assistant', content: 'What is that?' }])).toBe(false);
    expect(hasXmlCalls([user('go'), assistant(words, call('1', 'Read'))])).toBe(false);
    expect(hasXmlCalls([user('go'), assistant(words), ...makeToolExchange('1', 'Read', {}, 'a')])).toBe(false);
  });
});
