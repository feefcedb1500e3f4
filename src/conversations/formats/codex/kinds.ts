/**
 * Sources: openai/codex, codex-rs/protocol (RolloutItem, ResponseItem) and
 * codex-rs/rollout/src/policy.rs; requests of codex-cli 0.171 recorded by a local server.
 */

export type ItemUseInPrompt = 'sent' | 'declarations' | 'not-sent';

/** Kinds that are not listed are unknown; Codex itself drops them (`ResponseItem::Other`). */
export const ITEM_USE_IN_PROMPT_BY_KIND: Readonly<Record<string, ItemUseInPrompt>> = {
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
  /** `compaction` had this name until 0.9x. */
  compaction_summary: 'sent',
  context_compaction: 'sent',
  additional_tools: 'declarations',
  compaction_trigger: 'not-sent',
  ghost_snapshot: 'not-sent',
};

/**
 * Codex keeps these records for its screen and for resuming. What the model sees of `world_state`
 * is in messages.
 */
export const RECORD_TYPES_NOT_SENT_TO_MODEL: ReadonlySet<string> = new Set([
  'session_meta',
  'turn_context',
  'world_state',
  'token_usage_record',
  'inter_agent_communication_metadata',
]);
