import { describe, expect, it } from 'vitest';
import { makeToolExchange } from '../testing';
import { listToolExchanges, type ToolExchange } from './exchanges';
import type { ToolRule } from '../agents/types';
import { getCommandOfCall, DEFAULT_TOOLS, getToolPath, getToolRule, makeToolTable, listParameterValues } from './tools';

const called = (name: string, input: unknown): ToolExchange =>
  listToolExchanges(makeToolExchange('a', name, input, 'x'))[0]!;

const getRule = (name: string, input: unknown = {}) => getToolRule(DEFAULT_TOOLS, called(name, input));

describe('the rule that says what a tool does', () => {
  it("is known for all agents' tools in any letter case, but not for names such as “constructor”", () => {
    expect(
      ['Read', 'read', 'READ_FILE', 'view', 'rg', 'shell', 'TodoWrite', 'Task', 'webfetch'].map(
        (name) => getRule(name)?.kind,
      ),
    ).toEqual(['read', 'read', 'read', 'read', 'search', 'command', 'plan', 'agent', 'fetch']);
    expect(['constructor', '__proto__', 'toString', 'mcp__x__constructor'].map((name) => getRule(name))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each<[string, unknown, Partial<ToolRule>]>([
    [
      'edit',
      { path: 'a', edits: [{ oldText: 'x', newText: 'y' }] },
      { kind: 'edit', old: ['edits[].oldText', 'oldText'] },
    ],
    ['edit', { input: '*** Begin Patch' }, { kind: 'edit', patch: ['input'] }],
    ['edit', { filePath: 'a', oldString: 'x', newString: 'y' }, { kind: 'edit', old: ['oldString'] }],
    ['Edit', { file_path: 'a', old_string: 'x', new_string: 'y' }, { kind: 'edit', old: ['old_string'] }],
    ['Read', { file_path: 'a' }, { numbers: expect.arrayContaining(['tab', 'arrow']) as never }],
    ['read', { filePath: 'a' }, { numbers: ['colon', 'bar'] }],
    ['read_file', { target_file: 'a' }, { numbers: ['bar'] }],
    ['read_file', { path: 'a' }, { numbers: ['pipe'] }],
    ['apply_patch', { patchText: 'x' }, { patch: ['patchText'] }],
  ])('depends on the parameters for tools with the same name: %s %j', (name, input, rule) => {
    expect(getRule(name, input)).toMatchObject(rule);
  });

  it.each<[string, unknown, Partial<ToolRule> | undefined]>([
    ['mcp__filesystem__read_file', { path: 'a' }, { kind: 'read', path: ['path', 'file_path', 'files[].path'] }],
    ['mcp__fs__get_file_contents', { path: 'a' }, { kind: 'read', path: ['path'] }],
    ['mcp__fs__directory_tree', { path: 'a' }, { kind: 'list', path: ['path'] }],
    [
      'mcp__ide__replace',
      { file: 'a', find: 'x', replacement: 'y' },
      { kind: 'edit', old: ['find'], new: ['replacement'] },
    ],
    ['save_text', { filename: 'a', text: 'x' }, { kind: 'write', path: ['filename'], content: ['text'] }],
    ['code_lookup', { query: 'x', directory: 'src' }, { kind: 'search', path: ['directory'], pattern: ['query'] }],
    ['mcp__host__run', { cmd: 'ls' }, { kind: 'command', command: ['cmd'] }],
    ['mcp__browser__go', { url: 'https://example.org' }, { kind: 'fetch' }],
    ['mcp__linear__list_issues', { query: 'x' }, undefined],
    ['mcp__docs__get_docs', { topic: 'x' }, undefined],
    ['ctx_execute', { language: 'js', code: 'x' }, undefined],
    ['comment', { path: 'a', content: 'x' }, undefined],
    ['unknown', {}, undefined],
  ])('depends on the parameters for unknown tools: %s %j', (name, input, rule) => {
    if (rule === undefined) expect(getRule(name, input)).toBeUndefined();
    else expect(getRule(name, input)).toMatchObject(rule);
  });

  it('is the user’s own if there is one', () => {
    const own = makeToolTable({ READ: { kind: 'list' } });
    expect(getToolRule(own, called('read', {}))).toEqual({ kind: 'list' });
    expect(getToolRule(own, called('Grep', {}))?.kind).toBe('search');
  });
});

describe('the path of a read', () => {
  it.each<[string, unknown, string | undefined]>([
    ['Read', { file_path: '/a.ts' }, '/a.ts'],
    ['Read', { file_path: '', path: 'b.ts' }, 'b.ts'],
    ['read_file', { args: '<file><path> c.ts </path></file>' }, 'c.ts'],
    ['read_file', { args: '<path>a</path><path>b</path>' }, undefined],
    ['read_files', { files: [{ path: 'd.ts', start_line: 1 }] }, 'd.ts'],
    ['read_files', { files: [{ path: 'd.ts' }, { path: 'e.ts' }] }, undefined],
    ['read_files', { files: ['d.ts'] }, undefined],
    ['Read', { file_path: 7 }, undefined],
    ['Unknown', { file_path: '/a.ts' }, undefined],
    ['view', { path: 'C:\\a.ts' }, 'C:\\a.ts'],
    ['read_many_files', { include: ['a', 'b'] }, undefined],
  ])('by %s with %j is %s', (name, input, path) => {
    expect(getToolPath(DEFAULT_TOOLS, called(name, input))).toBe(path);
  });

  it("is taken from the parameters that the agent's table names", () => {
    const tools = makeToolTable({ fetch: { kind: 'read', path: ['target', 'constructor'] }, bare: { kind: 'read' } });
    expect(getToolPath(tools, called('fetch', { target: 't' }))).toBe('t');
    expect(getToolPath(tools, called('fetch', {}))).toBeUndefined();
    expect(getToolPath(tools, called('bare', { path: 'x' }))).toBeUndefined();
  });
});

it.each<[unknown, string | undefined]>([
  [{ command: 'ls -l' }, 'ls -l'],
  [{ cmd: ['ls', '-l'] }, 'ls -l'],
  [{ commands: ['ls', 'pwd'] }, 'ls pwd'],
  [{ command: 7 }, undefined],
])('the command of a call with %j is %s', (input, command) => {
  expect(getCommandOfCall(called('x', input))).toBe(command);
});

it.each<[string, readonly unknown[]]>([
  ['path', ['a']],
  ['files[].path', ['b', 'c']],
  ['list[]', [1, 2]],
  ['task.command', ['ls']],
  ['path.length', []],
  ['path[]', []],
  ['files.path', []],
  ['constructor', []],
  ['none', []],
])('the values at %s in parameters are %j', (parameter, values) => {
  const input = {
    path: 'a',
    files: [{ path: 'b' }, null, { path: 'c' }, { path: '' }],
    list: [1, 2],
    task: { command: 'ls' },
  };
  expect(listParameterValues(input, parameter)).toEqual(values);
});
