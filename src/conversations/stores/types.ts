import type { AgentName } from '../../core/agents';

/** A conversation that was found but not read. Plain data, which crosses worker boundaries. */
export interface FoundConversation {
  readonly agent: AgentName;
  /** The file's path, or `<database>#<session>`. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Undefined for a session in several files or in a database. */
  readonly bytes: number | undefined;
  /** Path of the conversation that started this subagent's. */
  readonly parent?: string;
  /** Only for a session in a database, which lists titles without reading sessions. */
  readonly title?: string;
  readonly workspace?: string;
}

export interface FindConversationsProblem {
  readonly path: string;
  /** The reason is shown to the user, without the path. */
  readonly reason: string;
}

export interface FindConversationsResult {
  /** Newest first. */
  readonly conversations: readonly FoundConversation[];
  readonly problems: readonly FindConversationsProblem[];
}

export interface FindConversationsOptions {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homedir: string;
  /** The global storage folder of the running VS Code, whatever product it is. */
  readonly globalStorage?: string;
}
