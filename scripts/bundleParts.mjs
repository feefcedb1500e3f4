// Splits programs into several files, so that shared code exists once and no file loads slowly.
import { transform } from 'esbuild';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const PART_FILE_NAME = /^part-\w+\.cjs$/;

/**
 * Returns esbuild's options for programs that share code. Shared modules become "parts", files in
 * the same folder. The build also writes `parts.json`, which lists each program's parts in load
 * order, so that they can be loaded one at a time.
 * @param {import('esbuild').BuildOptions & { outdir: string }} options
 * @param {Record<string, string>} programs entry points by output name
 * @param {readonly string[]} cuts modules whose imports get parts of their own
 * @returns {import('esbuild').BuildOptions}
 */
export function createPartsBuild(options, programs, cuts) {
  // Only the later conversion to CommonJS needs `supported`.
  const { minify, sourcemap, supported: _, plugins, ...common } = options;
  const cutEntries = Object.fromEntries(cuts.map((path, index) => [`cut-${index}`, path]));
  const writePartsPlugin = {
    name: 'write-parts',
    setup({ onEnd }) {
      onEnd((built) => (built.errors.length > 0 ? undefined : writeParts(built, options, programs)));
    },
  };
  return {
    ...common,
    sourcemap: sourcemap ? 'inline' : false,
    minify,
    entryPoints: { ...programs, ...cutEntries },
    // esbuild can split only ES modules, which are converted to CommonJS afterwards.
    format: 'esm',
    splitting: true,
    chunkNames: 'part-[hash]',
    metafile: true,
    write: false,
    plugins: [...plugins, writePartsPlugin],
  };
}

async function writeParts(built, { outdir, target, supported, minify, charset, sourcemap }, programs) {
  const neededParts = new Map(
    Object.entries(built.metafile.outputs).map(([path, { imports }]) => [
      basename(path),
      imports.filter(({ external }) => !external).map((one) => basename(findPart(one))),
    ]),
  );
  /** Returns the parts that a file needs, in load order. */
  const listParts = (file) => [...new Set((neededParts.get(file) ?? []).flatMap((part) => [...listParts(part), part]))];
  const partNamesByProgram = Object.fromEntries(Object.keys(programs).map((name) => [name, listParts(`${name}.cjs`)]));
  for (const name of readdirSync(outdir)) if (PART_FILE_NAME.test(name)) rmSync(join(outdir, name));
  const writtenNames = new Set([
    ...Object.keys(programs).map((name) => `${name}.cjs`),
    ...Object.values(partNamesByProgram).flat(),
  ]);
  for (const { path, text } of built.outputFiles) {
    const file = basename(path);
    if (!writtenNames.has(file)) continue;
    const { code } = await transform(text, {
      format: 'cjs',
      platform: 'node',
      target,
      supported,
      minify,
      charset,
      sourcemap: sourcemap ? 'inline' : false,
      sourcefile: file,
    });
    writeFileSync(join(outdir, file), code);
  }
  writeFileSync(join(outdir, 'parts.json'), JSON.stringify(partNamesByProgram));
}

/**
 * Returns the file of a statically imported part. Throws for `import()` of a part, since
 * `parts.json` would not list that part.
 */
function findPart({ path, kind }) {
  if (kind !== 'import-statement')
    throw new Error(`${path} is loaded by ${kind}; only packages are, by files of their own.`);
  return path;
}
