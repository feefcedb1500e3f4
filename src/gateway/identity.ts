import type { IncomingHttpHeaders } from 'node:http';

/**
 * Each row names the header with a conversation's ID, then headers that identify subagents.
 * Observed in the agents' requests.
 */
const IDENTITY_HEADERS: readonly (readonly string[])[] = [
  // Codex. In subagents, `session-id` and the cache key are the parent's.
  ['thread-id'],
  // Claude Code. Only subagents send the second header.
  ['x-claude-code-session-id', 'x-claude-code-agent-id'],
  // OpenCode, Kilo.
  ['x-session-id'],
  // Pi, on the Responses API.
  ['session_id'],
];

/**
 * Returns the agent's ID of the conversation. User agent (Qwen Code sends claude-cli) and cache key
 * are not used, because they are unreliable.
 */
export function getAgentConversationId(headers: IncomingHttpHeaders): string | undefined {
  for (const names of IDENTITY_HEADERS) {
    const [first, ...rest] = names.map((name) => headers[name]);
    if (typeof first === 'string' && first !== '') {
      return [first, ...rest.filter((id) => typeof id === 'string')].join('/');
    }
  }
  return undefined;
}
