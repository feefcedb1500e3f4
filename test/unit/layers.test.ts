/**
 * Checks that scripts/layers.mjs, docs/ARCHITECTURE.md and the imports of src/ and webview-ui/src
 * agree.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { floors, layers } from '../../scripts/layers.mjs';

const root = join(import.meta.dirname, '..', '..');
const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The folders in the rows of the table. */
const rows = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| `src\/\w+` \|/.test(line))
  .map((line) => /`src\/(\w+)`/.exec(line)?.[1]);

it('every folder of src/ has a row in ARCHITECTURE.md and a layer', () => {
  expect(rows).toEqual(Object.keys(layers));
  expect(Object.keys(layers).sort()).toEqual(folders.sort());
});

it('the layers let each folder import only folders that precede it', () => {
  const order = Object.keys(layers);
  for (const [folder, allowed] of Object.entries(layers)) {
    expect(order.slice(0, order.indexOf(folder)), folder).toEqual(expect.arrayContaining([...allowed]));
  }
});

/** The files that each source file imports, including types and `import()`; tests are left out. */
const graph = new Map<string, string[]>();
for (const top of ['src', 'webview-ui/src']) {
  const sources = readdirSync(join(root, top), { recursive: true, encoding: 'utf8' });
  for (const file of sources.map((name) => `${top}/${name}`)) {
    if (/\.tsx?$/.test(file) && !/\.test\.|(^|\/)testing[^/]*$/.test(file)) graph.set(file, []);
  }
}
/** Matches the path of an imported file, as the formatter writes imports. */
const IMPORTED = /(?:\bfrom |\bimport |\bimport\()'(\.[^']+)'/g;
for (const [file, imports] of graph) {
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, fileName = ''] of text.matchAll(IMPORTED)) {
    const path = relative(root, join(root, dirname(file), fileName));
    const found = [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`].find((name) => graph.has(name));
    if (found !== undefined) imports.push(found);
  }
}

it('the imports in the source code are those that the layers allow', () => {
  // If paths were not resolved, the test would pass without checking anything.
  expect([...graph.values()].flat().length).toBeGreaterThan(graph.size);
  const getLayer = (file: string): string => /^src\/(\w+)\//.exec(file)?.[1] ?? file;
  const forbidden = [...graph].flatMap(([file, imports]) => {
    const from = getLayer(file);
    const allowed = layers[from];
    return imports
      .filter((imported) => {
        const to = getLayer(imported);
        if (from === to || file === 'src/extension.ts') return false;
        if (allowed) return !allowed.includes(to);
        // The page may import the panel's protocol, the core, and itself.
        return to !== 'core' && imported !== 'src/panel/protocol.ts' && !imported.startsWith('webview-ui/');
      })
      .map((imported) => `${file} → ${imported}`);
  });
  expect(forbidden).toEqual([]);
});

/**
 * Returns the imports between the members of a folder: its files, and each subfolder as a whole.
 */
function memberImports(folder: string): Map<string, Set<string>> {
  const getMember = (file: string): string | undefined =>
    file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined;
  const members = new Map<string, Set<string>>();
  for (const [file, imports] of graph) {
    const from = getMember(file);
    if (from === undefined) continue;
    const own = members.get(from) ?? new Set<string>();
    members.set(from, own);
    for (const to of imports.map(getMember)) if (to !== undefined && to !== from) own.add(to);
  }
  return members;
}

/**
 * Removes members that import no remaining ones, again and again, so that only cycles and their
 * importers are left.
 */
function knotIn(members: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const left = new Map(members);
  for (let before = Infinity; left.size < before;) {
    before = left.size;
    for (const [name, imports] of left) if (![...imports].some((other) => left.has(other))) left.delete(name);
  }
  return [...left.keys()].sort();
}

it('the check for circular imports finds members that import each other', () => {
  const members = { a: ['b'], b: ['c'], c: ['b'], d: [] };
  expect(knotIn(new Map(Object.entries(members).map(([name, own]) => [name, new Set(own)])))).toEqual(['a', 'b', 'c']);
});

it('no folder of src/core has circular imports among its members, including types', () => {
  const inside = [...graph.keys()].filter((file) => file.startsWith('src/core/'));
  const folders = new Set(
    inside.flatMap((file) => file.split('/').flatMap((_, at, all) => (at > 1 ? [all.slice(0, at).join('/')] : []))),
  );
  expect(folders.size).toBeGreaterThan(20);
  expect(
    [...folders].map((folder) => [folder, ...knotIn(memberImports(folder))]).filter(({ length }) => length > 1),
  ).toEqual([]);
});

it.each(Object.entries(floors))(
  'the subfolders of %s import only what the plan allows: subfolders that precede them',
  (folder, plan) => {
    const order = Object.keys(plan);
    const imports = memberImports(folder);
    const folders = [...imports.keys()].filter((name) => !name.endsWith('.ts'));
    expect(folders.sort()).toEqual(order.toSorted());
    for (const [name, allowed] of Object.entries<readonly string[]>(plan)) {
      expect(order.slice(0, order.indexOf(name)), name).toEqual(expect.arrayContaining([...allowed]));
      expect([...(imports.get(name) ?? [])].filter((other) => folders.includes(other)).sort(), name).toEqual(
        allowed.toSorted(),
      );
    }
  },
);

/**
 * State that the core keeps at module level, which must not affect edits: three formatters and the
 * last tool table.
 */
const LASTING = [
  'condense/operations/truncate.ts segmenter',
  'format.ts numberFormat',
  'messages/tools.ts latestTable',
  'plural.ts numberFormat',
];

it('core has no global switch that would change edits between programs', () => {
  const core = join(root, 'src/core');
  const files = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test|testing)\.ts$/.test(file),
  );
  const found = files.flatMap((file) =>
    [...readFileSync(join(core, file), 'utf8').matchAll(/^(?:export )?(?:let|var) (\w+)/gm)].map(
      ([, name]) => `${file.replaceAll('\\', '/')} ${name}`,
    ),
  );
  expect(found.sort()).toEqual(LASTING);
});

/** These files import only the schemas of the providers' settings. */
const SCHEMAS = new Set(['src/window/settings/settingRules.ts', 'src/settings/table.ts']);

it('the extension host cannot reach code that condenses or renders conversations', () => {
  const reached = new Map<string, string>();
  const visit = (file: string, from: string): void => {
    if (reached.has(file) || SCHEMAS.has(file)) return;
    reached.set(file, from);
    // Imports of types are not part of the program.
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/^(?:import|export) type [^;]*;/gm, '');
    for (const [, fileName = ''] of text.matchAll(IMPORTED)) {
      const path = relative(root, join(root, dirname(file), fileName));
      const found = [path, `${path}.ts`, `${path}/index.ts`].find((name) => graph.has(name));
      if (found !== undefined) visit(found, file);
    }
  };
  for (const program of ['src/extension.ts', 'src/commands/index.ts', 'src/panel/index.ts']) visit(program, '');
  expect(reached.size).toBeGreaterThan(50);
  const heavy = [
    'src/core/condense/manager.ts',
    'src/core/condense/providers/createProviders.ts',
    'src/live/liveConversations.ts',
    'src/engine/live/session.ts',
    'src/core/messages/render.ts',
    'src/core/condense/report/foldedTexts.ts',
    'src/pages/reportPage.ts',
    'src/pages/readingPage.ts',
  ];
  expect(heavy.filter((file) => !graph.has(file))).toEqual([]);
  expect(heavy.flatMap((file) => (reached.has(file) ? [`${file} from ${reached.get(file)}`] : []))).toEqual([]);
});

/**
 * Files of the core with asynchronous functions, with the reason. All other files are synchronous.
 */
const ASYNCHRONOUS = {
  'account/replayWhatIf.ts': 'condenses at each request of a session',
  'betweenSteps.ts': 'gives the event loop its turn',
  'condense/fallback.ts': 'condenses by one provider after the other',
  'condense/futureNeed/codeLines.ts': 'condenses beginnings of a conversation',
  'condense/futureNeed/judge.ts': 'condenses beginnings of a conversation',
  'condense/checkResult.ts': 'checks what a provider made, with turns between its parts',
  'condense/lossless/integrity.ts': 'follows a step, with a turn before its check',
  'condense/lossless/newResults.ts': 'runs steps',
  'condense/manager.ts': 'runs a provider, with turns around the checks',
  'condense/lossless/run.ts': 'runs steps',
  'condense/pipeline.ts': 'runs steps, with a turn between them',
  'condense/providers/lossless.ts': 'runs steps',
  'condense/providers/native.ts': 'asks a model',
  'condense/providers/smart/batch.ts': 'asks a model',
  'condense/providers/smart/candidates.ts': 'reads all blocks, with turns between its parts',
  'condense/providers/smart/contentCalls.ts': 'asks a model',
  'condense/providers/smart/index.ts': 'runs steps',
  'condense/providers/smart/individual.ts': 'asks a model',
  'condense/providers/smart/passParts.ts': 'chooses a model',
  'condense/providers/smart/prune.ts': 'is the longest step, with turns between its parts',
  'condense/providers/smart/run.ts': 'runs steps',
  'condense/providers/truncation.ts': 'runs a step',
  'condense/providers/strategy/run.ts': 'runs providers',
  'condense/summary/plan.ts': 'masks and reads a whole conversation, and runs Lossless where it does not fit',
  'condense/summary/runPlan.ts': 'asks a model',
  'condense/automatic.ts': 'runs a provider',
  'orAborted.ts': 'waits for a promise',
} satisfies Record<string, string>;

it('core is asynchronous only if it calls a model or yields between steps', () => {
  const core = join(root, 'src/core');
  const files = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      !/\.test\.ts$|testing\w*\.ts$/.test(file) && /\.ts$/.test(file) && /\bawait [\w(]/.test(code(join(core, file))),
  );
  expect(files.map((file) => file.replaceAll('\\', '/')).sort()).toEqual(Object.keys(ASYNCHRONOUS).sort());
});

/**
 * Returns a file's code, without comments and without regular expressions, which may contain the
 * word.
 */
const code = (path: string): string =>
  readFileSync(path, 'utf8')
    .replaceAll(/^ *(?:\*|\/\*|\/\/).*$/gm, '')
    .replaceAll(/^ *\/\^.*$/gm, '');
