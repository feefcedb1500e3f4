import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getErrorCode } from '../../../core/errors';
import { isRecord } from '../../../core/messages/blocks';
import type { HomeEnvironment } from '../../../storage/home';

export interface AgentEnvironment extends HomeEnvironment {
  readonly cwd: string;
  readonly runs: string;
  /** True if the user allows this project to redirect requests. */
  readonly trustProject?: boolean;
}

/** How an agent starts the recall server. The secret is in `env`, never on a command line. */
export interface RecallServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface RunEnvironment {
  /** Returns the gateway's URL for a route, including the secret. */
  readonly url: (route: string) => string;
  /** Returns a URL that may be on a command line, because it grants access to its route only. */
  readonly ticketUrl: (route: string) => string;
  /**
   * Writes a file that only the user can read.
   * @returns its path
   */
  readonly file: (name: string, text: string) => Promise<string>;
  readonly recall: RecallServer;
}

export interface AgentLaunch {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that are added to our own environment for the agent. */
  readonly env: Readonly<Record<string, string>>;
}

export interface AddressWithSource {
  readonly text: string;
  /** Name of the setting that contains the URL, for display. */
  readonly source: string;
  readonly isFromProject?: boolean;
}

/** Whether the agent's user trusts the project; `why` completes a sentence about the agent. */
export interface ProjectTrust {
  readonly isTrusted: boolean;
  readonly why: string;
}

export interface PreparedAgent {
  readonly routes: ReadonlyMap<string, URL>;
  /**
   * By route, the name of the setting that contains its URL, for display. Absent for the vendor's
   * own URL.
   */
  readonly sourceByRoute?: ReadonlyMap<string, string>;
  /** URLs in project settings that are not used, because the project is not trusted. */
  readonly untrusted?: readonly AddressWithSource[];
  readonly trust?: ProjectTrust;
  /** True if the agent has the recall tool. */
  readonly canRecall: boolean;
  /** Context windows in tokens, by model ID, from the agent's settings. */
  readonly windows?: ReadonlyMap<string, number>;
  readonly launch: (run: RunEnvironment) => Promise<AgentLaunch>;
}

export interface GatewayAgent {
  /** Arguments that resume the folder's last session, if the agent has any. */
  readonly resumeArguments?: readonly string[];
  /** @throws UnsupportedError if the agent's configuration can't use the gateway */
  readonly prepare: (args: readonly string[], home: AgentEnvironment) => Promise<PreparedAgent>;
}

/** The agent can't use the gateway; the message says what to do instead. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError';
}

/**
 * Returns undefined if the file doesn't exist.
 * @throws UnsupportedError if it is unreadable
 */
async function readTextIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR') return undefined;
    throw new UnsupportedError(`${path} can't be read (${getErrorCode(error) ?? 'unknown error'}).`);
  }
}

/**
 * Returns an empty object if the file doesn't exist.
 * @throws UnsupportedError if it can't be parsed
 */
export async function readSettingsFile(
  path: string,
  parse: (text: string) => unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await readTextIfPresent(path);
  if (text === undefined || text.trim() === '') return {};
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    throw new UnsupportedError(`${path} can't be parsed, so it is not known where the requests go.`);
  }
  return isRecord(value) ? value : {};
}

/** Returns undefined if the path doesn't exist. */
export function getFieldAtPath(value: unknown, ...path: readonly string[]): unknown {
  let currentValue = value;
  for (const key of path)
    currentValue = isRecord(currentValue) && Object.hasOwn(currentValue, key) ? currentValue[key] : undefined;
  return currentValue;
}

/** Returns an empty object if there is none at the path. */
export function getRecordAtPath(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  const fieldValue = getFieldAtPath(value, ...path);
  return isRecord(fieldValue) ? fieldValue : {};
}

/** Returns the text at the path; undefined if it is empty or no text. */
export function getTextAtPath(value: unknown, ...path: readonly string[]): string | undefined {
  const text = getFieldAtPath(value, ...path);
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** @throws UnsupportedError if the setting isn't a URL */
export function parseAddress(text: string, where: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new UnsupportedError(`${where} is not an address that the gateway can pass requests to.`);
}

/** Accepts `--name value` and `--name=value`. */
export function getOptionValue(args: readonly string[], ...names: readonly string[]): string | undefined {
  for (const [at, arg] of args.entries()) {
    if (arg === '--') return undefined;
    if (names.includes(arg)) return args[at + 1];
    const matchingName = names.find((one) => one.startsWith('--') && arg.startsWith(`${one}=`));
    if (matchingName !== undefined) return arg.slice(matchingName.length + 1);
  }
  return undefined;
}

export function removeOption(args: readonly string[], name: string): string[] {
  const optionIndex = args.indexOf(name);
  return optionIndex < 0 ? args.filter((arg) => !arg.startsWith(`${name}=`)) : args.toSpliced(optionIndex, 2);
}

/** The folder and its parents, innermost first. */
export const listFolderAndParents = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...listFolderAndParents(dirname(folder))];

/** Gemini CLI and its descendant Qwen Code read the same machine-wide settings. */
export function getSystemSettingsPath(
  { platform, env }: AgentEnvironment,
  onDarwin: string,
  folderName: string,
): string {
  if (platform === 'darwin') return `/Library/Application Support/${onDarwin}/settings.json`;
  if (platform === 'win32') return join(env['ProgramData'] ?? 'C:\\ProgramData', folderName, 'settings.json');
  return `/etc/${folderName}/settings.json`;
}

export const NO_PROXY_VARIABLES = ['NO_PROXY', 'no_proxy'] as const;

export const addLoopbackHosts = (hosts?: string): string => [hosts, '127.0.0.1,localhost'].filter(Boolean).join(',');
