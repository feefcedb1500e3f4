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
      const touchedFile = files.get(key) ?? { path, changes: 0 };
      files.delete(key);
      files.set(key, kind === 'read' ? touchedFile : { ...touchedFile, changes: touchedFile.changes + 1 });
    }
  }
  return [...files.values()];
}

export function listTouchedPaths(tools: ToolTable, exchange: ToolExchange): string[] {
  const singlePath = getToolPath(tools, exchange);
  if (singlePath !== undefined) return [singlePath];
  const { input } = exchange;
  const paths: string[] = [];
  for (const entries of [input['files'], input['replacements'], input['edits']]) {
    if (!Array.isArray(entries)) continue;
    for (const item of entries as unknown[]) {
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
  const absolutePaths = paths.filter((path) => /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path));
  if (absolutePaths.length < 2) return '';
  let folder = '';
  for (;;) {
    const counts = new Map<string, number>();
    for (const path of absolutePaths) {
      if (!path.startsWith(folder)) continue;
      const separatorIndex = path.slice(folder.length).search(/[\\/]/);
      if (separatorIndex < 0) continue;
      const nextFolder = path.slice(0, folder.length + separatorIndex + 1);
      counts.set(nextFolder, (counts.get(nextFolder) ?? 0) + 1);
    }
    const sharedFolder = [...counts].find(([, count]) => count >= absolutePaths.length * COMMON_FOLDER_SHARE)?.[0];
    if (sharedFolder === undefined) return folder.length > 1 ? folder : '';
    folder = sharedFolder;
  }
}
