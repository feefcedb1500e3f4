import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BUILT_IN_PRESETS } from '../../../../src/core/condense/providers/smart/presets';
import { getProviderName } from '../../../../src/core/condense/types';
import { readPassEntries } from '../smart/smartValue';
import {
  FILE_AWARE_PRESET_ID,
  MEASURED_LOSS_BY_PRESET,
  MEASURED_LOSS_BY_PROVIDER,
} from '../../../../src/core/condense/measured';
import { listProviderFacts } from './providerFacts';

const guide = readFileSync('docs/guide/choosing.md', 'utf8').split('\n');
const named = [
  ...Object.entries(MEASURED_LOSS_BY_PROVIDER).map(([id, figures]) => [getProviderName(id), figures] as const),
  ...BUILT_IN_PRESETS.filter(({ id }) => id !== FILE_AWARE_PRESET_ID).map(
    ({ id, name }) => [`Smart, ${name}`, MEASURED_LOSS_BY_PRESET[id] ?? { removed: Number.NaN }] as const,
  ),
];

it.each(named)('the measured figures of %s are those of the guide', (name, { removed, lost }) => {
  const row = guide.find((line) => line.startsWith(`| ${name} |`));
  expect(row).toContain(`| ${removed}% |`);
  if (lost !== undefined) expect(row).toContain(`| ${100 - lost}% |`);
});

it('the range that Lossless’s card shows is that of the agents measured', () => {
  const rows = readFileSync('docs/research/lossless.md', 'utf8').split('\n');
  const first = rows.findIndex((row) => row.startsWith('| agent | sessions, projects |')) + 2;
  const shares = rows
    .slice(first, rows.indexOf('', first))
    .map((row) => Math.round(Number.parseFloat(row.split('|')[7] ?? '')));
  expect(MEASURED_LOSS_BY_PROVIDER['lossless']?.removedByAgent).toEqual([Math.min(...shares), Math.max(...shares)]);
});

it('Lossless’s card says what is lost if File-Aware follows', () => {
  const listLosses = (whenNotEnough: string): string | undefined =>
    listProviderFacts('lossless', { condensing: undefined, whenNotEnough, targetPercent: 50 })?.loses;
  expect(listLosses('nothing')).toBe('Nothing: every byte can be restored');
  expect(listLosses('fileAware')).toBe(
    'Nothing. If File-Aware follows in agent tasks: 13% of needed lines, which agents can recall',
  );
});

it('the measured figures of File-Aware are those of projects it was not fitted on', () => {
  const row = readFileSync('docs/BENCHMARKS.md', 'utf8')
    .split('\n')
    .find((line) => line.startsWith('| mask 10 | all |'));
  const [, , , projects, , , removed, , lost] = row?.split('|') ?? [];
  expect(MEASURED_LOSS_BY_PRESET[FILE_AWARE_PRESET_ID]).toEqual({
    removed: Math.round(Number.parseFloat(removed ?? '')),
    lost: Math.round(Number.parseFloat(lost ?? '')),
    projects: Number(projects),
  });
});

it('a preset’s loss is an upper bound if and only if the preset can call a model', () => {
  const callsModel = BUILT_IN_PRESETS.filter(({ config }) => readPassEntries(config).some((pass) => pass.callsModel));
  const isAtMost = Object.entries(MEASURED_LOSS_BY_PRESET).filter(([, measured]) => measured.isAtMost);
  expect(isAtMost.map(([id]) => id).toSorted()).toEqual(callsModel.map(({ id }) => id).toSorted());
});
