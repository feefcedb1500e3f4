import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILT_IN_PRESETS } from './providers/smart/presets';
import { createSmartProvider } from './providers/smart';
import { losslessProvider } from './providers/lossless';
import { BUILT_IN_STRATEGIES } from './providers/strategy/builtIn';
import { createStrategyProvider } from './providers/strategy';
import { findUnknownFields } from './unknownFields';

const smart = createSmartProvider({ presets: () => [] });
const unknownIn = (config: unknown) => {
  const result = smart.validateConfig(config);
  if (!result.valid) throw new Error(JSON.stringify(result.problems));
  return findUnknownFields(smart.getConfigSchema(), result.config);
};

const pass = {
  id: 'p',
  name: 'P',
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 5 },
  execution: { type: 'conditional', condition: { tokenThreshold: 1_000 } },
  individualConfig: { defaults: { toolResults: { operation: 'truncate', maxLines: 5 } } },
};

describe('unknown fields in a configuration', () => {
  it.each(BUILT_IN_PRESETS)('do not occur in the preset $name', ({ config }) => {
    expect(unknownIn(config)).toEqual([]);
  });

  it.each(BUILT_IN_STRATEGIES)('do not occur in the strategy $id', (strategy) => {
    const provider = createStrategyProvider({ providers: () => [losslessProvider], presets: () => [] });
    expect(findUnknownFields(provider.getConfigSchema(), strategy)).toEqual([]);
  });

  it.each([
    ['a pass', { ...pass, individualconfig: {} }, 'passes.0.individualconfig', 'individualConfig'],
    [
      'the defaults of a pass',
      { ...pass, individualConfig: { defaults: { toolResult: { operation: 'keep' } } } },
      'passes.0.individualConfig.defaults.toolResult',
      'toolResults',
    ],
    [
      'an operation',
      { ...pass, individualConfig: { defaults: { toolResults: { operation: 'truncate', maxLines: 5, maxLine: 3 } } } },
      'passes.0.individualConfig.defaults.toolResults.maxLine',
      'maxLines',
    ],
    [
      'thresholds',
      { ...pass, individualConfig: { messageTokenThreshold: {} } },
      'passes.0.individualConfig.messageTokenThreshold',
      'messageTokenThresholds',
    ],
    ['a selection', { ...pass, selection: { ...pass.selection, counts: 3 } }, 'passes.0.selection.counts', 'count'],
  ])('in %s are reported with a suggestion', (_place, wrong, path, suggestion) => {
    expect(unknownIn({ passes: [wrong] })).toEqual([
      { path, message: `is not a known field (did you mean ${suggestion}?)`, suggestion },
    ]);
  });

  it('are warnings in a valid configuration', () => {
    expect(smart.validateConfig({ passes: [{ ...pass, selectoin: 1 }], pases: [] })).toMatchObject({
      valid: true,
      warnings: [
        { path: 'passes.0.selectoin', suggestion: 'selection' },
        { path: 'pases', suggestion: 'passes' },
      ],
    });
    expect(smart.validateConfig({ passes: [pass] })).not.toHaveProperty('warnings');
  });

  it('are found in finite time in any value and recursive schema', () => {
    const schema = {
      type: 'object',
      properties: {
        inner: { $ref: '#' },
        list: { type: 'array', items: { anyOf: [{ $ref: '#' }, { type: 'string' }] } },
      },
    };
    fc.assert(
      fc.property(fc.anything(), (value) => {
        findUnknownFields(schema, value);
        findUnknownFields(smart.getConfigSchema(), value);
      }),
    );
    expect(findUnknownFields({ $ref: '#' }, {})).toEqual([]);
    expect(findUnknownFields(schema, { inner: { list: [{ inner: { lists: 1 } }, 'x'] } })).toEqual([
      { path: 'inner.list.0.inner.lists', message: 'is not a known field (did you mean list?)', suggestion: 'list' },
    ]);
  });
});
