/** Describes agents as data: to add one, add an `Agent` to `index.ts`. */

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
 * Possible names of a parameter, by priority. `edits[].oldText` is a field of list elements;
 * `files[]` is a list of strings.
 */
export type ParameterNames = readonly string[];

export interface LineRange {
  readonly first?: ParameterNames;
  readonly last?: ParameterNames;
  readonly count?: ParameterNames;
  /** A single parameter `[first, last]`; -1 as last means the end of the file. */
  readonly pair?: ParameterNames;
}

export type LineNumberForm = 'arrow' | 'tab' | 'pipe' | 'bar' | 'colon' | 'dot' | 'L' | 'box';

export interface ToolRule {
  readonly kind: ToolKind;
  readonly path?: ParameterNames;
  readonly range?: LineRange;
  readonly old?: ParameterNames;
  readonly new?: ParameterNames;
  readonly content?: ParameterNames;
  /** A patch that names its files: `*** Begin Patch` or a unified diff. */
  readonly patch?: ParameterNames;
  readonly pattern?: ParameterNames;
  readonly command?: ParameterNames;
  /** Empty if lines are unnumbered; undefined if we must detect the format. */
  readonly numbers?: readonly LineNumberForm[];
  /**
   * True if the result contains the user's answer. Valid only for the agent's own sessions, since
   * others' tools may have the same name.
   */
  readonly person?: true;
  /** True if models wrote the call as XML before native tool calls. */
  readonly xml?: true;
}

type ToolRuleOfKind<Kind extends ToolKind, Needs extends keyof ToolRule = 'kind'> = Omit<ToolRule, 'kind'> & {
  readonly kind: Kind;
} & Required<Pick<ToolRule, Needs>>;

export type AgentToolRule =
  | ToolRuleOfKind<'read', 'path' | 'numbers'>
  | ToolRuleOfKind<'list', 'path'>
  | ToolRuleOfKind<'search', 'path' | 'pattern'>
  /** `command` is empty if a call only requests more output of a running command. */
  | ToolRuleOfKind<'command', 'command'>
  | ToolRuleOfKind<'write', 'path' | 'content'>
  | ToolRuleOfKind<'edit', 'path' | 'old' | 'new'>
  | ToolRuleOfKind<'edit', 'patch'>
  | ToolRuleOfKind<'plan' | 'fetch' | 'agent' | 'other'>;

/** By a tool's lowercase name, since capitalization varies between agents and models. */
export type AgentToolRules = Readonly<Record<Lowercase<string>, AgentToolRule>>;

export type StorePathStep = string | RegExp;

export interface StoreRow {
  /**
   * Folder: `${NAME:-else}` is an environment variable, `~` the home folder, `<data>`
   * XDG_DATA_HOME, `<local>` the application data folder of macOS and Windows, `<user>` the `User`
   * folder of each VS Code product.
   */
  readonly root: string;
  readonly steps: readonly StorePathStep[];
  /** `database`: a file with many sessions. `session`: the messages are in other files. */
  readonly kind?: 'database' | 'session';
  /**
   * Where subagent files are: in `<session>/x.jsonl` or `<session>/<folder>/x.jsonl` next to
   * `<session>.jsonl`, or in a sibling file whose records name the session.
   */
  readonly parent?: 'session-folder' | 'session-above' | 'session-named';
}

export type GiveBackTarget = 'roo-task' | 'cline-sidecar' | 'claude-code-session';

export interface GiveBackRule {
  readonly target: GiveBackTarget;
  readonly path: RegExp;
  /**
   * Matches paths in a folder that the user configured in the agent's settings, if the conversation
   * is known to be the agent's.
   */
  readonly customPath?: RegExp;
}

export type LiveAccess =
  /** The agent uses VS Code's chat models, including ours. */
  | { readonly through: 'chat-models' }
  | { readonly through: 'gateway'; readonly command: string }
  | { readonly through: 'nothing' };

/** Text that the agent, not the user, puts into user messages. */
export interface PromptPreamble {
  /**
   * XML elements. If the end tag is missing because the text was cut, the element extends to the
   * end.
   */
  readonly elements?: readonly string[];
  /** Elements that contain reports of subagents and background tasks. */
  readonly reports?: readonly string[];
  /** The agent's own words before the user's. */
  readonly openings?: readonly RegExp[];
  readonly sections?: PromptSections;
  /** XML elements that contain the user's words. */
  readonly wrappers?: readonly string[];
  /**
   * What the agent puts before the user's words, up to the opening tag of their element. The
   * pattern's group is the element's name.
   */
  readonly contexts?: readonly RegExp[];
  /**
   * The texts that the agent puts before and after attached files, each a text block of its own.
   */
  readonly fileFrame?: { readonly first: string; readonly last: string };
}

/** Sections before the user's words. A text in any other form is the user's own. */
export interface PromptSections {
  /** By heading of a section, the form of its lines; empty lines don't count. */
  readonly lines: Readonly<Record<string, RegExp>>;
  /** The line before a text that the user selected, and a line that may follow the text. */
  readonly selection: { readonly before: string; readonly after: string };
  /** Headings of sections that contain the user's words, too. */
  readonly withUserWords: RegExp;
  /** Headings of the user's words. */
  readonly words: readonly string[];
}

export interface Agent {
  readonly name: string;
  readonly formats: readonly string[];
  /** Versions with which reading was tested; undefined if not readable. */
  readonly seen: { readonly versions: string; readonly on: 'real sessions' | 'hand-written sessions' } | undefined;
  readonly stores: readonly StoreRow[];
  /** True if the agent's files lack most tool results, so that little can be condensed. */
  readonly storesFewResults?: true;
  /** Prefix of the agent's VS Code settings, in which users can choose another folder. */
  readonly settings?: string;
  readonly tools: AgentToolRules;
  readonly preamble: PromptPreamble;
  readonly giveBack: GiveBackRule | undefined;
  readonly live: LiveAccess;
}
