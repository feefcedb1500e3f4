import { describe, expect, it } from 'vitest';
import { exchange } from '../testing';
import { toolExchanges, type ToolExchange } from './exchanges';
import { commandOf, DEFAULT_TOOLS, pathOf, ruleFor } from './tools';

const called = (name: string, input: unknown): ToolExchange => toolExchanges(exchange('a', name, input, 'x'))[0]!;

describe('ruleFor', () => {
  it('knows the tools of several agents, and none that only objects have', () => {
    expect(
      ['Read', 'read_file', 'view', 'Grep', 'shell', 'TodoWrite'].map((name) => ruleFor(DEFAULT_TOOLS, name)?.kind),
    ).toEqual(['read', 'read', 'read', 'search', 'command', 'plan']);
    expect(['constructor', '__proto__', 'toString', 'read'].map((name) => ruleFor(DEFAULT_TOOLS, name))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('pathOf', () => {
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
  ])('%s with %j: %s', (name, input, path) => {
    expect(pathOf(DEFAULT_TOOLS, called(name, input))).toBe(path);
  });

  it('goes by the parameters that a table names', () => {
    const tools = { fetch: { kind: 'read', path: ['target', 'constructor'] }, bare: { kind: 'read' } } as const;
    expect(pathOf(tools, called('fetch', { target: 't' }))).toBe('t');
    expect(pathOf(tools, called('fetch', {}))).toBeUndefined();
    expect(pathOf(tools, called('bare', { path: 'x' }))).toBeUndefined();
  });
});

it.each<[unknown, string | undefined]>([
  [{ command: 'ls -l' }, 'ls -l'],
  [{ cmd: ['ls', '-l'] }, 'ls -l'],
  [{ commands: ['ls', 'pwd'] }, 'ls pwd'],
  [{ command: 7 }, undefined],
])('commandOf %j: %s', (input, command) => {
  expect(commandOf(called('x', input))).toBe(command);
});
