/**
 * What becomes of each kind of record and item of a rollout. Sources: openai/codex, codex-rs/protocol (RolloutItem, ResponseItem) and
 * codex-rs/rollout/src/policy.rs (what of them is stored); requests of codex-cli 0.171 as a local server received them.
 */

/** What a reader does with an item of the Responses API. */
export type ItemUse =
  /** It is a part of the next request. */
  | 'sent'
  /** It declares tools to the model, beside the messages. */
  | 'declarations'
  | 'not-sent';

/** Kinds that are not in here are not known: Codex itself drops what it does not know (`ResponseItem::Other`). */
export const ITEM_USES: Readonly<Record<string, ItemUse>> = {
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
 * Records around the items that Codex keeps for itself: `event_msg` is for the screen, the others for going on with a thread. What of
 * `world_state` the model is told stands in messages of its own.
 */
export const RECORDS_NOT_SENT: ReadonlySet<string> = new Set([
  'session_meta',
  'turn_context',
  'world_state',
  'token_usage_record',
  'inter_agent_communication_metadata',
]);
