import type { Metafile } from 'esbuild';

export function writeLicences(
  file: string,
  metafiles: readonly Pick<Metafile, 'inputs'>[],
  more?: readonly string[],
): void;
