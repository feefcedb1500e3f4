import type { Plugin } from 'esbuild';

/** Entry points by output name, as esbuild expects them. */
export const lazyEntries: Readonly<Record<string, string>>;
/**
 * Lets every other bundle load such a package from its file.
 * @param from path from the bundle's folder to `dist/`
 */
export function lazyPackages(from: string): Plugin;
