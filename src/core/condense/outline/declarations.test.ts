import { describe, expect, it } from 'vitest';
import { declarationsIn } from './declarations';
import { MARKER_START } from '../../messages/markers';
import { someMarker } from '../../testing';

/** The lines that declare something. */
const outlineOf = (text: string, isMarkdown = false): string[] => {
  const lines = text.split('\n').map((line) => ({ text: line, isMarker: line.includes(MARKER_START) }));
  const declares = declarationsIn(lines, isMarkdown);
  return lines.filter((_, index) => declares[index]).map((line) => line.text.trim());
};

describe('declarations', () => {
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
    expect(outlineOf(text)).toEqual([
      'package cli',
      'type Store struct {',
      'const (',
      'first = 1',
      ')',
      'func (s *Store) Get(key string) error {',
    ]);
  });

  it('are found in TypeScript, with the parameters that stand on lines of their own', () => {
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
    expect(outlineOf(text)).toEqual([
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
      outlineOf('class A(Base):\n    """Doc."""\n    def run(self):\n        for x in y:\n            pass\n\nX = 1\n'),
    ).toEqual(['class A(Base):', 'def run(self):']);
    expect(
      outlineOf('pub(crate) fn run() {\n    let x = 1;\n}\nimpl A {\n    pub fn go(&self) {\n        x();\n    }\n}\n'),
    ).toEqual(['pub(crate) fn run() {', 'impl A {', 'pub fn go(&self) {']);
    expect(
      outlineOf(
        'public class A {\n    public int go(int a) {\n        while (true) {\n            b();\n        }\n    }\n}',
      ),
    ).toEqual(['public class A {', 'public int go(int a) {']);
    expect(outlineOf('version: 2\njobs:\n  build:\n    steps: 1\n# comment\nother: 3')).toEqual(['jobs:']);
  });

  it('are the headings of Markdown, and there are none in text without structure', () => {
    expect(outlineOf('# Title\n\nWords.\n\n## Part\n- item\n  - deeper', true)).toEqual(['# Title', '## Part']);
    expect(outlineOf('2026-01-01 started\n2026-01-01 ended\n# not a heading\n')).toEqual([]);
  });

  it('stay declarations where the text behind them was taken out', () => {
    const text = `func a() {\n${someMarker('lines 2-9')}\n}\nfunc b() {\n${someMarker('lines 12-19', 'abcdee')}\n}`;
    expect(outlineOf(text)).toEqual(['func a() {', 'func b() {']);
  });

  it('end where their parentheses never do', () => {
    expect(outlineOf(`function f(\n${'  a,\n'.repeat(50)}`)).toEqual(['function f(']);
  });
});
