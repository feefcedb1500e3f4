/**
 * Measures what the extension costs a window that doesn't use it, optionally compared with another
 * build.
 */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../bed';
import { freshSample } from '../home';
import { hostExtension, suiteResults } from '../host';
import { extensionVariable, IDLE_STATES, idleVariable, onlyVariable, resultsVariable } from '../suite/names';
import { installExtension } from '../workbench/index';

const ROUNDS = 3;
const THIS = 'this build';
/** Another VSIX of this extension, such as the last release. */
const OTHER = process.env['CONTEXT_CONDENSER_E2E_OTHER'];

const MEASURES = [
  { name: 'heap', unit: 'MB', each: 1e6 },
  { name: 'resident', unit: 'MB', each: 1e6 },
  { name: 'longest', unit: 'ms', each: 1 },
  { name: 'cpu', unit: 'ms', each: 1 },
  { name: 'bundles', unit: 'loaded', each: 1 },
];

/** The builds alternate, so that other load affects both alike. */
const inEachState: Scenario = async (bed) => {
  const other = OTHER === undefined ? undefined : await installExtension(OTHER);
  if (other !== undefined)
    bed.atEnd(() => {
      rmSync(other, { recursive: true, force: true, maxRetries: 5 });
      return Promise.resolve();
    });
  const builds = [{ build: THIS, extensionsDir: bed.extensionsDir }];
  if (other !== undefined) builds.push({ build: 'the other build', extensionsDir: other });
  const all = builds.flatMap((build) => IDLE_STATES.map((state) => ({ ...build, state, values: makeMeasures() })));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { extensionsDir, state, values } of all) {
      const results = join(bed.folder(), 'results.jsonl');
      const env = {
        [resultsVariable]: results,
        [onlyVariable]: 'is left alone',
        [idleVariable]: state,
        [extensionVariable]: bed.extensionId,
      };
      const folder = bed.folder({ 'README.md': '# notes\n' });
      const home = bed.folder();
      if (state === '2,000 sessions listed') writeSessions(home, 2_000);
      const window = await bed.open({
        extensionsDir,
        folder,
        home,
        developmentExtensions: [hostExtension],
        testsPath: bed.suite,
        env,
      });
      await window.exited;
      await window.close();
      await window.server.stop();
      const written = suiteResults(results);
      const [figure] = written.filter((result) => result.kind === 'figure');
      assert.ok(figure, JSON.stringify(written));
      for (const [name, list] of Object.entries(values)) list.push(figure.values[name] ?? NaN);
    }
  }
  for (const { build, state, values } of all) {
    for (const { name, unit, each } of MEASURES) {
      const sorted = (values[name] ?? []).map((value) => value / each).toSorted((a, b) => a - b);
      const median = sorted[(ROUNDS - 1) / 2] ?? NaN;
      const texts = sorted.map((value) => value.toFixed(1)).join(', ');
      bed.report(`${build}, ${state}, ${name}: ${texts} ${unit}, median ${median.toFixed(1)} ${unit}`);
    }
    // Bundles that aren't used aren't loaded.
    if (build === THIS && (state === 'not active' || state === 'active'))
      assert.ok(values['bundles']?.every((count) => count === 0));
  }
};

function writeSessions(home: string, count: number): void {
  for (let at = 0; at < count; at++) {
    const folder = join(home, '.claude', 'projects', `-home-me-p${at % 40}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `session-${at}.jsonl`), freshSample());
  }
}

const makeMeasures = (): Record<string, number[]> => Object.fromEntries(MEASURES.map(({ name }) => [name, []]));

export const ofAWindowThatIsLeftAlone: Scenario = Object.assign(inEachState, { lane: 'long' as const, seconds: 1_200 });
