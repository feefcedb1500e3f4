import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDeclarations, getDeclaredName } from './declarations';
import { MARKER_START } from '../../messages/markers';
import { makeTestMarker } from '../../testing';

/** Returns the lines that declare something. */
const listDeclarations = (text: string, isMarkdown = false): string[] => {
  const lines = text.split('\n').map((line) => ({ text: line, isMarker: line.includes(MARKER_START) }));
  const declares = findDeclarations(lines, isMarkdown);
  return lines.filter((_, index) => declares[index]).map((line) => line.text.trim());
};

describe('declarations in source code', () => {
  it('are found in Go', () => {
    const text = [
      'package cli',
      '',
      'import (',
      '\t"fmt"',
      ')',
      '',
      '// Store keeps things.',
      'type Store struct {',
      '\tname string',
      '}',
      '',
      'const (',
      '\tfirst = 1',
      ')',
      '',
      'func (s *Store) Get(key string) error {',
      '\tfor i := range 3 {',
      '\t\tfmt.Println(i)',
      '\t}',
      '\tgo func() {',
      '\t\tfmt.Println()',
      '\t}()',
      '\treturn nil',
      '}',
    ].join('\n');
    expect(listDeclarations(text)).toEqual([
      'package cli',
      'type Store struct {',
      'const (',
      'first = 1',
      ')',
      'func (s *Store) Get(key string) error {',
    ]);
  });

  it('are found in TypeScript, including parameters on their own lines', () => {
    const text = [
      "import { a } from './a';",
      'export abstract class Reader<T> {',
      '  private readonly known = new Map<string, T>();',
      '  constructor(private readonly path: string) {',
      '    this.path = path;',
      '  }',
      '  async read(',
      '    path: string,',
      '  ): Promise<T> {',
      '    if (path) {',
      '      return call(path);',
      '    }',
      '    const inner = (x: number) => {',
      '      return x;',
      '    };',
      '  }',
      '}',
      'export const run = async (): Promise<void> => {',
      '  await wait();',
      '};',
      'const LIMIT = 3;',
    ].join('\n');
    expect(listDeclarations(text)).toEqual([
      'export abstract class Reader<T> {',
      'constructor(private readonly path: string) {',
      'async read(',
      'path: string,',
      '): Promise<T> {',
      'export const run = async (): Promise<void> => {',
    ]);
  });

  it('are found in Python, Rust, Java and YAML', () => {
    expect(
      listDeclarations(
        'class A(Base):\n    """Doc."""\n    def run(self):\n        for x in y:\n            pass\n\nX = 1\n',
      ),
    ).toEqual(['class A(Base):', 'def run(self):']);
    expect(
      listDeclarations(
        'pub(crate) fn run() {\n    let x = 1;\n}\nimpl A {\n    pub fn go(&self) {\n        x();\n    }\n}\n',
      ),
    ).toEqual(['pub(crate) fn run() {', 'impl A {', 'pub fn go(&self) {']);
    expect(
      listDeclarations(
        'public class A {\n    public int go(int a) {\n        while (true) {\n            b();\n        }\n    }\n}',
      ),
    ).toEqual(['public class A {', 'public int go(int a) {']);
    expect(listDeclarations('version: 2\njobs:\n  build:\n    steps: 1\n# comment\nother: 3')).toEqual(['jobs:']);
  });

  it('are the headings in Markdown, and text without structure has none', () => {
    expect(listDeclarations('# Title\n\nWords.\n\n## Part\n- item\n  - deeper', true)).toEqual(['# Title', '## Part']);
    expect(listDeclarations('2026-01-01 started\n2026-01-01 ended\n# not a heading\n')).toEqual([]);
  });

  it('are still found if the text after them was removed', () => {
    const text = `func a() {\n${makeTestMarker('lines 2-9')}\n}\nfunc b() {\n${makeTestMarker('lines 12-19', 'abcdee')}\n}`;
    expect(listDeclarations(text)).toEqual(['func a() {', 'func b() {']);
  });

  it('end even if their parentheses are never closed', () => {
    expect(listDeclarations(`function f(\n${'  a,\n'.repeat(50)}`)).toEqual(['function f(']);
  });
});

describe('the name that a line declares', () => {
  it.each([
    ['func (s *Store) Get(key string) error {', 'Get'],
    ['func Map[T any](list []T) {', 'Map'],
    ['type Store struct {', 'Store'],
    ['export abstract class Reader<T> {', 'Reader'],
    ['  private async read<T>(', 'read'],
    ['export const handler: Handler = wrap(async () => {', 'handler'],
    ['export function* steps(): Steps {', 'steps'],
    ['object.method = function () {', 'object.method'],
    ['impl<T> Store<T> for Map {', 'Store'],
    ['pub(crate) enum class Kind {', 'Kind'],
    ['macro_rules! list {', 'list'],
    ['  def self.build(name)', 'self.build'],
    ['    async def fetch(self) -> None:', 'fetch'],
    ['public static List<String> namesOf(Map<String, Integer> counts) {', 'namesOf'],
    ['void Store::put(int key) {', 'Store::put'],
    ['CREATE TABLE IF NOT EXISTS users (', 'users'],
    ['services:', 'services'],
    ['.button:hover {', 'button'],
    ['класс = {', 'класс'],
    [`function ${'a'.repeat(60)}() {`, 'a'.repeat(40)],
  ])('is found in the line %s', (line, name) => {
    expect(getDeclaredName(line, false)).toBe(name);
  });

  it.each(['', '{', 'package cli', "  it('takes what is there', () => {", 'export default function (x) {', 'x {'])(
    'is undefined for the line %j',
    (line) => {
      expect(getDeclaredName(line, false)).toBeUndefined();
    },
  );

  it('is a heading’s text, as far as a marker can contain it', () => {
    expect(getDeclaredName('## 2. The way of a message: from chat to model', true)).toBe('2. The way of a message');
    expect(getDeclaredName('# ⟦condensed⟧ · ref abcdef', true)).toBe('condensed');
    expect(getDeclaredName('### ---', true)).toBeUndefined();
  });

  it('is part of the line, and found in time linear in its beginning', () => {
    const piece = fc.constantFrom(
      'class',
      'func',
      '(',
      ')',
      '<',
      '>',
      '::',
      '.',
      ' ',
      'x',
      'é',
      '😀',
      '=',
      '⟦',
      '# ',
      '1',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 400 }), fc.boolean(), (pieces, isMarkdown) => {
        const line = pieces.join('');
        const name = getDeclaredName(line, isMarkdown);
        expect(line).toContain(name ?? '');
        expect(name ?? '').not.toMatch(/[⟦⟧·;,\n]/u);
      }),
    );
    for (const part of ['func (', 'a<', 'a.', 'a::', '(', '<', 'class '])
      expect(getDeclaredName(part.repeat(300_000), false)).toBe(getDeclaredName(part.repeat(300), false));
  });
});
