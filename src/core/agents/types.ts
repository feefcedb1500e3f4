/**
 * The description of an agent as data: where its conversations lie, what they look like, what its tools do, and what can be
 * given back to it. An agent is added by a row of this type in `index.ts`; what a row lacks does not compile.
 */

/** The kinds of tools that condensation distinguishes. */
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
 * Spellings of a parameter, the one to look at first in front. `edits[].oldText` is a field of each element of a list;
 * `files[]` is a list of strings.
 */
export type Parameters = readonly string[];

/** Which lines of a file a call asks for. Numbers are lines; the first line of a file is 1 unless `base` says 0. */
export interface LineRange {
  readonly first?: Parameters;
  readonly last?: Parameters;
  /** How many lines. */
  readonly count?: Parameters;
  /** One parameter with both: `[first, last]`, where a last of -1 is the file's end. */
  readonly pair?: Parameters;
  /** Behind the path, as in `src/a.ts:10-20,30-35`. */
  readonly inPath?: true;
  readonly base?: 0 | 1;
}

/** How a result numbers the lines of a file; the forms are told in messages/numberForms. */
export type NumberForm = 'arrow' | 'tab' | 'pipe' | 'bar' | 'colon' | 'dot' | 'L' | 'box';

export type Shell = 'sh' | 'powershell' | 'cmd';

/** How to read a tool's calls and results. Rows of users hold no more than the kind and what they know. */
export interface ToolRule {
  readonly kind: ToolKind;
  /** Parameters that name the file or folder. */
  readonly path?: Parameters;
  readonly range?: LineRange;
  /** The text that an edit replaces, and its replacement. */
  readonly old?: Parameters;
  readonly new?: Parameters;
  /** A file's whole new text. */
  readonly content?: Parameters;
  /** A patch that names its files: `*** Begin Patch`, a unified diff. */
  readonly patch?: Parameters;
  readonly pattern?: Parameters;
  readonly command?: Parameters;
  readonly cwd?: Parameters;
  /** The shell that runs the command; undefined where the command itself must tell. */
  readonly shell?: Shell;
  /** How the result numbers a file's lines; an empty list says that it prints them bare. Undefined: look at the result. */
  readonly numbers?: readonly NumberForm[];
  /** The result carries what a person answered. Holds for the agent's own sessions alone: others may have a tool of that name. */
  readonly person?: true;
  /** Stood as XML in the assistant's text before agents called tools natively. */
  readonly xml?: true;
}

type Row<Kind extends ToolKind, Needs extends keyof ToolRule = 'kind'> = Omit<ToolRule, 'kind'> & {
  readonly kind: Kind;
} & Required<Pick<ToolRule, Needs>>;

/** A row of an agent's tools: what matters for its kind can't be left out. */
export type Tool =
  | Row<'read', 'path' | 'numbers'>
  | Row<'list', 'path'>
  | Row<'search', 'path' | 'pattern'>
  /** `command` is empty where a call asks for more output of a command that runs. */
  | Row<'command', 'command'>
  | Row<'write', 'path' | 'content'>
  | Row<'edit', 'path' | 'old' | 'new'>
  | Row<'edit', 'patch'>
  | Row<'plan' | 'fetch' | 'agent' | 'other'>;

/** By name in lower case: agents and models are not of one mind about capitals. */
export type Tools = Readonly<Record<Lowercase<string>, Tool>>;

/** A step from a store's folder down to its files: a name, or the names that fit. */
export type Step = string | RegExp;

/** Files of one kind below one folder. */
export interface StoreRow {
  /**
   * The folder: `${NAME:-else}` is an environment variable, `~` the home folder, `<data>` the folder of XDG_DATA_HOME, `<local>`
   * where macOS and Windows keep a program's own data, `<user>` the `User` folder of each product of VS Code's family.
   */
  readonly root: string;
  readonly steps: readonly Step[];
  /** `database`: each file holds many sessions. `session`: its messages lie in other files. */
  readonly kind?: 'database' | 'session';
  /**
   * The conversation in `<session>.jsonl` started that in `<session>/x.jsonl`, in `<session>/<folder>/x.jsonl`, or in a file beside it
   * whose records name the session.
   */
  readonly parent?: 'session-folder' | 'session-above' | 'session-named';
}

export type GiveBackTarget = 'roo-task' | 'cline-sidecar' | 'claude-code-session';

export interface GiveBack {
  readonly target: GiveBackTarget;
  /** Where a file must lie for the agent to read what is written there. */
  readonly path: RegExp;
  /** The same for a file in a folder that its user chose, once the agent's settings told whose it is. */
  readonly customPath?: RegExp;
}

/** How an agent's running conversation is condensed. */
export type LiveAccess =
  /** It asks the models of VS Code's chat, ours among them. */
  | { readonly through: 'chat-models' }
  /** Its command line sends its requests through our gateway; how it is started is in cli/gateway/agents. */
  | { readonly through: 'gateway'; readonly command: string }
  /** Not yet: what it has stored can be condensed. */
  | { readonly through: 'nothing' };

/** Text that an agent itself puts into a user's messages: it is neither task nor title, nor written by a person. */
export interface Preamble {
  /** Names of XML elements. One that isn't closed reaches to the end: the text was cut. */
  readonly elements?: readonly string[];
  /** Those of them in which subagents and tasks in the background report. */
  readonly reports?: readonly string[];
  /** The agent's own words at a text's beginning, as far as they go; what is behind them is a person's. */
  readonly openings?: readonly RegExp[];
  /** Elements around a person's words. */
  readonly wrappers?: readonly string[];
}

export interface Agent {
  readonly name: string;
  /** The formats of its stored conversations; the readers are in conversations/formats. */
  readonly formats: readonly string[];
  /**
   * With which versions reading was tried: on real sessions, or only on sessions written after the agent's sources. Undefined
   * where what it stores can't be read.
   */
  readonly seen: { readonly versions: string; readonly on: 'real sessions' | 'hand-written sessions' } | undefined;
  readonly stores: readonly StoreRow[];
  /** Set where its files lack most results of tools: little is left to condense. */
  readonly storesFewResults?: true;
  /** The prefix of its settings in VS Code, where a user may choose another folder for its tasks. */
  readonly settings?: string;
  readonly tools: Tools;
  readonly preamble: Preamble;
  readonly giveBack: GiveBack | undefined;
  readonly live: LiveAccess;
}
