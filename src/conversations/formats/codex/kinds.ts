/**
 * What happens to each kind of record and item in a rollout. Sources: openai/codex,
 * codex-rs/protocol (RolloutItem, ResponseItem) and codex-rs/rollout/src/policy.rs (which are
 * stored); requests of codex-cli 0.171 recorded by a local server.
 */

export type ItemUse =
  /** Part of the next request. */
  | 'sent'
  /** Declares tools beside the messages. */
  | 'declarations'
  | 'not-sent';

/** Kinds missing here are unknown; Codex itself drops them (`ResponseItem::Other`). */
export const ITEM_USE_BY_KIND: Readonly<Record<string, ItemUse>> = {
  message: 'sent',
  agent_message: 'sent',
  reasoning: 'sent',
  local_shell_call: 'sent',
  function_call: 'sent',
  function_call_output: 'sent',
  custom_tool_call: 'sent',
  custom_tool_call_output: 'sent',
  tool_search_call: 'sent',
  tool_search_output: 'sent',
  web_search_call: 'sent',
  image_generation_call: 'sent',
  compaction: 'sent',
  /** The name of `compaction` until 0.9x. */
  compaction_summary: 'sent',
  context_compaction: 'sent',
  additional_tools: 'declarations',
  compaction_trigger: 'not-sent',
  ghost_snapshot: 'not-sent',
};

/**
 * Records that Codex keeps for itself: `event_msg` for the screen, others to resume a thread. What
 * the model sees of `world_state` is in separate messages.
 */
export const UNSENT_RECORD_TYPES: ReadonlySet<string> = new Set([
  'session_meta',
  'turn_context',
  'world_state',
  'token_usage_record',
  'inter_agent_communication_metadata',
]);
