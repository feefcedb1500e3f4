import type { IncomingHttpHeaders } from 'node:http';

/** Headers that name one conversation, each with those that tell its sub-agents apart. Seen in the agents' own requests. */
const NAMING: readonly (readonly string[])[] = [
  // Codex. `session-id` and the cache key are the parent's in a sub-agent.
  ['thread-id'],
  // Claude Code. Only a sub-agent has the second.
  ['x-claude-code-session-id', 'x-claude-code-agent-id'],
  // OpenCode, Kilo.
  ['x-session-id'],
  // Pi, on the Responses API.
  ['session_id'],
];

/**
 * The agent's own id of a conversation, where it sends one. With the task it names the conversation; without it, the task and
 * the beginning do. Neither the user agent (Qwen Code calls itself claude-cli) nor the cache key says anything.
 */
export function getConversationId(headers: IncomingHttpHeaders): string | undefined {
  for (const names of NAMING) {
    const [first, ...rest] = names.map((name) => headers[name]);
    if (typeof first === 'string' && first !== '') {
      return [first, ...rest.filter((id) => typeof id === 'string')].join('/');
    }
  }
  return undefined;
}
