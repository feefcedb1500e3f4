import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/**
 * Bundles a program before the tests of a file, which run it in separate processes, and removes it
 * after them.
 * @param source the program's file in `test/integration`.
 * @returns the bundle's path, and the folder around it, in which the tests may write.
 */
export function childProgram(source: string): { readonly folder: string; readonly program: string } {
  const folder = mkdtempSync(join(tmpdir(), 'condenser-child-'));
  const program = join(folder, 'child.mjs');
  beforeAll(() =>
    build({
      entryPoints: [join(import.meta.dirname, '..', 'integration', source)],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      logLevel: 'error',
    }),
  );
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, program };
}
