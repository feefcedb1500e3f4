import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assistant, call, makeToolExchange, result, text, user, readCpuMs } from '../testing';
import { Exchanges, getContentPlace, listToolExchanges } from './exchanges';
import type { ApiMessage } from './types';

const brief = (messages: readonly ApiMessage[]): string[] =>
  listToolExchanges(messages).map(
    ({ tool, callMessage, resultMessage, resultText, isError }) =>
      `${callMessage} ${tool} -> ${resultMessage ?? 'nothing'} ${resultText.slice(0, 20)}${isError ? ' (error)' : ''}`,
  );

describe('results of native calls', () => {
  it('are paired with their calls by ID, in the order of the calls', () => {
    const messages = [
      user('go'),
      assistant('both', call('a', 'Read', { file_path: 'x' }), call('b', 'Grep')),
      user(result('b', 'found'), result('a', [text('one'), { type: 'image', source: {} }, text('two')])),
    ];
    expect(brief(messages)).toEqual(['1 Read -> 2 one\ntwo', '1 Grep -> 2 found']);
    const [read] = listToolExchanges(messages);
    expect(read?.input).toEqual({ file_path: 'x' });
    expect(read?.parameters.map(getContentPlace)).toEqual([{ message: 1, path: ['content', 1, 'input', 'file_path'] }]);
    expect(read?.results.map((part) => part.path)).toEqual([
      ['content', 1, 'content', 0, 'text'],
      ['content', 1, 'content', 2, 'text'],
    ]);
  });

  it("count as errors if their error field or the agent's usual wording says so", () => {
    expect(
      brief([
        ...makeToolExchange('a', 'Bash', {}, 'boom', { is_error: true }),
        ...makeToolExchange('b', 'Bash', {}, 'The tool execution failed with an error'),
        ...makeToolExchange('c', 'Bash', {}, 'no Error: here'),
      ]),
    ).toEqual(['0 Bash -> 1 boom (error)', '2 Bash -> 3 The tool execution f (error)', '4 Bash -> 5 no Error: here']);
  });

  it('may be missing or empty, for calls whose input is not an object', () => {
    const messages = [assistant(call('a', 'Read', 'broken {'), call('b', 'Read')), user(result('b')), user('stop')];
    expect(brief(messages)).toEqual(['0 Read -> nothing ', '0 Read -> 1 ']);
    expect(listToolExchanges(messages)[0]?.input).toEqual({});
  });

  it('belong to their own calls even if an ID is used in several turns', () => {
    expect(
      brief([
        ...makeToolExchange('same', 'Read', {}, 'first'),
        ...makeToolExchange('same', 'Read', {}, 'second'),
        assistant(call('same', 'Read')),
        assistant(call('same', 'Read')),
        user(result('same', 'last'), result('same', 'nobody asked')),
      ]),
    ).toEqual(['0 Read -> 1 first', '2 Read -> 3 second', '4 Read -> nothing ', '5 Read -> 6 last']);
  });

  it('are never paired with a call that comes later', () => {
    expect(brief([user(result('a', 'early')), assistant(call('a', 'Read'))])).toEqual(['1 Read -> nothing ']);
  });

  it('that share an ID in one message belong to its calls in order, even if the ID is reused later', () => {
    const messages = [
      assistant(call('a', 'Read'), call('a', 'Grep')),
      user(result('a', 'first'), result('a', 'second'), result('a', 'nobody’s')),
      assistant(call('a', 'Edit')),
      assistant(call('a', 'Write')),
      user(result('a', 'third')),
    ];
    expect(brief(messages)).toEqual([
      '0 Read -> 1 first',
      '0 Grep -> 1 second',
      '2 Edit -> nothing ',
      '3 Write -> 4 third',
    ]);
  });

  it('are found for calls named "__proto__" or "constructor"', () => {
    const input: unknown = JSON.parse('{"__proto__": "p", "constructor": "c"}');
    const [first] = listToolExchanges(makeToolExchange('constructor', '__proto__', input, 'x'));
    expect(first?.tool).toBe('__proto__');
    expect(first?.parameters.map((content) => content.text)).toEqual(['p', 'c']);
  });

  it('are paired in linear time if one message has thousands', () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `id${index}`);
    const messages = [
      assistant(...ids.map((id) => call(id, 'Read', { file_path: id }))),
      user(...ids.map((id) => result(id, id))),
    ];
    const started = readCpuMs();
    expect(listToolExchanges(messages).every((one) => one.resultText === one.input['file_path'])).toBe(true);
    expect(readCpuMs() - started).toBeLessThan(1_000);
  });
});

describe('results of calls written as XML', () => {
  const makeCall = (tool: string, path: string): string => `<${tool}><path>${path}</path></${tool}>`;

  it('are those in the next message, in order for each tool', () => {
    const messages = [
      user('go'),
      assistant(`Reading. ${makeCall('read_file', 'a')}${makeCall('list_files', 'src')}${makeCall('read_file', 'b')}`),
      user(
        text("[read_file for 'a'] Result:"),
        text('text of a'),
        text("[read_file for 'b'] Result:\ntext of b"),
        text('[list_files] Result:\nx.ts'),
        text('<environment_details>\nnow\n</environment_details>'),
      ),
    ];
    expect(brief(messages)).toEqual([
      '1 read_file -> 2 text of a',
      '1 list_files -> 2 x.ts',
      '1 read_file -> 2 text of b',
    ]);
    expect(listToolExchanges(messages).map(({ input }) => input['path'])).toEqual(['a', 'src', 'b']);
    expect(listToolExchanges(messages).map(({ parameters }) => parameters.map((one) => one.text))).toEqual([
      ['a'],
      ['src'],
      ['b'],
    ]);
  });

  it('are found in string content and in blocks', () => {
    const messages = [assistant(makeCall('read_file', 'a')), user("[read_file for 'a'] Result:\n<error>gone</error>")];
    expect(brief(messages)).toEqual(['0 read_file -> 1 <error>gone</error> (error)']);
  });

  it('may be empty and leave the next header to the next call', () => {
    const messages = [
      assistant(makeCall('execute_command', 'x') + makeCall('read_file', 'a')),
      user(text("[execute_command for 'x'] Result:"), text("[read_file for 'a'] Result:"), text('text')),
    ];
    expect(brief(messages)).toEqual(['0 execute_command -> nothing ', '0 read_file -> 1 text']);
  });

  it('are missing if the user says something else or nothing', () => {
    expect(brief([assistant(makeCall('read_file', 'a')), user('no'), assistant(makeCall('read_file', 'b'))])).toEqual([
      '0 read_file -> nothing ',
      '2 read_file -> nothing ',
    ]);
    expect(brief([assistant(makeCall('read_file', 'a')), assistant('more')])).toEqual(['0 read_file -> nothing ']);
    expect(brief([user("[read_file for 'a'] Result:\nwhat the user quotes"), assistant('ok')])).toEqual([]);
  });
});

const ROO = new URL('../../../../shared/corpus/roo/', import.meta.url);
const present = existsSync(ROO);
if (!present) console.warn(`SKIPPED: no Roo histories at ${ROO.pathname}`);

describe.skipIf(!present)('a real Roo conversation', () => {
  const load = (name: string): ApiMessage[] =>
    JSON.parse(readFileSync(new URL(`${name}/api_conversation_history.json`, ROO), 'utf8')) as ApiMessage[];

  it('has 15 reads, each with the file that it read', () => {
    const reads = listToolExchanges(load('synthetic-2-heavy-read')).filter(({ tool }) => tool === 'read_file');
    expect(reads).toHaveLength(15);
    for (const { input, resultText } of reads) {
      const path = /<path>(.*)<\/path>/.exec(String(input['args']))?.[1];
      expect(resultText.slice(0, 400)).toContain(`<file><path>${path ?? '?'}</path>`);
      expect(resultText).not.toContain('<environment_details>');
    }
  });

  it('has every call answered, and files with nested tags whole', () => {
    const all = listToolExchanges(load('synthetic-4-mixed-ops'));
    expect(all.filter(({ resultMessage }) => resultMessage === undefined)).toEqual([]);
    const writes = all.filter(({ tool }) => tool === 'write_to_file');
    expect(writes).toHaveLength(8);
    for (const { input } of writes) {
      expect(Object.keys(input)).toEqual(['path', 'content', 'line_count']);
      expect(input['content']).toMatch(/\S\n$/);
      expect(input['line_count']).toMatch(/^\d+$/);
    }
  });
});

it('parsing the same messages again gives the same objects for tool calls, even after a copy was parsed in between', () => {
  const messages = makeToolExchange('a', 'Read', { file_path: 'a.ts' }, 'text');
  const [caller, answer] = messages as [ApiMessage, ApiMessage];
  const views = [messages, [caller, { ...answer }], [{ ...caller }, answer]];
  const first = views.map((view) => listToolExchanges(view)[0]);
  expect(new Set(first).size).toBe(3);
  views.forEach((view, at) => {
    expect(listToolExchanges(view)[0]).toBe(first[at]);
  });
});

describe('the tool calls of a conversation that changes', () => {
  /** Native and XML blocks with only a few different IDs and tools, so that many of them match. */
  const message: fc.Arbitrary<ApiMessage> = fc.oneof(
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('Read', 'Bash')), { maxLength: 3 })
      .map((calls) => ({
        role: 'assistant' as const,
        content: calls.map(([id, name]) => ({ type: 'tool_use' as const, id, name, input: { path: id } })),
      })),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('one', 'Error: two')), { maxLength: 3 })
      .map((answers) => ({
        role: 'user' as const,
        content: answers.map(([id, content]) => ({ type: 'tool_result' as const, tool_use_id: id, content })),
      })),
    fc.array(fc.constantFrom('read_file', 'list_files'), { maxLength: 2 }).map((tools) => ({
      role: 'assistant' as const,
      content: tools.map((tool) => `<${tool}>\n<path>a</path>\n</${tool}>`).join('\n') || 'text',
    })),
    fc.array(fc.constantFrom('read_file', 'list_files'), { maxLength: 2 }).map((tools) => ({
      role: 'user' as const,
      content: tools.flatMap((tool) => [
        { type: 'text' as const, text: `[${tool} for 'a'] Result:` },
        { type: 'text' as const, text: 'content' },
      ]),
    })),
  );

  it('equal those found by reading the conversation from scratch', () => {
    const change = fc.record({ at: fc.nat(30), message, keep: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.array(change, { maxLength: 12 }), (start, changes) => {
        const exchanges = new Exchanges();
        let messages = start;
        for (const { at, message: other, keep } of changes) {
          const known = exchanges.getExchanges(messages);
          expect(known).toEqual(listToolExchanges(messages));
          expect(exchanges.getExchanges(messages.slice())).toBe(known);
          const where = at % (messages.length + 1);
          const copy = { ...(messages[where] ?? other) };
          // Removes the messages from this index on, replaces the message by a copy or a different
          // message, or appends a message at the end.
          messages = keep === 0 ? messages.slice(0, where) : messages.toSpliced(where, 1, keep === 1 ? copy : other);
        }
      }),
    );
  });
});
