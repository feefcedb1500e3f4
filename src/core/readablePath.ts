import { isRecord } from './messages/blocks';

/**
 * Names an entry of a list by its name or its position from 1: `toolResults.maxLines`, `“Work” ›
 * threshold`.
 */
export function formatReadablePath(value: unknown, path: string): string {
  let currentValue: unknown = value;
  const steps = path.split('.').map((step) => {
    const isEntry = Array.isArray(currentValue) && /^\d+$/.test(step);
    currentValue =
      isRecord(currentValue) || Array.isArray(currentValue)
        ? (currentValue as Readonly<Record<string, unknown>>)[step]
        : undefined;
    return isEntry ? getEntryName(currentValue, step) : step;
  });
  return steps.join('.') === path ? path : steps.join(' › ');
}

function getEntryName(entry: unknown, index: string): string {
  const name = isRecord(entry) ? (entry['name'] ?? entry['id']) : undefined;
  return typeof name === 'string' && name.trim() !== '' ? `“${name}”` : `entry ${Number(index) + 1}`;
}
