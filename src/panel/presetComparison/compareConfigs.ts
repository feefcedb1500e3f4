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

/** Pairs passes with the same ID, and the other passes by order. */
function comparePasses(firstPasses: readonly Pass[], secondPasses: readonly Pass[]): ComparedPass[] {
  const partnerByPass = new Map(firstPasses.map((pass) => [pass, secondPasses.find(({ id }) => id === pass.id)]));
  const matchedPasses = new Set(partnerByPass.values());
  const unmatchedPasses = secondPasses.filter((pass) => !matchedPasses.has(pass));
  const pairs = firstPasses.map((pass) => [pass, partnerByPass.get(pass) ?? unmatchedPasses.shift()] as const);
  return [
    ...pairs.map(([firstPass, secondPass]) => ({
      first: makePassWithPosition(firstPass, firstPasses),
      ...(secondPass && { second: makePassWithPosition(secondPass, secondPasses) }),
      differences: secondPass ? findConfigDifferences(firstPass, secondPass) : [],
    })),
    ...unmatchedPasses.map((pass) => ({ second: makePassWithPosition(pass, secondPasses), differences: [] })),
  ];
}

const makePassWithPosition = (pass: Pass, passes: readonly Pass[]) => ({
  name: pass.name,
  position: passes.indexOf(pass) + 1,
});

function findConfigDifferences(first: object, second: object): ConfigDifference[] {
  const [firstValues, secondValues] = [collectConfigValues(first), collectConfigValues(second)];
  return [...new Set([...firstValues.keys(), ...secondValues.keys()])].flatMap((key) => {
    const [firstValue, secondValue] = [firstValues.get(key), secondValues.get(key)];
    if (isEqual(firstValue?.value, secondValue?.value)) return [];
    return [
      {
        path: firstValue?.path ?? secondValue?.path ?? [],
        ...(firstValue && { first: firstValue.value }),
        ...(secondValue && { second: secondValue.value }),
      },
    ];
  });
}

interface ConfigValueWithPath {
  readonly path: string[];
  readonly value: unknown;
}

/** Collects a configuration's values by path. A list counts as one value. */
function collectConfigValues(value: object): Map<string, ConfigValueWithPath> {
  const valuesByPath = new Map<string, ConfigValueWithPath>();
  const walk = (node: object, path: readonly string[]): void => {
    for (const [key, child] of Object.entries(node) as [string, unknown][]) {
      if (path.length === 0 && FIELDS_NOT_COMPARED.has(key)) continue;
      const childPath = [...path, key];
      if (isRecord(child)) walk(child, childPath);
      else if (child !== undefined) valuesByPath.set(JSON.stringify(childPath), { path: childPath, value: child });
    }
  };
  walk(value, []);
  return valuesByPath;
}
