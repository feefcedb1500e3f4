import { describe, expect, it } from 'vitest';
import { createFileMatcher, createToolMatcher } from './glob';

describe('a tool name pattern', () => {
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
  ])('matches as expected: %s on %s is %s', (pattern, name, expected) => {
    expect(createToolMatcher([pattern])(name)).toBe(expected);
  });

  it('is not required: without one, no tool matches', () => {
    expect(createToolMatcher([])('Read')).toBe(false);
  });
});

describe('a file path pattern', () => {
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
  ])('matches as expected: %s on %s is %s', (pattern, path, expected) => {
    expect(createFileMatcher([pattern])(path)).toBe(expected);
  });

  it('is matched in little time even if it was made to be slow', () => {
    expect(createFileMatcher([`${'*a'.repeat(200)}b`])('a'.repeat(2_000))).toBe(false);
    expect(createFileMatcher(['{a,b}'.repeat(30)])('a'.repeat(30))).toBe(false);
  });

  it('has braces expanded only up to a limit, and further braces taken literally', () => {
    const list = `{${Array.from({ length: 90 }, (_, index) => `a${index}`).join(',')}}`;
    expect(createToolMatcher([list])('a89')).toBe(true);
    expect(createToolMatcher([list + list])('a1a2')).toBe(false);
    // Braces beyond the limit are literal.
    expect(createToolMatcher([list + list])(`a7${list}`)).toBe(true);
    const hostile = `{${','.repeat(500)}}`.repeat(40);
    expect(createToolMatcher([hostile])('a')).toBe(false);
  });

  it('takes linear time with an opening brace that nothing closes', () => {
    const open = `{${','.repeat(300_000)}`;
    expect(createToolMatcher([open])(open)).toBe(true);
  });
});
