import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { watchBuilds } from '../../scripts/watch.mjs';

interface Matcher {
  readonly pattern: { readonly regexp: string; readonly file: number; readonly line: number; readonly message: number };
  readonly background: { readonly beginsPattern: string; readonly endsPattern: string };
}

const tasks = JSON.parse(readFileSync('.vscode/tasks.json', 'utf8')) as {
  readonly tasks: readonly { readonly label: string; readonly problemMatcher: Matcher }[];
};
const matcher = tasks.tasks.find(({ label }) => label === 'watch')?.problemMatcher;

it('VS Code’s watch task recognizes the begin, end and errors of a build', async () => {
  if (!matcher) throw new Error('.vscode/tasks.json has no task "watch"');
  const folder = mkdtempSync(join(tmpdir(), 'watch-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const sources = ['one.ts', 'two.ts'].map((name) => join(folder, name));
  for (const source of sources) writeFileSync(source, 'export const a = 1;\n');
  const lines: string[] = [];
  const end = await watchBuilds(
    sources.map((source) => ({ entryPoints: [source], outdir: join(folder, 'out'), absWorkingDir: folder })),
    (line) => lines.push(line),
  );
  onTestFinished(end);
  const begins = new RegExp(matcher.background.beginsPattern);
  const ends = new RegExp(matcher.background.endsPattern);
  const count = (pattern: RegExp): number => lines.filter((line) => pattern.test(line)).length;
  await vi.waitFor(() => {
    expect(count(ends)).toBe(1);
  });
  expect(lines.map((line) => begins.test(line))).toEqual([true, false]);

  writeFileSync(join(folder, 'two.ts'), 'export const a = 1;\nexport const = 2;\n');
  await vi.waitFor(() => {
    expect(count(ends)).toBe(2);
  });
  expect(count(begins)).toBe(2);
  const found = lines.flatMap((line) => new RegExp(matcher.pattern.regexp).exec(line) ?? []);
  expect(found[matcher.pattern.file]).toBe('two.ts');
  expect(found[matcher.pattern.line]).toBe('2');
  expect(found[matcher.pattern.message]).toContain('Expected identifier');
});
