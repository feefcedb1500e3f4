import type { AgentName } from '../../core/agents';

/** A conversation that was found, not yet read. Plain data: it crosses worker boundaries. */
export interface FoundConversation {
  readonly agent: AgentName;
  /** The argument of `readConversationFile`: the file's path, or `<database>#<session>`. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Bytes of the file; undefined for a session that is spread over files or lies in a database. */
  readonly bytes: number | undefined;
  /** The path of the conversation that started it: it is a subagent's. */
  readonly parent?: string;
  /** Details that a database lists without being read. */
  readonly title?: string;
  readonly workspace?: string;
}

/** An error that kept some conversations from being found; the others were found all the same. */
export interface FindProblem {
  readonly path: string;
  /** In words for a person, without the path. */
  readonly reason: string;
}

export interface FindResult {
  /** The newest first. */
  readonly conversations: readonly FoundConversation[];
  readonly problems: readonly FindProblem[];
}

/** The machine that is searched; plain data. */
export interface FindOptions {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homedir: string;
  /** The global storage folder of this very VS Code, whatever product it is and wherever its data lies. */
  readonly globalStorage?: string;
}
