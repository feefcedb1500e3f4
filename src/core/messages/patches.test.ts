import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readPatches, type PatchedFile } from './patches';

const shown = (text: string): unknown[] =>
  readPatches(text).map(({ change, path, movedTo, hunks }: PatchedFile) => ({
    change,
    path: movedTo === undefined ? path : `${path} -> ${movedTo}`,
    hunks: hunks.map(({ firstNew, lines }) => [
      firstNew === undefined ? '' : `${firstNew}`,
      ...lines.map(({ sign, start, end }) => sign + text.slice(start, end)),
    ]),
  }));

it('a patch in the envelope of apply_patch is parsed', () => {
  const patch = `*** Begin Patch
*** Update File: src/a.ts
*** Move to: src/b.ts
@@ class A
 one
-two
+2

 three
@@
+four
*** End of File
*** Add File: new.txt
+first
+
*** Delete File: old.txt
*** End Patch
`;
  expect(shown(`say\n${patch}rest`)).toEqual([
    {
      change: 'update',
      path: 'src/a.ts -> src/b.ts',
      hunks: [
        ['', ' one', '-two', '+2'],
        ['', ' three'],
        ['', '+four'],
      ],
    },
    { change: 'add', path: 'new.txt', hunks: [['', '+first', '+']] },
    { change: 'delete', path: 'old.txt', hunks: [] },
  ]);
});

it('a git diff is parsed despite surrounding text', () => {
  const diff = `commit 1234
    message

diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -3,3 +3,4 @@ function f() {
 one
-two
+2
+2b
 three
@@ -20 +21 @@
-x
\\ No newline at end of file
+y
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
done
`;
  expect(shown(diff)).toEqual([
    {
      change: 'update',
      path: 'src/a.ts',
      hunks: [
        ['3', ' one', '-two', '+2', '+2b', ' three'],
        ['21', '-x', '+y'],
      ],
    },
    { change: 'update', path: 'old name.txt -> new name.txt', hunks: [] },
    { change: 'delete', path: 'gone.txt', hunks: [['0', '-bye']] },
    { change: 'update', path: 'logo.png', hunks: [] },
  ]);
});

it('a diff is parsed without the lines after its last hunk, even if that hunk is incomplete', () => {
  const diff = '--- a/x\t2026-01-01\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n-- \n2.39\n';
  expect(shown(diff)).toEqual([{ change: 'update', path: 'x', hunks: [['1', ' a', '-b', '+c']] }]);
  expect(shown('--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n-b')).toEqual([
    { change: 'update', path: 'x', hunks: [['1', ' a', '-b']] },
  ]);
});

it('text that is not a patch is not parsed as one', () => {
  for (const text of ['', '--- a\n', '--- a\nplus\n', '@@ -1 +1 @@\n-a\n+b\n', '+ a\n- b\n', '***\n*** Begin\n'])
    expect(readPatches(text)).toEqual([]);
});

it('a patch is parsed with carriage returns, and with empty lines that lack their blank', () => {
  expect(shown('--- a/x\r\n+++ b/x\r\n@@ -1,3 +1,3 @@\r\n a\r\n\r\n-b\r\n+c\r\n')).toEqual([
    { change: 'update', path: 'x', hunks: [['1', ' a', ' ', '-b', '+c']] },
  ]);
});

it('a parsed patch contains only lines of its text, whatever the text', () => {
  const line = fc.constantFrom(
    '*** Begin Patch',
    '*** End Patch',
    '*** Update File: a',
    '*** Add File: b',
    'diff --git a/x b/x',
    '--- a/x',
    '+++ b/x',
    '@@ -1,2 +1,3 @@',
    '@@',
    ' a',
    '+b',
    '-c',
    '',
    'text',
    '\\ No newline at end of file',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
      const text = lines.join('\n');
      for (const { hunks } of readPatches(text))
        for (const hunk of hunks)
          for (const { sign, start, end } of hunk.lines) {
            const whole = text.slice(text.lastIndexOf('\n', start - 1) + 1, end);
            expect(whole === '' ? ' ' : whole).toBe(sign + text.slice(start, end));
            expect(start >= hunk.start && end <= hunk.end).toBe(true);
          }
    }),
  );
});
