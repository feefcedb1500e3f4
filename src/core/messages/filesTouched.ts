import type { ToolExchange } from './exchanges';
import { isRecord } from './blocks';
import { makeFileKey } from './filePath';
import { getToolPath, getToolRule, type ToolTable } from './tools';

export interface TouchedFile {
  readonly path: string;
  readonly changes: number;
}

export function listTouchedFiles(exchanges: readonly ToolExchange[], tools: ToolTable): TouchedFile[] {
  const files = new Map<string, TouchedFile>();
  for (const exchange of exchanges) {
    const kind = getToolRule(tools, exchange)?.kind;
    if (exchange.isError || (kind !== 'read' && kind !== 'write' && kind !== 'edit')) continue;
    for (const path of listTouchedPaths(tools, exchange)) {
      const key = makeFileKey(path);
      const touched = files.get(key) ?? { path, changes: 0 };
      files.delete(key);
      files.set(key, kind === 'read' ? touched : { ...touched, changes: touched.changes + 1 });
    }
  }
  return [...files.values()];
}

export function listTouchedPaths(tools: ToolTable, exchange: ToolExchange): string[] {
  const one = getToolPath(tools, exchange);
  if (one !== undefined) return [one];
  const { input } = exchange;
  const paths: string[] = [];
  for (const list of [input['files'], input['replacements'], input['edits']]) {
    if (!Array.isArray(list)) continue;
    for (const item of list as unknown[]) {
      const path = isRecord(item) ? (item['path'] ?? item['filePath'] ?? item['file_path']) : item;
      if (typeof path === 'string') paths.push(path);
    }
  }
  for (const [, path] of asString(input['args']).matchAll(/<path>([^<]+)<\/path>/g)) paths.push((path ?? '').trim());
  // Codex and VS Code write `*** Update File: path` in the patch.
  for (const text of Object.values(input).map(asString)) {
    for (const [, path] of text.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm))
      paths.push((path ?? '').trim());
  }
  return [...new Set(paths.filter((path) => path !== ''))];
}

const asString = (value: unknown): string => (typeof value === 'string' ? value : '');

const COMMON_FOLDER_SHARE = 0.8;

/** Ends with a slash; '' if most paths share no folder. */
export function findCommonFolder(paths: readonly string[]): string {
  const absolute = paths.filter((path) => /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path));
  if (absolute.length < 2) return '';
  let folder = '';
  for (;;) {
    const counts = new Map<string, number>();
    for (const path of absolute) {
      if (!path.startsWith(folder)) continue;
      const end = path.slice(folder.length).search(/[\\/]/);
      if (end < 0) continue;
      const next = path.slice(0, folder.length + end + 1);
      counts.set(next, (counts.get(next) ?? 0) + 1);
    }
    const deeper = [...counts].find(([, count]) => count >= absolute.length * COMMON_FOLDER_SHARE)?.[0];
    if (deeper === undefined) return folder.length > 1 ? folder : '';
    folder = deeper;
  }
}
