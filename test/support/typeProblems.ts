/** Runs TypeScript's compiler as a process, since version 7 has no JavaScript API. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const packages = join(import.meta.dirname, '..', '..', 'node_modules');

/**
 * Checks files strictly, in a folder of their own which gets a tsconfig.json.
 * @param options more of the compiler's options, and others than these
 * @returns the lines of the compiler's errors; paths in them begin at the folder.
 */
export function typeProblems(folder: string, files: readonly string[], options: object): string[] {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    // TypeScript's and Node's own types would take 35 times as long as the examples.
    skipLibCheck: true,
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    types: ['node'],
    typeRoots: [join(packages, '@types')],
    paths: { vscode: [join(packages, '@types', 'vscode', 'index.d.ts')] },
    lib: ['es2023', 'dom'],
    ...options,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const compiler = join(packages, 'typescript', 'bin', 'tsc');
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '--project', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
  return status === 0 || lines.length > 0 ? lines : [`the compiler ended with ${status ?? 'a signal'}`];
}
