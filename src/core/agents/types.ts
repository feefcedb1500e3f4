/**
 * Describes an agent as data: where conversations are stored, what they look like, what its tools
 * do, what can be given back. To add an agent, add a row of this type to `index.ts`.
 */

/** Kinds of tools that condensation distinguishes. */
export const TOOL_KINDS = [
  'read',
  'list',
  'search',
  'command',
  'write',
  'edit',
  'plan',
  'fetch',
  'agent',
  'other',
] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/**
 * Spellings of a parameter by priority. `edits[].oldText` is a field of list elements; `files[]` is
 * a list of strings.
 */
export type ParameterNames = readonly string[];

/** Parameters for the requested lines of a file. Lines start at 1 unless `base` is 0. */
export interface LineRange {
  readonly first?: ParameterNames;
  readonly last?: ParameterNames;
  readonly count?: ParameterNames;
  /** Single parameter `[first, last]`; a last of -1 means the end of the file. */
  readonly pair?: ParameterNames;
  /** After the path, as in `src/a.ts:10-20,30-35`. */
  readonly inPath?: true;
  readonly base?: 0 | 1;
}

/** Format of line numbers in results; see messages/numberForms. */
export type NumberForm = 'arrow' | 'tab' | 'pipe' | 'bar' | 'colon' | 'dot' | 'L' | 'box';

export type Shell = 'sh' | 'powershell' | 'cmd';

/** How to read a tool's calls and results. User rows contain only the kind and known fields. */
export interface ToolRule {
  readonly kind: ToolKind;
  /** Parameters that name the file or folder. */
  readonly path?: ParameterNames;
  readonly range?: LineRange;
  /** The text to replace. */
  readonly old?: ParameterNames;
  readonly new?: ParameterNames;
  /** The file's complete new text. */
  readonly content?: ParameterNames;
  /** A patch that names its files: `*** Begin Patch` or a unified diff. */
  readonly patch?: ParameterNames;
  readonly pattern?: ParameterNames;
  readonly command?: ParameterNames;
  readonly cwd?: ParameterNames;
  /** The shell that runs the command; undefined if it must be detected from the command. */
  readonly shell?: Shell;
  /**
   * Line-number formats in results; empty if lines are unnumbered. Undefined: detect from the
   * result.
   */
  readonly numbers?: readonly NumberForm[];
  /**
   * The result contains a person's answer. Valid only for the agent's own sessions, since other
   * tools may have the same name.
   */
  readonly person?: true;
  /** Was written as XML in the assistant's text before native tool calls. */
  readonly xml?: true;
}

type ToolRow<Kind extends ToolKind, Needs extends keyof ToolRule = 'kind'> = Omit<ToolRule, 'kind'> & {
  readonly kind: Kind;
} & Required<Pick<ToolRule, Needs>>;

/** A row of an agent's tools; fields essential for the kind are required. */
export type Tool =
  | ToolRow<'read', 'path' | 'numbers'>
  | ToolRow<'list', 'path'>
  | ToolRow<'search', 'path' | 'pattern'>
  /** `command` is empty if a call only requests more output of a running command. */
  | ToolRow<'command', 'command'>
  | ToolRow<'write', 'path' | 'content'>
  | ToolRow<'edit', 'path' | 'old' | 'new'>
  | ToolRow<'edit', 'patch'>
  | ToolRow<'plan' | 'fetch' | 'agent' | 'other'>;

/** By lowercase name, since capitalization varies between agents and models. */
export type Tools = Readonly<Record<Lowercase<string>, Tool>>;

/** A segment of the path from a store's folder to its files: a name or a pattern. */
export type PathStep = string | RegExp;

/** Files of one kind below one folder. */
export interface StoreRow {
  /**
   * Folder: `${NAME:-else}` is an environment variable, `~` the home folder, `<data>`
   * XDG_DATA_HOME, `<local>` the application data folder of macOS and Windows, `<user>` the `User`
   * folder of each VS Code product.
   */
  readonly root: string;
  readonly steps: readonly PathStep[];
  /** `database`: a file with many sessions. `session`: its messages are in other files. */
  readonly kind?: 'database' | 'session';
  /**
   * Where subagent files are: in `<session>/x.jsonl` or `<session>/<folder>/x.jsonl` next to
   * `<session>.jsonl`, or in a sibling file whose records name the session.
   */
  readonly parent?: 'session-folder' | 'session-above' | 'session-named';
}

export type GiveBackTarget = 'roo-task' | 'cline-sidecar' | 'claude-code-session';

export interface GiveBack {
  readonly target: GiveBackTarget;
  /** Path pattern of the files that the agent reads. */
  readonly path: RegExp;
  /** Path pattern for a folder that the user configured, once the agent's settings identify it. */
  readonly customPath?: RegExp;
}

/** How an agent's running conversation can be condensed. */
export type LiveAccess =
  /** The agent uses VS Code's chat models, including ours. */
  | { readonly through: 'chat-models' }
  /** The agent's command line sends requests through our gateway; started by cli/gateway/agents. */
  | { readonly through: 'gateway'; readonly command: string }
  /** Only stored conversations can be condensed. */
  | { readonly through: 'nothing' };

/** Text that the agent puts into user messages: neither task nor title, nor written by a person. */
export interface Preamble {
  /** XML element names. An unclosed element extends to the end, since the text was cut. */
  readonly elements?: readonly string[];
  /** Elements that contain reports of subagents and background tasks. */
  readonly reports?: readonly string[];
  /** The agent's own words at the start of a text; a person's words follow. */
  readonly openings?: readonly RegExp[];
  /** Elements around a person's words. */
  readonly wrappers?: readonly string[];
}

export interface Agent {
  readonly name: string;
  /** Formats of stored conversations; readers are in conversations/formats. */
  readonly formats: readonly string[];
  /**
   * Versions that reading was tested with, on real sessions or on sessions written from the agent's
   * source. Undefined if not readable.
   */
  readonly seen: { readonly versions: string; readonly on: 'real sessions' | 'hand-written sessions' } | undefined;
  readonly stores: readonly StoreRow[];
  /** Set if its files lack most tool results, so little can be condensed. */
  readonly storesFewResults?: true;
  /** Prefix of its VS Code settings, in which users can choose another task folder. */
  readonly settings?: string;
  readonly tools: Tools;
  readonly preamble: Preamble;
  readonly giveBack: GiveBack | undefined;
  readonly live: LiveAccess;
}
