/** Runs TypeScript's compiler as a process, since version 7 has no JavaScript API. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const packages = join(import.meta.dirname, '..', '..', 'node_modules');

/**
 * Checks files strictly, in a separate folder to which a tsconfig.json is written.
 * @param options compiler options, which add to the strict ones or replace them
 * @returns the compiler's error lines, with paths relative to the folder.
 */
export function typeProblems(folder: string, files: readonly string[], options: object): string[] {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    // Checking the types of TypeScript and Node would take 35 times as long as the examples.
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
