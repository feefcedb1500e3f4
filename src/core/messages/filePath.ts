/** Paths of files as agents write them, of any system: nothing here looks at a disk. */

const ABSOLUTE = /^(?:[\\/]|~|[A-Za-z]:[\\/])/;

/** Whether a path names the same file in whatever folder it is used. */
const isAbsolutePath = (path: string): boolean => ABSOLUTE.test(path);

/**
 * A path as seen from where `folder` is named, without `.` and `..` where they can be resolved; slashes for backslashes.
 * @param folder '' for the place itself; undefined where nobody knows, which only leaves absolute paths.
 * @returns undefined where it can't be known.
 */
export function joinPath(folder: string | undefined, path: string): string | undefined {
  if (isAbsolutePath(path)) return tidied(path);
  return folder === undefined ? undefined : tidied(folder === '' ? path : `${folder.replace(/[\\/]$/, '')}/${path}`);
}

/** A path with slashes, without empty steps, `.` and `..`. */
function tidied(path: string): string {
  const slashed = isWindowsPath(path) ? withoutLongPrefix(path).replaceAll('\\', '/') : path;
  const start = /^(?:\/\/?|[A-Za-z]:\/)/.exec(slashed)?.[0] ?? '';
  const steps: string[] = [];
  for (const step of slashed.slice(start.length).split('/')) {
    if (step === '' || step === '.') continue;
    const last = steps.at(-1);
    if (step === '..' && last !== undefined && last !== '..' && last !== '~') steps.pop();
    else if (step !== '..' || start === '') steps.push(step);
  }
  return start + steps.join('/');
}

/** Paths of more than 260 characters: `\\?\C:\x` and `\\?\UNC\server\share\x` (Windows, "Naming Files, Paths, and Namespaces"). */
const withoutLongPrefix = (path: string): string =>
  path.replace(/^\\\\\?\\(?:UNC\\)?/i, (prefix) => (prefix.length > 4 ? '\\\\' : ''));

/** A backslash is a letter like any other where paths have slashes. */
export const isWindowsPath = (path: string): boolean =>
  /^[A-Za-z]:[\\/]/.test(path) ||
  path.startsWith('\\\\') ||
  (path.includes('\\') && !path.includes('/') && !/\\ /.test(path));

/**
 * Whether two paths name one file, as far as it can be told: agents write one file from the root, from the workspace and
 * with either slash. A path that is the end of the other, step by step, names the same file.
 */
export function isSameFile(a: string, b: string): boolean {
  if (a === b) return true;
  const one = fileKey(a);
  const other = fileKey(b);
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short === '' || isAbsolutePath(short)) return false;
  return long.endsWith(`/${isWindowsPath(long) ? short.toLowerCase() : short}`);
}

/**
 * A key that all spellings of one path share. Paths of Windows are compared without regard to case and kind of slash; `/c/x` is what
 * its Unix tools call `C:\x`, and `/c:/x` what VS Code's URIs do.
 */
export function fileKey(path: string): string {
  const clean = tidied(path);
  const drive = /^(?:\/?([A-Za-z]):|\/(?:mnt\/|cygdrive\/)?([a-z]))(?=\/)/.exec(clean);
  if (drive) return `${drive[1] ?? drive[2] ?? ''}:${clean.slice(drive[0].length)}`.toLowerCase();
  return isWindowsPath(path) ? clean.toLowerCase() : clean;
}

/** The end of a path, enough to know the file by. */
export const shortPath = (path: string): string => path.split(/[\\/]/).filter(Boolean).slice(-2).join('/');
