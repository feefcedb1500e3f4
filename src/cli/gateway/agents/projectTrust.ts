/**
 * Where a project may send an agent's requests. Anyone can write the settings of a repository that one clones, so an address in them
 * counts only where the agent itself has been told to trust the folder, or with `--trust-project`.
 */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fieldIn, settingsIn, type AgentHome, type NamedAddress, type ProjectTrust } from './agent';
import { jsonc } from './jsonc';

const BY_OPTION: ProjectTrust = { isTrusted: true, why: 'by --trust-project' };

/** The addresses to use and to leave alone, of those that settings name, the strongest first. */
export function usableAddress(
  named: readonly (NamedAddress | undefined)[],
  { isTrusted }: ProjectTrust,
): { readonly used: NamedAddress | undefined; readonly unused: readonly NamedAddress[] } {
  const all = named.filter((one) => one !== undefined);
  const at = all.findIndex(({ isProjects }) => isTrusted || !isProjects);
  const used = all[at];
  return { used, unused: all.slice(0, at < 0 ? all.length : at).filter(({ text }) => text !== used?.text) };
}

/**
 * Claude Code's own record: the folder, or one above it in the same repository, has been accepted in its dialog. Source: the published
 * program (2.1.332), which looks for `projects[folder].hasTrustDialogAccepted` from the working folder up to the repository's root, or
 * to the file system's where there is no repository. Of a linked worktree it also takes the main one's record, which we don't.
 */
export async function claudeCodeTrust(home: AgentHome): Promise<ProjectTrust> {
  if (home.trustProject) return BY_OPTION;
  const { env, homedir, cwd, platform } = home;
  const untrusted = { isTrusted: false, why: 'Claude Code has not been told to trust this folder' };
  if (env['CLAUDE_CODE_IGNORE_PERSISTED_TRUST']) return untrusted;
  const config = await settingsIn(join(env['CLAUDE_CONFIG_DIR'] ?? homedir, '.claude.json'), JSON.parse);
  const toKey = (folder: string): string => (platform === 'win32' ? folder.replaceAll('\\', '/') : folder);
  const isAccepted = foldersInRepository(cwd).some(
    (folder) => fieldIn(config, 'projects', toKey(folder), 'hasTrustDialogAccepted') === true,
  );
  return isAccepted ? { isTrusted: true, why: 'Claude Code trusts this folder' } : untrusted;
}

/**
 * Qwen Code's own record. Source: its code (0.24.4, `trustedFolders.ts`, `trust-precedence.ts`): of the rules whose folder holds the
 * working folder the deepest decides, and of two as deep the one that does not trust. It asks only where `security.folderTrust` is on;
 * where nobody was asked, nobody has told it to trust.
 */
export async function qwenCodeTrust(home: AgentHome): Promise<ProjectTrust> {
  if (home.trustProject) return BY_OPTION;
  const { env, homedir, cwd } = home;
  const folder = env['QWEN_HOME'] ?? join(homedir, '.qwen');
  const rules = await settingsIn(env['QWEN_CODE_TRUSTED_FOLDERS_PATH'] ?? join(folder, 'trustedFolders.json'), jsonc);
  let [depth, isTrusted] = [-1, false];
  for (const [path, level] of Object.entries(rules)) {
    if (level !== 'TRUST_FOLDER' && level !== 'TRUST_PARENT' && level !== 'DO_NOT_TRUST') continue;
    const root = resolve(level === 'TRUST_PARENT' ? dirname(path) : path);
    if (!isWithin(cwd, root)) continue;
    const deep = root.split(sep).filter(Boolean).length;
    if (deep > depth) [depth, isTrusted] = [deep, level !== 'DO_NOT_TRUST'];
    else if (deep === depth && level === 'DO_NOT_TRUST') isTrusted = false;
  }
  return isTrusted
    ? { isTrusted, why: 'Qwen Code trusts this folder' }
    : { isTrusted, why: 'Qwen Code has not been told to trust this folder' };
}

/** Of an agent that reads each project's settings and asks nobody, as OpenCode does (anomalyco/opencode#6361). */
export const unaskedTrust = ({ trustProject }: AgentHome, agent: string): ProjectTrust =>
  trustProject ? BY_OPTION : { isTrusted: false, why: `${agent} does not ask whether you trust a folder` };

/** The words of the first line of a run: which hosts get the requests, who said so, and which of a project's addresses are not used. */
export function destinationLine(
  routes: ReadonlyMap<string, URL>,
  from: ReadonlyMap<string, string> = new Map(),
  unused: readonly NamedAddress[] = [],
  trust?: ProjectTrust,
): string {
  const hosts = new Map<string, string | undefined>();
  for (const [route, { host }] of routes) hosts.set(host, from.get(route) ?? hosts.get(host));
  const named = [...hosts].filter(([, source]) => source !== undefined).map(([host, source]) => `${host} (${source})`);
  const plain = [...hosts].filter(([, source]) => source === undefined).map(([host]) => host);
  const to = [...named, ...(plain.length > MAX_PLAIN ? ['the addresses of its known providers'] : plain)];
  const left = unused.map(({ text, from: source }) => `${hostIn(text)} (${source})`);
  const not =
    left.length === 0
      ? ''
      : ` Not to ${listed(left)}: ${trust?.why ?? 'this folder is not trusted'}. To allow it, use --trust-project.`;
  return `Context Condenser: Requests go to ${listed(to)}.${not}`;
}

/** Vendors' own hosts that are named one by one. */
const MAX_PLAIN = 4;

const listed = (items: readonly string[]): string => [...new Set(items)].join(', ');

/** A host as a terminal may show it: `URL` leaves nothing else in it. */
export const hostIn = (address: string): string =>
  URL.canParse(address) ? new URL(address).host || 'an address without a host' : 'something that is no address';

/** A file's path for a person. */
export function shownPath(path: string, { homedir, cwd }: Pick<AgentHome, 'homedir' | 'cwd'>): string {
  const inProject = relative(cwd, path);
  if (isWithin(path, cwd)) return `${inProject} of this project`;
  return isWithin(path, homedir) ? join('~', relative(homedir, path)) : path;
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** A folder and those above it, up to the root of its repository, or of the file system. */
function foldersInRepository(folder: string): string[] {
  const above = dirname(folder);
  if (above === folder || existsSync(join(folder, '.git'))) return [folder];
  return [folder, ...foldersInRepository(above)];
}
