/** The knowledge that `run` needs of an agent: where its requests go, and how to give it another address for this run alone. */
import { readFile } from 'node:fs/promises';
import { errorCode } from '../../../core/errors';
import { isRecord } from '../../../core/messages/blocks';
import type { Home } from '../../../storage/home';

/** Where an agent is started. */
export interface AgentHome extends Home {
  readonly cwd: string;
  /** Folder below which the files of this run will lie. */
  readonly runs: string;
  /** The user has said that this project may send requests elsewhere. */
  readonly trustProject?: boolean;
}

/** How an agent calls the MCP server that recalls; its environment holds the secret, so it never stands on a command line. */
export interface RecallServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The things that an agent gets for one run. */
export interface RunBed {
  /** The address of a route, secret and all. */
  readonly url: (route: string) => string;
  /** An address that may stand on a command line; it opens its route alone. */
  readonly ticketUrl: (route: string) => string;
  /** Writes a file of this run, which only its user can read, and gives its path. */
  readonly file: (name: string, text: string) => Promise<string>;
  readonly recall: RecallServer;
}

/** How an agent is started. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside the environment that we have ourselves. */
  readonly env: Readonly<Record<string, string>>;
}

/** An address that some setting names for an agent's requests. */
export interface NamedAddress {
  readonly text: string;
  /** The setting, for a person. */
  readonly from: string;
  readonly isProjects?: boolean;
}

/** Whether a project's addresses count; `why` completes a sentence about the agent. */
export interface ProjectTrust {
  readonly isTrusted: boolean;
  readonly why: string;
}

/** An agent that is ready to run: its requests' addresses were read from its own configuration. */
export interface ReadyAgent {
  readonly routes: ReadonlyMap<string, URL>;
  /** For a route the setting that names its address, for a person; absent: it is the vendor's own. */
  readonly from?: ReadonlyMap<string, string>;
  /** Addresses of the project that are not used, and why. */
  readonly unused?: readonly NamedAddress[];
  readonly trust?: ProjectTrust;
  /** Whether it can ask for what was taken out. */
  readonly canRecall: boolean;
  /** Windows that its settings give to models, in tokens, by the model's id. */
  readonly windows?: ReadonlyMap<string, number>;
  readonly launch: (bed: RunBed) => Promise<Launch>;
}

/** An agent that `run` knows; what people call it is in the table of agents. */
export interface GatewayAgent {
  /** Its arguments that go on with the last session of this folder; absent where its command line has none. */
  readonly goesOn?: readonly string[];
  /** @throws UnsupportedError where it can't be led through the gateway as it is set up. */
  readonly prepare: (args: readonly string[], home: AgentHome) => Promise<ReadyAgent>;
}

/** An agent, or a way of signing in, that is not supported; the message says what to do instead, in a sentence. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError';
}

/** The text of a file; undefined where there is none. @throws UnsupportedError where it can't be read. */
async function textIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw new UnsupportedError(`${path} can't be read (${errorCode(error) ?? 'unknown error'}).`);
  }
}

/** The content of an agent's settings file; empty if there is no file. @throws UnsupportedError if it can't be understood. */
export async function settingsIn(
  path: string,
  parse: (text: string) => unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await textIfThere(path);
  if (text === undefined || text.trim() === '') return {};
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    throw new UnsupportedError(`${path} can't be parsed, so it is not known where the requests go.`);
  }
  return isRecord(value) ? value : {};
}

/** A field of nested settings; undefined where the way there doesn't exist. */
export function fieldIn(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const key of path) at = isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return at;
}

/** A field that is a text with something in it. */
export function textIn(value: unknown, ...path: readonly string[]): string | undefined {
  const text = fieldIn(value, ...path);
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** An address from an agent's settings. @throws UnsupportedError if it is not an address. */
export function addressIn(text: string, where: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new UnsupportedError(`${where} is not an address that the gateway can pass requests to.`);
}

/** The value of an option on a command line, in either form; undefined where it isn't given. */
export function optionIn(args: readonly string[], ...names: readonly string[]): string | undefined {
  for (const [at, arg] of args.entries()) {
    if (arg === '--') return undefined;
    if (names.includes(arg)) return args[at + 1];
    const name = names.find((one) => one.startsWith('--') && arg.startsWith(`${one}=`));
    if (name !== undefined) return arg.slice(name.length + 1);
  }
  return undefined;
}

/** The variables that name the hosts which no proxy stands before. */
export const NO_PROXY = ['NO_PROXY', 'no_proxy'] as const;

/** The value of such a variable, with this machine among the hosts. */
export const withLoopback = (hosts?: string): string => [hosts, '127.0.0.1,localhost'].filter(Boolean).join(',');
