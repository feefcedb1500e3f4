/**
 * How Claude models differ in what they take (Anthropic's migration guides): the newer ones decide by themselves how much
 * to think, and think unasked. A gateway gives them names of its own, so it is learned from their refusals.
 */
import type { Quirk } from './quirks';

export interface AnthropicDialect {
  /** Thinking takes a budget of tokens; else it is `adaptive`. */
  readonly thinkingBudget: boolean;
  /** A tool can be demanded. */
  readonly forcedTools: boolean;
}

/** What is taken to be understood before anything was refused. */
export const ANTHROPIC_DIALECT: AnthropicDialect = { thinkingBudget: true, forcedTools: true };

export const ANTHROPIC_QUIRKS: readonly Quirk<AnthropicDialect>[] = [
  // From Opus 4.7 on: "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" …"
  { words: /thinking\.type\.enabled.*not supported/i, change: { thinkingBudget: false } },
  // Fable 5.1: "tool_choice: type \"tool\" and \"any\" are not supported for this model."
  // Sonnet 5: "Thinking may not be enabled when tool_choice forces tool use."
  { words: /tool_choice.*(?:not supported|forces tool use)/i, change: { forcedTools: false } },
];
