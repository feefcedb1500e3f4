import type { Plugin } from 'esbuild';

/** The entry points of these bundles by output name, as esbuild takes them. */
export const lazyEntries: Readonly<Record<string, string>>;
/** Lets every other bundle load such a package from its file; `from` leads from the bundle's folder to `dist/`. */
export function lazyPackages(from: string): Plugin;
