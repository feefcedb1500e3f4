/** Builds the bundles once before the tests, into a folder of their own: some tests run workers and the command line from it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the bundles. */
    readonly bundles: string;
  }
}

export default function setup({ provide }: TestProject): (() => void) | undefined {
  const { RANKS_FILE: made } = process.env;
  if (made !== undefined) {
    provide('bundles', dirname(made));
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  execFileSync(process.execPath, ['esbuild.mjs', '--outdir', folder], { stdio: 'inherit' });
  provide('bundles', folder);
  process.env['RANKS_FILE'] = join(folder, 'o200k.bin');
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
