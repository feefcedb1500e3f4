import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Scenario } from '../bed';
import { hostExtension, suiteResults } from '../host';
import { extensionVariable, onlyVariable, resultsVariable } from '../suite/names';

/** Number of windows, in each of which the extension is activated once. */
const WINDOWS = 7;

/** Runs the suite's activation test in several windows, and combines the figures. */
const inSevenWindows: Scenario = async (bed) => {
  const results = join(bed.folder(), 'results.jsonl');
  const options = {
    folder: bed.folder({ 'README.md': '# notes\n' }),
    developmentExtensions: [hostExtension],
    testsPath: bed.suite,
    env: {
      [resultsVariable]: results,
      [onlyVariable]: 'is not active before it is used',
      [extensionVariable]: bed.extensionId,
    },
  };
  let window = await bed.open(options);
  for (let count = 1; ; count++) {
    assert.equal(await window.exited, 0);
    await window.close();
    if (count === WINDOWS) break;
    window = await bed.openOn(window.server, options);
  }
  const figures = suiteResults(results).filter((result) => result.kind === 'figure');
  assert.equal(figures.length, WINDOWS);
  for (const name of ['whole', 'own']) {
    const times = figures.map(({ values }) => values[name] ?? NaN);
    const median = times.toSorted((a, b) => a - b)[(WINDOWS - 1) / 2] ?? NaN;
    bed.report(
      `activation, ${name}: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms, median ${median.toFixed(0)} ms`,
    );
  }
};

export const ofThePackagedExtension: Scenario = Object.assign(inSevenWindows, { lane: 'long' as const });
