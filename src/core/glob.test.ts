import { describe, expect, it } from 'vitest';
import { fileMatcher, toolMatcher } from './glob';

describe('toolMatcher', () => {
  it.each([
    ['Read', 'Read', true],
    ['Read', 'ReadMany', false],
    ['mcp__*', 'mcp__github__search', true],
    ['*_file', 'read_file', true],
    ['?ead', 'Read', true],
    ['{Read,Write}', 'Write', true],
    ['{Read', '{Read', true],
    ['a.b', 'aXb', false],
    ['(x|y)', '(x|y)', true],
    ['', 'Read', false],
  ])('%s on %s: %s', (pattern, name, expected) => {
    expect(toolMatcher([pattern])(name)).toBe(expected);
  });

  it('matches nothing without a pattern', () => {
    expect(toolMatcher([])('Read')).toBe(false);
  });
});

describe('fileMatcher', () => {
  it.each([
    ['*.md', '/home/me/project/README.md', true],
    ['docs/**', '/project/docs/a/b.md', true],
    ['docs/*.md', '/project/docs/a/b.md', false],
    ['src/**/*.test.ts', 'src/a.test.ts', true],
    ['src/**/*.test.ts', 'src/core/deep/a.test.ts', true],
    ['/etc/*', '/etc/hosts', true],
    ['/etc/*', '/project/etc/hosts', false],
    ['**/*.{md,mdx}', 'a/b.mdx', true],
    ['./package.json', '/p/package.json', true],
    ['src\\*.ts', 'C:\\project\\src\\a.ts', true],
    ['src/*.ts', 'C:\\Project\\SRC\\A.TS', true],
    ['C:/project/**', 'c:\\Project\\src\\a.ts', true],
    ['src/*.ts', '/project/SRC/a.ts', false],
    ['a?c.ts', 'a/c.ts', false],
    ['\u{1F600}.md', 'x/\u{1F600}.md', true],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(fileMatcher([pattern])(path)).toBe(expected);
  });

  it('answers a hostile pattern', () => {
    expect(fileMatcher([`${'*a'.repeat(200)}b`])('a'.repeat(2_000))).toBe(false);
    expect(fileMatcher(['{a,b}'.repeat(30)])('a'.repeat(30))).toBe(false);
  });

  it('writes braces out only as long as they are few', () => {
    const list = `{${Array.from({ length: 90 }, (_, index) => `a${index}`).join(',')}}`;
    expect(toolMatcher([list])('a89')).toBe(true);
    expect(toolMatcher([list + list])('a1a2')).toBe(false);
    // Braces beyond the limit are literal.
    expect(toolMatcher([list + list])(`a7${list}`)).toBe(true);
    const hostile = `{${','.repeat(500)}}`.repeat(40);
    expect(toolMatcher([hostile])('a')).toBe(false);
  });

  it('an opening brace that nothing closes takes time in proportion to its length', () => {
    const open = `{${','.repeat(300_000)}`;
    expect(toolMatcher([open])(open)).toBe(true);
  });
});
