import type { SmartConfig } from '../../core/condense/providers/smart/config';
import { isRecord } from '../../core/messages/blocks';
import type { ComparedPass, ComparedPresets, ConfigDifference } from './methods';
import { isEqual } from '../../core/isEqual';

type Pass = SmartConfig['passes'][number];

/** Fields that only name a configuration or pass. */
const FIELDS_NOT_COMPARED: ReadonlySet<string> = new Set(['version', 'passes', 'id', 'name', 'description']);

/** Ignores the names and IDs of configurations and passes. */
export function compareConfigs(first: SmartConfig, second: SmartConfig): ComparedPresets {
  return { general: findConfigDifferences(first, second), passes: comparePasses(first.passes, second.passes) };
}

/** Matches passes by ID, the others by order. */
function comparePasses(first: readonly Pass[], second: readonly Pass[]): ComparedPass[] {
  const partners = new Map(first.map((pass) => [pass, second.find(({ id }) => id === pass.id)]));
  const matched = new Set(partners.values());
  const unmatched = second.filter((pass) => !matched.has(pass));
  const pairs = first.map((pass) => [pass, partners.get(pass) ?? unmatched.shift()] as const);
  return [
    ...pairs.map(([one, other]) => ({
      first: makePassWithPosition(one, first),
      ...(other && { second: makePassWithPosition(other, second) }),
      differences: other ? findConfigDifferences(one, other) : [],
    })),
    ...unmatched.map((pass) => ({ second: makePassWithPosition(pass, second), differences: [] })),
  ];
}

const makePassWithPosition = (pass: Pass, passes: readonly Pass[]) => ({
  name: pass.name,
  position: passes.indexOf(pass) + 1,
});

function findConfigDifferences(first: object, second: object): ConfigDifference[] {
  const [one, other] = [collectConfigValues(first), collectConfigValues(second)];
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((key) => {
    const [before, after] = [one.get(key), other.get(key)];
    if (isEqual(before?.value, after?.value)) return [];
    return [
      {
        path: before?.path ?? after?.path ?? [],
        ...(before && { first: before.value }),
        ...(after && { second: after.value }),
      },
    ];
  });
}

interface ConfigValueWithPath {
  readonly path: string[];
  readonly value: unknown;
}

/** Collects a configuration's values by path; a list is one value. */
function collectConfigValues(value: object): Map<string, ConfigValueWithPath> {
  const leaves = new Map<string, ConfigValueWithPath>();
  const walk = (inner: object, path: readonly string[]): void => {
    for (const [key, each] of Object.entries(inner) as [string, unknown][]) {
      if (path.length === 0 && FIELDS_NOT_COMPARED.has(key)) continue;
      const at = [...path, key];
      if (isRecord(each)) walk(each, at);
      else if (each !== undefined) leaves.set(JSON.stringify(at), { path: at, value: each });
    }
  };
  walk(value, []);
  return leaves;
}
