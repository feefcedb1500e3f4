import type { AgentName } from '../../core/agents';

/** A conversation that was found but not read. Plain data: crosses worker boundaries. */
export interface FoundConversation {
  readonly agent: AgentName;
  /** Argument of `readConversationFile`: the file's path, or `<database>#<session>`. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Undefined for a session in several files or in a database. */
  readonly bytes: number | undefined;
  /** Path of the conversation that started this subagent's. */
  readonly parent?: string;
  /** Details listed by a database without reading the session. */
  readonly title?: string;
  readonly workspace?: string;
}

/** An error that hid some conversations; the others were found. */
export interface FindProblem {
  readonly path: string;
  /** Reason to show to the user, without the path. */
  readonly reason: string;
}

export interface FindResult {
  /** Newest first. */
  readonly conversations: readonly FoundConversation[];
  readonly problems: readonly FindProblem[];
}

/** The machine to search; plain data. */
export interface FindOptions {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homedir: string;
  /** Global storage folder of the running VS Code, whatever product and wherever its data is. */
  readonly globalStorage?: string;
}
