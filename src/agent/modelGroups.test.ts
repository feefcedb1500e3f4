import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ModelGroups } from './modelGroups';

const models = [{ id: 'a' }, { id: 'b' }];
let groups: ModelGroups;
let changes: number;

beforeEach(() => {
  vi.useFakeTimers();
  changes = 0;
  groups = new ModelGroups(() => changes++, 1_000);
});
afterEach(() => {
  groups.dispose();
  vi.useRealTimers();
});

/** Requests models like VS Code: once without a configuration, then once per group. */
const requestModels = (...configurations: unknown[]): string[] => {
  const answers = [{ silent: true }, ...configurations.map((configuration) => ({ silent: true, configuration }))];
  return answers.flatMap((options) => groups.listModelsForGroup(options, models).map(({ id }) => id));
};

describe('the models that VS Code asks for by group', () => {
  it('are each listed once, under the saved group if there is one', () => {
    expect(requestModels({}, {})).toEqual(['a', 'b']);
    vi.advanceTimersByTime(1_000);
    expect(groups.listModelsForGroup({ configuration: {} }, models)).toHaveLength(2);
    expect(requestModels({})).toEqual(['a', 'b']);
    expect(changes).toBe(0);
  });

  it('are those of the profile that a group names; a group without a profile lists the other models', () => {
    expect(requestModels({ profile: 'b' }, {})).toEqual(['b', 'a']);
    expect(requestModels({ profile: ' ' }, { profile: 'b' })).toEqual(['a', 'b']);
    expect(requestModels({ profile: 'gone' })).toEqual([]);
    expect(requestModels({ profile: 7 })).toEqual(['a', 'b']);
  });

  it('are all listed ungrouped, as before VS Code 1.109, once it is known that there are no groups', () => {
    expect(requestModels()).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(changes).toBe(1);
    expect(requestModels()).toEqual(['a', 'b']);
    vi.advanceTimersByTime(1_000);
    expect(changes).toBe(1);
  });

  it('change when the first group is added or the last one is removed', () => {
    requestModels();
    vi.advanceTimersByTime(1_000);
    requestModels({});
    expect(changes).toBe(2);
    vi.advanceTimersByTime(1_000);
    expect(requestModels()).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(changes).toBe(3);
    expect(requestModels()).toEqual(['a', 'b']);
  });

  it('are none if VS Code passes no options', () => {
    expect(groups.listModelsForGroup(undefined, models)).toEqual([]);
  });
});
