import fc from 'fast-check';
import { expect, it } from 'vitest';
import { smartConfigSchema, type SmartConfigInput } from '../../core/condense/providers/smart/config';
import { BUILT_IN_PRESETS } from '../../core/condense/providers/smart/presets';
import { compareConfigs } from './compareConfigs';

const pass = (id: string, maxLines: number, more: object = {}) => ({
  id,
  name: `Pass ${id}`,
  mode: 'individual' as const,
  selection: { type: 'preserve_recent' as const, count: 10 },
  individualConfig: { defaults: { toolResults: { operation: 'truncate' as const, maxLines } } },
  ...more,
});
const config = (passes: SmartConfigInput['passes'], more: Partial<SmartConfigInput> = {}) =>
  smartConfigSchema.parse({ version: 1, passes, ...more });

it('comparing configurations finds the differences in a pass, with defaults filled in', () => {
  const first = config([pass('a', 20), pass('b', 5)]);
  const second = config([pass('a', 20, { enabled: true }), pass('b', 8)], { losslessPrelude: { enabled: false } });
  expect(compareConfigs(first, second)).toEqual({
    general: [{ path: ['losslessPrelude', 'enabled'], first: true, second: false }],
    passes: [
      { first: { name: 'Pass a', position: 1 }, second: { name: 'Pass a', position: 1 }, differences: [] },
      {
        first: { name: 'Pass b', position: 2 },
        second: { name: 'Pass b', position: 2 },
        differences: [{ path: ['individualConfig', 'defaults', 'toolResults', 'maxLines'], first: 5, second: 8 }],
      },
    ],
  });
});

it('comparing configurations matches passes by ID, then by order, and lists passes that only one of them has', () => {
  const { passes } = compareConfigs(config([pass('a', 1), pass('b', 1)]), config([pass('new', 1), pass('a', 1)]));
  expect(passes.map(({ first, second }) => [first?.position, second?.position])).toEqual([
    [1, 2],
    [2, 1],
  ]);
  const more = compareConfigs(config([pass('a', 1)]), config([pass('x', 1), pass('a', 1), pass('y', 2)])).passes;
  expect(more).toMatchObject([{ first: { position: 1 }, second: { position: 2 } }, { second: { position: 1 } }, {}]);
  expect(more[1]).not.toHaveProperty('first');
});

it('comparing a configuration with itself finds nothing, and differences are symmetric', () => {
  const presets = BUILT_IN_PRESETS.map((preset) => smartConfigSchema.parse(preset.config));
  const any = fc.constantFrom(...presets);
  fc.assert(
    fc.property(any, any, (first, second) => {
      const self = compareConfigs(first, first);
      expect([self.general, ...self.passes.map(({ differences }) => differences)].flat()).toEqual([]);
      const [there, back] = [compareConfigs(first, second), compareConfigs(second, first)];
      expect(there.passes).toHaveLength(back.passes.length);
      expect(new Set(there.general.map(({ path, first: a, second: b }) => JSON.stringify([path, a, b])))).toEqual(
        new Set(back.general.map(({ path, first: a, second: b }) => JSON.stringify([path, b, a]))),
      );
    }),
  );
});
