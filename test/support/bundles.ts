/** Builds the bundles once for the system tests, in a separate folder. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import type {} from './ranks';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the bundles, in the `system` project. */
    readonly bundles: string;
    /**
     * True if coverage is measured, in the `system` project; the heap then also retains other
     * files' data.
     */
    readonly isCovered: boolean;
  }
}

export default function setup({ provide, vitest }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  execFileSync(process.execPath, ['esbuild.mjs', '--outdir', folder], { stdio: 'inherit' });
  provide('bundles', folder);
  provide('assets', folder);
  provide('isCovered', vitest.config.coverage.enabled);
  process.env['RANKS_FILE'] ??= join(folder, 'o200k.bin');
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
