/** What the guide shows to other extensions compiles against the types that the package ships, with nothing else beside them. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'guide-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const page = readFileSync(join(root, 'docs', 'guide', 'extensions.md'), 'utf8');
const examples = [...page.matchAll(/```ts\n([^]*?)```/g)].map(([, text = '']) => text);

/** What the compiler finds wrong, by file. */
function problemsOf(files: readonly string[]): { file: string; text: string }[] {
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
    paths: { vscode: [join(root, 'node_modules', '@types', 'vscode', 'index.d.ts')] },
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => ({
    file: basename(file?.fileName ?? ''),
    text: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}

describe('the guide for other extensions', () => {
  it('shows code that compiles', () => {
    copyFileSync(join(root, 'src', 'extensionApi', 'api.ts'), join(folder, 'condenserApi.d.ts'));
    expect(examples.length).toBeGreaterThanOrEqual(3);
    const wrong = "import type { Edit } from './condenserApi'; export const edit: Edit = { kind: 1 };";
    const files = [...examples, wrong].map((text, index) => {
      const file = join(folder, index < examples.length ? `example${index}.ts` : 'wrong.ts');
      writeFileSync(file, text);
      return file;
    });
    const problems = problemsOf([...files, join(folder, 'condenserApi.d.ts')]);
    expect(problems.filter(({ file }) => file !== 'wrong.ts')).toEqual([]);
    expect(problems.filter(({ file }) => file === 'wrong.ts')).not.toEqual([]);
  });
});
