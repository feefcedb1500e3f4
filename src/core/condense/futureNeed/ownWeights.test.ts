import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPresetFile, parsePresetFile } from '../presets';
import { chooseConfig } from '../providers/smart';
import { FEATURE_NAMES } from '../relevance/featureNames';
import { WEIGHTS } from '../relevance/weights';
import type { SessionTally } from './judge';
import { halvesOf, isEnough, ownWeights, verdictOn } from './ownWeights';

describe('the halves', () => {
  const session = fc.record({
    key: fc.uuid(),
    project: fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { nil: undefined }),
  });
  const sessions = fc.uniqueArray(session, { selector: ({ key }) => key, maxLength: 40 });

  it('are of whole projects where none has more than half, hold all, and are alike whatever the order', () => {
    fc.assert(
      fc.property(sessions, (all) => {
        const [learnt, judged] = halvesOf(all);
        expect([...learnt, ...judged].map(({ key }) => key).toSorted()).toEqual(all.map(({ key }) => key).toSorted());
        expect(halvesOf(all.toReversed())).toEqual([learnt, judged]);
        const largest = Math.max(
          0,
          ...['a', 'b', 'c', 'd', 'e'].map((name) => all.filter(({ project }) => project === name).length),
        );
        if (2 * largest > all.length) return;
        const projects = (half: typeof learnt) => new Set(half.flatMap(({ project }) => project ?? []));
        expect([...projects(learnt)].filter((project) => projects(judged).has(project))).toEqual([]);
        // None is larger than the other by more than a project.
        expect(Math.abs(learnt.length - judged.length)).toBeLessThanOrEqual(Math.max(1, largest));
      }),
    );
  });

  it('are by sessions where one project has more than half', () => {
    const all = Array.from({ length: 9 }, (_, at) => ({ key: String(at), project: at < 7 ? 'large' : 'small' }));
    expect(halvesOf(all).map(({ length }) => length)).toEqual([5, 4]);
  });

  it('take so many sessions and lines each', () => {
    expect(isEnough({ sessions: 5, lines: 50 }, { sessions: 5, lines: 50 })).toBe(true);
    expect(isEnough({ sessions: 5, lines: 50 }, { sessions: 4, lines: 500 })).toBe(false);
    expect(isEnough({ sessions: 50, lines: 49 }, { sessions: 5, lines: 50 })).toBe(false);
  });
});

/** Sessions of 20 needed lines each, of which at every target the weights that ship and own ones lose so many. */
const tallies = (lost: readonly (readonly [shipped: number, own: number])[]): SessionTally[] =>
  lost.map(
    (both) =>
      new Map(
        [0.7, 0.5, 0.35].flatMap((target) =>
          (['shipped', 'own'] as const).map((id, at) => [
            `${id} ${target}`,
            { needed: 20, lost: both[at] ?? 0, gone: 0, before: 1_000, after: 500 },
          ]),
        ),
      ),
  );

describe('the verdict', () => {
  const own = { ...WEIGHTS, tests: 1.5 };

  it('gives weights as a preset only if they surely lose less', () => {
    const sure = verdictOn(own, tallies(Array.from({ length: 6 }, (_, at) => [10 + (at % 2), 4])));
    if (sure.kind !== 'pays') throw new Error(sure.kind);
    expect(sure.own.share).toBeCloseTo(0.2);
    expect(sure.shipped.share).toBeCloseTo(0.525);
    expect(sure.difference.high).toBeLessThan(0);
    expect(sure.preset.config.weights).toEqual(own);
    expect(sure.preset.description).toContain('they lost 20% of the needed lines, the built-in weights 52.5%');
    const unsure: (readonly [number, number])[] = [0, 20, 0, 20, 1, 2].map((lost) => [lost, 7]);
    expect(verdictOn(own, tallies(unsure)).kind).toBe('keep');
    expect(verdictOn(own, tallies(Array.from({ length: 6 }, () => [5, 5]))).kind).toBe('keep');
    expect(verdictOn(own, []).kind).toBe('keep');
  });

  it('starts from the weights that ship', async () => {
    expect(await ownWeights([])).toEqual(Object.fromEntries(FEATURE_NAMES.map((name) => [name, WEIGHTS[name] ?? 0])));
  });
});

describe('a preset with weights', () => {
  const verdict = verdictOn(WEIGHTS, tallies(Array.from({ length: 6 }, (_, at) => [10 + (at % 2), 4])));
  if (verdict.kind !== 'pays') throw new Error(verdict.kind);
  const { preset } = verdict;
  const text = formatPresetFile(preset);

  it('comes back from its file, and is a configuration', () => {
    expect(parsePresetFile(text)).toEqual({ valid: true, config: preset });
    expect(chooseConfig(preset.config, [])).toMatchObject({ valid: true, config: { weights: WEIGHTS } });
  });

  it('however its weights are damaged, has known names and finite numbers, or an error that names the place', () => {
    const names = fc.oneof(fc.constantFrom(...FEATURE_NAMES), fc.string());
    const values = fc.oneof(fc.double({ min: -100, max: 100, noNaN: true }), fc.double(), fc.jsonValue());
    const weights = fc.oneof(fc.dictionary(names, values), fc.jsonValue());
    fc.assert(
      fc.property(weights, (damaged) => {
        const parsed = parsePresetFile(JSON.stringify({ ...preset, config: { ...preset.config, weights: damaged } }));
        if (!parsed.valid) {
          for (const { path, message } of parsed.problems) {
            expect(path).toMatch(/^config\.weights/);
            expect(message).not.toBe('');
          }
          return;
        }
        const checked = chooseConfig(parsed.config.config, []);
        if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
        for (const [name, weight] of Object.entries(checked.config.weights ?? {})) {
          expect(FEATURE_NAMES).toContain(name);
          expect(Math.abs(weight)).toBeLessThanOrEqual(100);
        }
      }),
    );
  });

  it('says what is wrong with a weight: where, what was found, what is allowed', () => {
    const problems = (damaged: unknown): string[] => {
      const parsed = parsePresetFile(JSON.stringify({ ...preset, config: { ...preset.config, weights: damaged } }));
      return parsed.valid ? [] : parsed.problems.map(({ path, message }) => `${path}: ${message}`);
    };
    expect(problems({ tests: 101 })).toEqual(['config.weights.tests: must be at most 100; found 101']);
    expect(problems({ tests: null })).toEqual(['config.weights.tests: must be a number; found null']);
    expect(problems({ colour: 1, tests: 1 })).toEqual(['config.weights: Unrecognized key: "colour"']);
    expect(problems({})).toEqual(['config.weights: names no feature']);
    expect(problems([1])[0]).toMatch(/^config\.weights: must be /);
  });

  it('never throws where the file itself is damaged', () => {
    const cut = fc.tuple(fc.nat(text.length), fc.nat(20), fc.string({ maxLength: 5 }));
    fc.assert(
      fc.property(cut, ([at, length, put]) => {
        const parsed = parsePresetFile(text.slice(0, at) + put + text.slice(at + length));
        if (!parsed.valid) expect(parsed.problems.length).toBeGreaterThan(0);
      }),
    );
  });
});
