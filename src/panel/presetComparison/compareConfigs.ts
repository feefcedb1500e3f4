import type { SmartConfig } from '../../core/condense/providers/smart/config';
import { isRecord } from '../../core/messages/blocks';
import type { ComparedPass, ComparedPresets, Difference } from './methods';
import { isEqual } from '../../core/isEqual';

type Pass = SmartConfig['passes'][number];

/** Fields that only name a configuration or pass. */
const NAMING_FIELDS: ReadonlySet<string> = new Set(['version', 'passes', 'id', 'name', 'description']);

/** Ignores the names and IDs of configurations and passes. */
export function compareConfigs(first: SmartConfig, second: SmartConfig): ComparedPresets {
  return { general: findDifferences(first, second), passes: comparePasses(first.passes, second.passes) };
}

/** Matches passes by ID, the others by order. */
function comparePasses(first: readonly Pass[], second: readonly Pass[]): ComparedPass[] {
  const partners = new Map(first.map((pass) => [pass, second.find(({ id }) => id === pass.id)]));
  const taken = new Set(partners.values());
  const left = second.filter((pass) => !taken.has(pass));
  const pairs = first.map((pass) => [pass, partners.get(pass) ?? left.shift()] as const);
  return [
    ...pairs.map(([one, other]) => ({
      first: toPlacedPass(one, first),
      ...(other && { second: toPlacedPass(other, second) }),
      differences: other ? findDifferences(one, other) : [],
    })),
    ...left.map((pass) => ({ second: toPlacedPass(pass, second), differences: [] })),
  ];
}

const toPlacedPass = (pass: Pass, passes: readonly Pass[]) => ({ name: pass.name, position: passes.indexOf(pass) + 1 });

function findDifferences(first: object, second: object): Difference[] {
  const [one, other] = [collectLeaves(first), collectLeaves(second)];
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

interface ConfigLeaf {
  readonly path: string[];
  readonly value: unknown;
}

/** Collects a configuration's values by path; a list is one value. */
function collectLeaves(value: object): Map<string, ConfigLeaf> {
  const leaves = new Map<string, ConfigLeaf>();
  const walk = (inner: object, path: readonly string[]): void => {
    for (const [key, each] of Object.entries(inner) as [string, unknown][]) {
      if (path.length === 0 && NAMING_FIELDS.has(key)) continue;
      const at = [...path, key];
      if (isRecord(each)) walk(each, at);
      else if (each !== undefined) leaves.set(JSON.stringify(at), { path: at, value: each });
    }
  };
  walk(value, []);
  return leaves;
}
