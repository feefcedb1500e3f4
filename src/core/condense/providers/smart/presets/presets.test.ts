import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateConfig } from '../../../config';
import { smartConfigSchema } from '../config';
import {
  BUILT_IN_PRESETS,
  findPresetById,
  formatPresetFile,
  migrateSmartConfig,
  parsePresetFile,
  type Preset,
} from '.';

const MINE: Preset = { id: 'mine', name: 'Mine', description: '', config: { version: 1, passes: [] } };

const problemsOf = (text: string): readonly string[] => {
  const parsed = parsePresetFile(text);
  return parsed.valid ? [] : parsed.problems.map(({ path, message }) => `${path}: ${message}`);
};

describe('built-in presets', () => {
  it('are eight valid presets with unique IDs', () => {
    expect(BUILT_IN_PRESETS.map(({ id }) => id)).toEqual([
      'conservative',
      'balanced',
      'aggressive',
      'speed',
      'quality',
      'cost',
      'multi-zone',
      'file-aware',
    ]);
    for (const { config } of BUILT_IN_PRESETS)
      expect(validateConfig(smartConfigSchema, config)).toMatchObject({ valid: true });
  });

  it('are found by ID, after the user’s own presets', () => {
    expect(findPresetById('speed')?.name).toBe('Speed');
    expect(findPresetById('mine', [MINE])).toBe(MINE);
    expect(findPresetById('none', [MINE])).toBeUndefined();
  });

  it('survive being written to a file and read again', () => {
    for (const preset of BUILT_IN_PRESETS) {
      const plain = JSON.parse(JSON.stringify({ ...preset, config: { version: 1, ...preset.config } })) as Preset;
      expect(parsePresetFile(formatPresetFile(plain))).toEqual({ valid: true, config: plain });
    }
  });
});

describe('a preset file', () => {
  it('keeps unknown fields', () => {
    const preset = { ...MINE, author: 'me', config: { version: 1, later: { x: 1 }, passes: [] } };
    expect(parsePresetFile(JSON.stringify(preset))).toEqual({ valid: true, config: preset });
  });

  it('names each problem with its place, the value found and what is allowed', () => {
    const pass = { id: 'a', name: 'a', mode: 'individual', selection: { type: 'preserve_recent', count: -1 } };
    expect(problemsOf(JSON.stringify({ ...MINE, config: { version: 1, passes: [pass] } }))).toEqual([
      'config.passes.0.selection.count: must be at least 0; found -1',
    ]);
    expect(problemsOf(JSON.stringify({ ...MINE, id: 'not good' }))[0]).toContain('id: must consist of letters');
    expect(problemsOf('{"id"')[0]).toContain('is not JSON');
    expect(problemsOf('[]')[0]).toContain('must be an object; found []');
    expect(problemsOf(JSON.stringify({ ...MINE, config: { version: 2 } }))).toEqual([
      'config.version: must be 1; found 2',
    ]);
  });

  it('is rejected if it is too large, too deep, or has reserved keys', () => {
    expect(problemsOf(' '.repeat(1_000_001))[0]).toContain('1,000,001 characters');
    expect(problemsOf(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)[0]).toContain('is nested deeper than 64 levels');
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      expect(problemsOf(`{"id":"a","name":"a","config":{"passes":[{"${key}":{"polluted":true}}]}}`)).toEqual([
        `config.passes.0.${key}: is not the name of a setting`,
      ]);
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('never causes an exception, whatever its content', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const parsed = parsePresetFile(text);
        if (!parsed.valid) expect(parsed.problems.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('migration of Smart configurations', () => {
  const migrated = (config: unknown): unknown => {
    const checked = validateConfig(smartConfigSchema, migrateSmartConfig(config));
    return checked.valid ? checked.config : checked.problems;
  };

  it('reads all configurations of earlier versions', () => {
    expect(
      migrated({
        losslessPrelude: true,
        passes: [
          {
            id: 'one',
            selection: { strategy: 'preserve_recent', count: 10 },
            mode: 'individual',
            execution: { type: 'conditional', tokenThreshold: 40_000 },
            individualConfig: {
              defaults: {
                toolParameters: { operation: 'truncate', truncateConfig: { maxChars: 100 } },
                toolResults: { operation: 'summarize', summarizeConfig: { maxTokens: 120, prompt: 'Be brief.' } },
                messageText: { operation: 'suppress', suppressConfig: { messageText: '[message left out]' } },
              },
              overrides: [{ messageIndex: 3, operations: { toolResults: { operation: 'keep' } } }],
            },
          },
          {
            id: 'two',
            name: 'Two',
            selection: { type: 'preserve_percent', keepPercentage: 30 },
            mode: 'batch',
            batchConfig: {
              operation: 'summarize',
              summarizationConfig: { apiProfile: 'default', keepFirst: 1, keepLast: 5 },
            },
            execution: { type: 'conditional', condition: { tokenThreshold: 60_000 } },
          },
          { id: 'three', selection: { type: 'preserve_recent', keepRecentCount: 5 }, mode: 'batch' },
        ],
      }),
    ).toMatchObject({
      version: 1,
      losslessPrelude: { enabled: true },
      passes: [
        {
          name: 'one',
          selection: { type: 'preserve_recent', count: 10 },
          execution: { condition: { tokenThreshold: 40_000 } },
          individualConfig: {
            defaults: {
              toolParameters: { operation: 'truncate', maxChars: 100 },
              toolResults: { operation: 'summarize', maxTokens: 120, customPrompt: 'Be brief.' },
              messageText: { operation: 'suppress', marker: 'message left out' },
            },
            overrides: [{ messageIndex: 3, operations: { toolResults: { operation: 'keep' } } }],
          },
        },
        {
          selection: { type: 'preserve_percent', percentage: 30 },
          batchConfig: { operation: 'summarize', keepFirst: 1, keepLast: 5 },
        },
        { batchConfig: { operation: 'summarize' } },
      ],
    });
  });

  it('leaves current configurations and other values unchanged', () => {
    for (const value of [{ version: 1, passes: [] }, { version: 9 }, 'speed', undefined, [], { version: 'x' }]) {
      expect(migrateSmartConfig(value)).toBe(value);
    }
    for (const { config } of BUILT_IN_PRESETS) expect(migrated(config)).toEqual(migrated({ ...config, version: 1 }));
  });

  it('accepts any value without an error', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        migrateSmartConfig(value);
        migrateSmartConfig({ passes: [value], losslessPrelude: value });
        migrateSmartConfig({ passes: [{ selection: value, individualConfig: { defaults: { toolResults: value } } }] });
      }),
    );
  });
});
