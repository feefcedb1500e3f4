import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommandSteps } from './commandSteps';
import { splitCommandOutput } from './outputParts';
import { makeTestMarker } from '../../testing';

/** Returns `path:first line:line prefix` and the text for each part. */
function splitOutput(line: string, output: string): (readonly [string, string])[] {
  return splitCommandOutput(parseCommandSteps(line) ?? [], output).map(
    ({ path, firstLine, linePrefix, start, end }) => [
      [path, firstLine ?? '?', linePrefix ?? ''].join(':').replace(/:$/, ''),
      output.slice(start, end),
    ],
  );
}

const numbered = (first: number, last: number): string =>
  Array.from({ length: last - first + 1 }, (_, at) => `line ${first + at}\n`).join('');

describe("the output of one command in an agent's shell call", () => {
  it('is searched only once for an error message, even if its next colon is millions of characters away', () => {
    const output = `${'\n'.repeat(4_000_000)}x: y`;
    expect(splitOutput('cat a.c', output)).toEqual([['a.c:1', output]]);
  });

  it('is attributed to the file that the command prints', () => {
    expect(splitOutput('cat a.c', 'one\ntwo\n')).toEqual([['a.c:1', 'one\ntwo']]);
    expect(splitOutput("sed -n '5,6p' a.c", 'five\nsix\n')).toEqual([['a.c:5', 'five\nsix']]);
    expect(splitOutput('nl -ba a.c | sed -n 5,6p', '     5\tfive\n     6\tsix\n')).toEqual([
      ['a.c:?:tab', '     5\tfive\n     6\tsix'],
    ]);
    expect(splitOutput('tail -2 a.c', 'x\ny\n')).toEqual([['a.c:?', 'x\ny']]);
    expect(splitOutput('git show HEAD~1:a.c | head -5', 'one\n')).toEqual([['a.c:1', 'one']]);
  });

  it('is attributed to the ranges of a file that the command prints', () => {
    expect(splitOutput("sed -n '1,2p;9,10p' a.c", '1\n2\n9\n10\n')).toEqual([
      ['a.c:1', '1\n2'],
      ['a.c:9', '9\n10'],
    ]);
  });

  it('is attributed to several files by their headers or prefixes', () => {
    expect(splitOutput('head -2 a.c b.c', '==> a.c <==\n1\n2\n\n==> b.c <==\n3\n')).toEqual([
      ['a.c:?', '1\n2'],
      ['b.c:?', '3'],
    ]);
    expect(splitOutput('rg -n x src', 'src/a.c:3:x\nsrc/a.c:9:xx\nsrc/b.c:1:x\n')).toEqual([
      ['src/a.c:?:search', 'src/a.c:3:x\nsrc/a.c:9:xx'],
      ['src/b.c:?:search', 'src/b.c:1:x'],
    ]);
    expect(splitOutput('cd w && grep -n x a.c', '3:x\n9:xx\n')).toEqual([['w/a.c:?:search', '3:x\n9:xx']]);
    expect(
      splitOutput('git diff', 'diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n'),
    ).toEqual([['x.c:1:diff', ' a\n-b\n+c']]);
  });

  it.each([
    ['prints several files with nothing between', 'cat a.c b.c', 'one\ntwo\n'],
    ['is not known', './build.sh', 'one\ntwo\n'],
    ['says that it failed', 'cat a.c', 'cat: a.c: No such file or directory\n'],
    ['is not found', 'sed -n 1,5p a.c', 'bash: line 1: sed: command not found\n'],
    ['changes the lines', "sed 's/a/b/' a.c", 'one\n'],
    ['prints more than it was asked for', 'head -2 a.c', 'one\ntwo\nthree\n'],
  ])('is not attributed to a file if the command %s', (_, line, output) => {
    expect(splitOutput(line, output)).toEqual([]);
  });
});

describe('the output of several commands in one shell call', () => {
  it('is separated at text that the commands print in between', () => {
    expect(splitOutput("echo '== a'; cat a.c; echo '== b'; cat b.c", '== a\none\n== b\ntwo\n')).toEqual([
      ['a.c:1', 'one'],
      ['b.c:1', 'two'],
    ]);
    expect(splitOutput("cat a.c && printf '\\n---\\n' && cat b.c", 'one\n\n---\ntwo\n')).toEqual([
      ['a.c:1', 'one'],
      ['b.c:1', 'two'],
    ]);
  });

  it('is separated at a jump of line numbers', () => {
    const counted = (first: number, last: number): string =>
      Array.from(
        { length: last - first + 1 },
        (_, at) => `${String(first + at).padStart(6)}\tline ${first + at}\n`,
      ).join('');
    const a = counted(230, 240);
    const b = counted(1, 3);
    const c = counted(7, 9);
    const line = "nl -ba a.c | sed -n '230,275p'; nl -ba b.c | sed -n '1,80p'; nl -ba b.c | sed -n '7,9p'";
    expect(splitOutput(line, a + b + c)).toEqual([
      ['a.c:?:tab', a.trimEnd()],
      ['b.c:?:tab', b.trimEnd()],
      ['b.c:?:tab', c.trimEnd()],
    ]);
    // Some lines and some line numbers are missing, but the last number of the sequence still shows
    // which file the lines are from.
    const condensed = a
      .split('\n')
      .map((text, at) => (at > 0 && at < 10 ? text.replace(/^ *\d+\t/, '') : text))
      .toSpliced(3, 4, makeTestMarker('4 lines, shown above'))
      .join('\n');
    expect(splitOutput(line, condensed + b + c).map(([path]) => path)).toEqual(['a.c:?:tab', 'b.c:?:tab', 'b.c:?:tab']);
    // Two outputs start with the same line number, so the lines can't be attributed.
    expect(splitOutput("./x; nl -ba a.c | sed -n '5,9p'", counted(5, 6) + counted(5, 6))).toEqual([]);
  });

  it('is separated if the commands print parts of one file from its beginning on', () => {
    const line = "sed -n '1,4p' a.c && sed -n '11,14p' a.c && sed -n '21,24p' a.c";
    expect(splitOutput(line, numbered(1, 4) + numbered(11, 14) + numbered(21, 22)).map(([path]) => path)).toEqual([
      'a.c:1',
      'a.c:11',
      'a.c:21',
    ]);
    expect(splitOutput(line, numbered(1, 4) + numbered(11, 13)).map(([path]) => path)).toEqual(['a.c:1', 'a.c:11']);
  });

  it('is not separated if a file itself contains the separating line', () => {
    expect(splitOutput("cat a.c; echo '---'; cat b.c", 'one\n---\n---\ntwo\n')).toEqual([]);
  });

  it('is separated by length if each command printed all the lines requested', () => {
    expect(splitOutput("sed -n '1,3p' a.c; sed -n '5,6p' b.c", numbered(1, 3) + numbered(5, 6))).toEqual([
      ['a.c:1', 'line 1\nline 2\nline 3'],
      ['b.c:5', 'line 5\nline 6'],
    ]);
  });

  it('is attributed to a command only if it cannot belong to another command', () => {
    // The commands print at most three and two lines, but there are four, so one file was shorter.
    expect(splitOutput("sed -n '1,3p' a.c; sed -n '5,6p' b.c", 'a\nb\nc\nd\n')).toEqual([
      ['a.c:1', 'a\nb'],
      ['b.c:?', 'd'],
    ]);
    expect(splitOutput('cat a.c; cat b.c', 'a\nb\n')).toEqual([]);
    expect(splitOutput('git status; cat b.c', 'a\nb\n')).toEqual([]);
  });

  it('is separated by the form of search results and status lines', () => {
    expect(
      splitOutput("sed -n '1,2p' a.c; rg -n x src; git status --short", 'one\ntwo\nsrc/b.c:3:x\n M a.c\n'),
    ).toEqual([
      ['a.c:1', 'one\ntwo'],
      ['src/b.c:?:search', 'src/b.c:3:x'],
    ]);
  });

  it('is separated without a command that would run only after a failure', () => {
    expect(splitOutput('cat a.c || echo none', 'one\n')).toEqual([['a.c:1', 'one']]);
    expect(splitOutput('cd x && mkdir -p y && cat a.c', 'one\n')).toEqual([['x/a.c:1', 'one']]);
  });

  it('is separated despite an error message of one command', () => {
    expect(splitOutput("cat a.c; echo '== b'; cat b.c", 'one\n== b\ncat: b.c: No such file or directory\n')).toEqual([
      ['a.c:1', 'one'],
    ]);
  });
});

const CUT = '…5 tokens truncated…\n';

describe('the output of an agent’s shell call', () => {
  it.each<[string, string, string, (readonly [string, string])[]]>([
    ['matches without numbers', 'grep x src/a.c', 'ax\nbx\n', [['src/a.c:?', 'ax\nbx']]],
    [
      'groups of context',
      'grep -A1 x src/a.c',
      'ax\nb\n--\ncx\nd\n',
      [
        ['src/a.c:?', 'ax\nb'],
        ['src/a.c:?', 'cx\nd'],
      ],
    ],
    ['a search of a folder by a name with an ending', 'grep x src/a.c', 'src/a.c/b.c:ax\n', []],
    ['the same with numbers', 'rg -n x a.c', 'a.c/b.c:3:x\n', [['a.c/b.c:?:search', 'a.c/b.c:3:x']]],
    ['matches without numbers in several files', 'grep -r x src', 'src/a.c:x\n', []],
    ['a search that was cut', 'grep -n x a.c', `1:x\n${CUT}9:x\n`, []],
    [
      'a search of several files that was cut',
      'rg -n x src',
      `src/a.c:1:x\n${CUT}src/b.c:2:x\n`,
      [
        ['src/a.c:?:search', 'src/a.c:1:x'],
        ['src/b.c:?:search', 'src/b.c:2:x'],
      ],
    ],
    [
      'matches with context, of which one has lost its path',
      'rg -n -A1 x src',
      'noise\nsrc/a.c:3:x\nsrc/a.c-4-y\n--\nsrc/a.c:9:x\n11:x\n',
      [
        ['src/a.c:?:search', 'src/a.c:3:x\nsrc/a.c-4-y'],
        ['src/a.c:?:search', 'src/a.c:9:x\n11:x'],
      ],
    ],
    ['a search in an unknown folder', 'cd "$D"; rg -n x', 'src/a.c:3:x\n', []],
    [
      'a diff in an unknown folder',
      'cd "$D"; git diff',
      'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n',
      [],
    ],
    ['a file that was cut at its beginning', 'cat a.c', `${CUT}last\n`, [['a.c:?', 'last']]],
    ['a file that was cut at its end', 'cat a.c', `one\n${CUT.trim()}`, [['a.c:1', 'one']]],
    [
      'a numbered file that was cut',
      'cat -n a.c',
      `     1\tone\n${CUT}    90\tlast\n`,
      [
        ['a.c:?:tab', '     1\tone'],
        ['a.c:?:tab', '    90\tlast'],
      ],
    ],
    ['ranges behind the end of the file', "sed -n '1,2p;9,10p' a.c", '1\n', [['a.c:1', '1']]],
    ['heads of which one was cut', 'head -2 a.c b.c', `==> a.c <==\n1\n${CUT}\n==> b.c <==\n3\n`, [['b.c:?', '3']]],
    [
      'a text with a blank line behind that nobody asked for',
      "head -1 a.c; echo '---'; cat b.c",
      'one\n\n---\ntwo\n',
      [
        ['a.c:1', 'one'],
        ['b.c:1', 'two'],
      ],
    ],
    ['a diff that is empty', 'git diff; cat b.c', 'a\nb\n', [['b.c:1', 'a\nb']]],
    ['a diff and a file', 'git diff; cat b.c', 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nc\n', []],
    ['more lines than were asked for', 'head -1 a.c; head -1 b.c', 'a\nb\nc\n', []],
    ['two files with a cut', 'cat a.c; head -2 b.c', `a\n${CUT}b\n`, []],
    ['a text without a line end', "printf 'x'; cat a.c", 'xone\ntwo\n', [['a.c:?', 'two']]],
    ['a text of two lines', "printf 'a\\nb\\n'; cat a.c", 'a\nb\none\n', [['a.c:?', 'one']]],
    ['a blank text', 'echo; cat a.c', '\none\n', [['a.c:?', 'one']]],
    ['a text that is missing', "cat a.c; echo '---'; cat b.c", 'one\n', []],
    ['texts in another order', 'echo a; cat x.c; echo b', 'b\none\na\n', []],
    [
      'a cut behind a text',
      "echo '== a'; cat a.c",
      `== a\none\n${CUT}last\n`,
      [
        ['a.c:1', 'one'],
        ['a.c:?', 'last'],
      ],
    ],
    [
      'two numbered files from their beginning on',
      'nl -ba a.c; nl -ba b.c',
      '     1\ta\n     2\tb\n     1\tc\n',
      [
        ['a.c:?:tab', '     1\ta\n     2\tb'],
        ['b.c:?:tab', '     1\tc'],
      ],
    ],
    [
      'numbered lines in another order',
      'nl -ba a.c | sed -n 5,6p; nl -ba b.c | sed -n 1,2p',
      '     1\tx\n     5\ty\n',
      [],
    ],
    [
      'ranges with a marker among them',
      "sed -n '1,4p' a.c && sed -n '11,14p' a.c",
      `1\n${makeTestMarker('4 lines, shown above')}\n12\n13\n`,
      [],
    ],
    // The numbered lines are from a.c, not from b.c, although their numbers are not consecutive.
    [
      'some numbered lines, then a file',
      "nl -ba a.c | sed -n '/x/p'; sed -n 1,3p b.c",
      '     1\tx\n     5\tx\nb\n',
      [],
    ],
  ])('is attributed to the files that it shows, or to none: %s', (_, line, output, parts) => {
    expect(splitOutput(line, output)).toEqual(parts);
  });
});

it('shell output that the agent truncated is attributed to its file both before and after the missing part', () => {
  expect(splitOutput("sed -n '10,400p' a.c", 'ten\neleven\nx…87 tokens truncated…y\nlast\n')).toEqual([
    ['a.c:10', 'ten\neleven'],
    ['a.c:?', 'last'],
  ]);
});

it('each line of shell output is attributed to the file that it was printed from, for any number and length of outputs', () => {
  const read = fc.record({ lines: fc.nat({ max: 6 }), most: fc.integer({ min: 1, max: 6 }), says: fc.boolean() });
  fc.assert(
    fc.property(fc.array(read, { minLength: 1, maxLength: 5 }), (reads) => {
      let output = '';
      const commands: string[] = [];
      reads.forEach(({ lines, most, says }, at) => {
        commands.push(`sed -n '1,${most}p' f${at}`);
        for (let line = 1; line <= Math.min(lines, most); line++) output += `f${at} line ${line}\n`;
        if (!says) return;
        commands.push(`echo '== ${at}'`);
        output += `== ${at}\n`;
      });
      for (const { path, start, end, firstLine } of splitCommandOutput(
        parseCommandSteps(commands.join('; ')) ?? [],
        output,
      ))
        output
          .slice(start, end)
          .split('\n')
          .forEach((line, at) => {
            expect(line.startsWith(`${path} line `)).toBe(true);
            if (firstLine !== undefined) expect(line).toBe(`${path} line ${firstLine + at}`);
          });
    }),
  );
});
