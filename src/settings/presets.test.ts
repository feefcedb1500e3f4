import { describe, expect, it } from 'vitest';
import { parsePresets } from './presets';

const MINE = { id: 'mine', name: 'Mine', description: 'For me.', config: { version: 1, passes: [] } };

describe('the presets setting', () => {
  it('yields the valid presets and reports what is wrong with the others', () => {
    const wrong = { ...MINE, id: 'other', config: { version: 1, passes: 3 } };
    expect(parsePresets([MINE, wrong, { ...MINE }, { ...MINE, id: 'speed' }, 7])).toEqual({
      presets: [MINE],
      problems: [
        { path: '1.config.passes', message: 'must be an array; found 3' },
        { path: '2.id', message: '"mine" is the id of another preset' },
        { path: '3.id', message: '"speed" is the id of another preset' },
        { path: '4', message: 'must be an object; found 7' },
      ],
    });
  });

  it('may be missing, and is reported if it is not a list', () => {
    expect(parsePresets(undefined)).toEqual({ presets: [], problems: [] });
    expect(parsePresets({})).toEqual({ presets: [], problems: [{ path: '', message: 'is not a list' }] });
  });
});
