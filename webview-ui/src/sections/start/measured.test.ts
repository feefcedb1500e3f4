import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BUILT_IN_PRESETS } from '../../../../src/core/condense/providers/smart/presets';
import { getProviderName } from '../../../../src/core/condense/types';
import { MEASURED_PRESETS, MEASURED_PROVIDERS } from './measured';

const guide = readFileSync('docs/guide/choosing.md', 'utf8').split('\n');
const named = [
  ...Object.entries(MEASURED_PROVIDERS).map(([id, figures]) => [getProviderName(id), figures] as const),
  ...Object.entries(MEASURED_PRESETS).map(([id, figures]) => [`Smart, ${id}`, figures] as const),
];

it.each(named)('the measured figures of %s are those of the guide', (name, { removed, lost }) => {
  const row = guide.find((line) => line.toLowerCase().startsWith(`| ${name.toLowerCase()} |`));
  expect(row).toContain(`| ${removed} % |`);
  if (lost !== undefined) expect(row).toContain(`| ${100 - lost} % |`);
});

it('every preset was measured', () => {
  expect(Object.keys(MEASURED_PRESETS).toSorted()).toEqual(BUILT_IN_PRESETS.map(({ id }) => id).toSorted());
});
