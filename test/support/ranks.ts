/** Builds the token table once for all tests, in a separate folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildRanks } from '../../scripts/ranks.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the token table; in the `system` project, of the bundles. */
    readonly assets: string;
  }
}

export default function setup({ provide }: TestProject): (() => void) | undefined {
  const { RANKS_FILE: made } = process.env;
  if (made !== undefined) {
    provide('assets', dirname(made));
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'assets-'));
  process.env['RANKS_FILE'] = join(folder, 'o200k.bin');
  buildRanks(process.env['RANKS_FILE']);
  provide('assets', folder);
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
