import { describe, expect, it } from 'vitest';
import { createSmartProvider } from './index';
import { createPass } from './testing';

describe('configurations of Smart', () => {
  it.each<[unknown, string]>([
    [
      { passes: [{ id: 'a', name: 'A', mode: 'individual', selection: { type: 'recent' } }] },
      'passes.0.selection.type',
    ],
    [
      { passes: [createPass({ toolResults: { operation: 'truncate' } })] },
      'passes.0.individualConfig.defaults.toolResults',
    ],
    [{ passes: [createPass({}), createPass({})] }, 'passes.1.id'],
    [
      { passes: [createPass({}, { selection: { type: 'custom', filter: { tool: ['x'] } } } as never)] },
      'passes.0.selection.filter.tool',
    ],
    [{ version: 2 }, 'version'],
    ['no-such-preset', ''],
    [7, ''],
  ])('are rejected with a place if invalid: %j at %s', (config, path) => {
    expect(createSmartProvider().validateConfig(config)).toMatchObject({ valid: false, problems: [{ path }] });
  });

  it("may be the name of a built-in preset or the user's own, and default to File-Aware", () => {
    const own = { id: 'mine', name: 'Mine', description: '', config: { passes: [createPass({})] } };
    const provider = createSmartProvider({ presets: () => [own] });
    expect(provider.validateConfig('mine')).toMatchObject({ valid: true, config: { passes: [{ id: 'one' }] } });
    expect(provider.validateConfig('file-aware')).toEqual(provider.validateConfig(undefined));
  });

  it('keep unknown fields', () => {
    const passes = [{ ...createPass({}), colour: 'red' }];
    expect(createSmartProvider().validateConfig({ passes, theme: 1 })).toMatchObject({
      valid: true,
      config: { theme: 1, passes: [{ colour: 'red' }] },
    });
  });

  it('have a JSON Schema', () => {
    expect(createSmartProvider().getConfigSchema()).toMatchObject({ properties: { passes: { type: 'array' } } });
  });
});
