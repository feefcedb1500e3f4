import type { BuildOptions } from 'esbuild';

export function watchBuilds(
  builds: readonly BuildOptions[],
  say?: (line: string) => void,
): Promise<() => Promise<void>>;
