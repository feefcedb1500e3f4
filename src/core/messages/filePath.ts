/** Paths as agents write them, on any operating system. Nothing accesses the disk. */

const ABSOLUTE_PATH = /^(?:[\\/]|~|[A-Za-z]:[\\/])/;

const isAbsolutePath = (path: string): boolean => ABSOLUTE_PATH.test(path);

/**
 * @param folder '' for the base folder; undefined if unknown, which allows only absolute paths
 * @returns undefined if the path can't be determined
 */
export function joinPath(folder: string | undefined, path: string): string | undefined {
  if (isAbsolutePath(path)) return normalizePath(path);
  return folder === undefined
    ? undefined
    : normalizePath(folder === '' ? path : `${folder.replace(/[\\/]$/, '')}/${path}`);
}

function normalizePath(path: string): string {
  const slashedPath = isWindowsPath(path) ? withoutLongPrefix(path).replaceAll('\\', '/') : path;
  const rootPrefix = /^(?:\/\/?|[A-Za-z]:\/)/.exec(slashedPath)?.[0] ?? '';
  const segments: string[] = [];
  for (const segment of slashedPath.slice(rootPrefix.length).split('/')) {
    if (segment === '' || segment === '.') continue;
    const lastSegment = segments.at(-1);
    if (segment === '..' && lastSegment !== undefined && lastSegment !== '..' && lastSegment !== '~') segments.pop();
    else if (segment !== '..' || rootPrefix === '') segments.push(segment);
  }
  return rootPrefix + segments.join('/');
}

/**
 * Windows' long path prefixes `\\?\C:\x` and `\\?\UNC\server\share\x` (Microsoft, "Naming Files,
 * Paths, and Namespaces").
 */
const withoutLongPrefix = (path: string): string =>
  path.replace(/^\\\\\?\\(?:UNC\\)?/i, (prefix) => (prefix.length > 4 ? '\\\\' : ''));

/** On Unix, a backslash is an ordinary character. */
export const isWindowsPath = (path: string): boolean =>
  /^[A-Za-z]:[\\/]/.test(path) ||
  path.startsWith('\\\\') ||
  (path.includes('\\') && !path.includes('/') && !/\\ /.test(path));

/**
 * Agents write paths absolute or relative to the workspace, so one path may be the end of the
 * other.
 */
export function isSameFile(a: string, b: string): boolean {
  if (a === b) return true;
  const firstKey = makeFileKey(a);
  const secondKey = makeFileKey(b);
  if (firstKey === secondKey) return true;
  const [short, long] = firstKey.length < secondKey.length ? [firstKey, secondKey] : [secondKey, firstKey];
  if (short === '' || isAbsolutePath(short)) return false;
  return long.endsWith(`/${isWindowsPath(long) ? short.toLowerCase() : short}`);
}

/**
 * All spellings of a path have the same key. On Windows, for example, `C:\x`, `c:/X`, `/c/x` (Unix
 * tools) and `/c:/x` (VS Code's URIs) are equal.
 */
export function makeFileKey(path: string): string {
  const normalizedPath = normalizePath(path);
  const drive = /^(?:\/?([A-Za-z]):|\/(?:mnt\/|cygdrive\/)?([a-z]))(?=\/)/.exec(normalizedPath);
  if (drive) return `${drive[1] ?? drive[2] ?? ''}:${normalizedPath.slice(drive[0].length)}`.toLowerCase();
  return isWindowsPath(path) ? normalizedPath.toLowerCase() : normalizedPath;
}

export const shortenPath = (path: string): string => path.split(/[\\/]/).filter(Boolean).slice(-2).join('/');
