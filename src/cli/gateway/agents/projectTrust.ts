/**
 * A cloned repository's settings are untrusted: to redirect requests, the user must have trusted
 * the folder in the agent or passed `--trust-project`.
 */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import {
  getFieldAtPath,
  listFolderAndParents,
  readSettingsFile,
  type AgentEnvironment,
  type AddressWithSource,
  type ProjectTrust,
} from './agent';
import { parseJsonc } from './jsonc';

const TRUSTED_BY_OPTION: ProjectTrust = { isTrusted: true, why: 'by --trust-project' };

/**
 * Also lists project URLs of higher precedence that may not be used.
 * @param candidates in descending order of precedence
 */
export function chooseTrustedAddress(
  candidates: readonly (AddressWithSource | undefined)[],
  { isTrusted }: ProjectTrust,
): { readonly trusted: AddressWithSource | undefined; readonly untrusted: readonly AddressWithSource[] } {
  const addresses = candidates.filter((one) => one !== undefined);
  const trustedIndex = addresses.findIndex(({ isFromProject }) => isTrusted || !isFromProject);
  const trustedAddress = addresses[trustedIndex];
  return {
    trusted: trustedAddress,
    untrusted: addresses
      .slice(0, trustedIndex < 0 ? addresses.length : trustedIndex)
      .filter(({ text }) => text !== trustedAddress?.text),
  };
}

/**
 * Looks for `projects[folder].hasTrustDialogAccepted` from the folder up to the root of the
 * repository, or of the file system without one. Source: the published program (2.1.332). Unlike
 * Claude Code, we don't accept the main worktree's record for a linked worktree.
 */
export async function readClaudeCodeTrust(home: AgentEnvironment): Promise<ProjectTrust> {
  if (home.trustProject) return TRUSTED_BY_OPTION;
  const { env, homedir, cwd, platform } = home;
  const untrustedFolder = { isTrusted: false, why: 'Claude Code has not been told to trust this folder' };
  if (env['CLAUDE_CODE_IGNORE_PERSISTED_TRUST']) return untrustedFolder;
  const config = await readSettingsFile(join(env['CLAUDE_CONFIG_DIR'] ?? homedir, '.claude.json'), JSON.parse);
  const toKey = (folder: string): string => (platform === 'win32' ? folder.replaceAll('\\', '/') : folder);
  const isAccepted = listFoldersInRepository(cwd).some(
    (folder) => getFieldAtPath(config, 'projects', toKey(folder), 'hasTrustDialogAccepted') === true,
  );
  return isAccepted ? { isTrusted: true, why: 'Claude Code trusts this folder' } : untrustedFolder;
}

/**
 * Without `security.folderTrust` Qwen Code doesn't ask, so the folder counts as untrusted. Source:
 * Qwen Code's code (0.24.4, `trustedFolders.ts`, `trust-precedence.ts`).
 */
export async function readQwenCodeTrust(home: AgentEnvironment): Promise<ProjectTrust> {
  if (home.trustProject) return TRUSTED_BY_OPTION;
  const { env, homedir, cwd } = home;
  const folder = env['QWEN_HOME'] ?? join(homedir, '.qwen');
  const rules = await readSettingsFile(
    env['QWEN_CODE_TRUSTED_FOLDERS_PATH'] ?? join(folder, 'trustedFolders.json'),
    parseJsonc,
  );
  let [deepestRule, isTrusted] = [-1, false];
  for (const [path, level] of Object.entries(rules)) {
    if (level !== 'TRUST_FOLDER' && level !== 'TRUST_PARENT' && level !== 'DO_NOT_TRUST') continue;
    const ruleFolder = resolve(level === 'TRUST_PARENT' ? dirname(path) : path);
    if (!isWithin(cwd, ruleFolder)) continue;
    const depth = ruleFolder.split(sep).filter(Boolean).length;
    if (depth > deepestRule) [deepestRule, isTrusted] = [depth, level !== 'DO_NOT_TRUST'];
    else if (depth === deepestRule && level === 'DO_NOT_TRUST') isTrusted = false;
  }
  return isTrusted
    ? { isTrusted, why: 'Qwen Code trusts this folder' }
    : { isTrusted, why: 'Qwen Code has not been told to trust this folder' };
}

/**
 * Used for agents that use project settings without asking, like OpenCode
 * (anomalyco/opencode#6361).
 */
export const makeTrustFromOption = ({ trustProject }: AgentEnvironment, agent: string): ProjectTrust =>
  trustProject ? TRUSTED_BY_OPTION : { isTrusted: false, why: `${agent} does not ask whether you trust a folder` };

/**
 * Says which hosts receive requests, which setting says so, and which project URLs are not used.
 */
export function formatDestinations(
  routes: ReadonlyMap<string, URL>,
  sourceByRoute: ReadonlyMap<string, string> = new Map(),
  untrustedAddresses: readonly AddressWithSource[] = [],
  trust?: ProjectTrust,
): string {
  const sourceByHost = new Map<string, string | undefined>();
  for (const [route, { host }] of routes) sourceByHost.set(host, sourceByRoute.get(route) ?? sourceByHost.get(host));
  const hostsWithSource = [...sourceByHost]
    .filter(([, source]) => source !== undefined)
    .map(([host, source]) => `${host} (${source})`);
  const hostsWithoutSource = [...sourceByHost].filter(([, source]) => source === undefined).map(([host]) => host);
  const destinations = [
    ...hostsWithSource,
    ...(hostsWithoutSource.length > MAX_LISTED_HOSTS ? ['the addresses of its known providers'] : hostsWithoutSource),
  ];
  const refusedHosts = untrustedAddresses.map(({ text, source }) => `${extractHost(text)} (${source})`);
  const refusedText =
    refusedHosts.length === 0
      ? ''
      : ` Not to ${joinUnique(refusedHosts)}: ${trust?.why ?? 'this folder is not trusted'}. To allow it, use --trust-project.`;
  return `Context Condenser: Requests go to ${joinUnique(destinations)}.${refusedText}`;
}

/**
 * Maximum number of hosts to list that come from no setting; if there are more, they are described
 * together.
 */
const MAX_LISTED_HOSTS = 4;

const joinUnique = (items: readonly string[]): string => [...new Set(items)].join(', ');

/** Returns the host of a URL. It is safe to print, because `URL` normalizes it. */
export const extractHost = (address: string): string =>
  URL.canParse(address) ? new URL(address).host || 'an address without a host' : 'something that is no address';

export function shortenPath(path: string, { homedir, cwd }: Pick<AgentEnvironment, 'homedir' | 'cwd'>): string {
  const pathInProject = relative(cwd, path);
  if (isWithin(path, cwd)) return `${pathInProject} of this project`;
  return isWithin(path, homedir) ? join('~', relative(homedir, path)) : path;
}

function isWithin(path: string, folder: string): boolean {
  const relativePath = relative(folder, path);
  return (
    relativePath === '' || (relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath))
  );
}

/** Lists a folder and its parents, up to the root of the repository or else of the file system. */
function listFoldersInRepository(folder: string): string[] {
  const folderAndParents = listFolderAndParents(folder);
  const root = folderAndParents.findIndex((each) => existsSync(join(each, '.git')));
  return root < 0 ? folderAndParents : folderAndParents.slice(0, root + 1);
}
