/**
 * How Claude models differ in what they take (Anthropic's migration guides): the newer ones decide by themselves how much
 * to think, and think unasked. What their names don't say (a gateway gives them names of its own) is learned from refusals.
 */
import { findFamily } from '../core/vendors/families';
import type { Quirk } from './quirks';

export interface AnthropicDialect {
  /** `budget`: of tokens. `adaptive`, `unasked`: see `ModelFamily.thinking`. */
  readonly thinking: 'budget' | 'adaptive' | 'unasked';
  /** Thinking can be requested as text; otherwise adaptive thinking may come as empty text. */
  readonly display: boolean;
  /** The header `anthropic-beta` is understood. */
  readonly betas: boolean;
  /** Thinking whose beginning has changed can be dropped there, in place of a refusal. */
  readonly blockBinding: boolean;
  /** A tool can be demanded. */
  readonly forcedTools: boolean;
  /** Tokens of one answer at most, as a refusal named them. */
  readonly maxTokens: number;
}

/** The dialect to start with, before anything was refused. Bedrock's SDK puts the betas of the header into the body. */
export function findAnthropicDialect(model: string): AnthropicDialect {
  const { thinking = 'budget' } = findFamily(model) ?? {};
  return {
    thinking,
    display: true,
    betas: true,
    blockBinding: thinking === 'unasked',
    forcedTools: true,
    maxTokens: Number.POSITIVE_INFINITY,
  };
}

export const ANTHROPIC_QUIRKS: readonly Quirk<AnthropicDialect>[] = [
  // From Opus 4.7 on: "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" …"
  { words: /thinking\.type\.enabled.*not supported/i, change: { thinking: 'adaptive' } },
  // Older ones, and gateways: "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags"
  { words: /adaptive.*(?:not supported|does not match|expected tags)/i, change: { thinking: 'budget' } },
  // Gateways and platforms that don't know the field: "thinking.adaptive.display: Extra inputs are not permitted"
  { words: /display.*(?:Extra inputs|not permitted|not supported)/i, change: { display: false } },
  { words: /block_binding.*(?:Extra inputs|not permitted|not supported)/i, change: { blockBinding: false } },
  // "Unexpected value(s) `thinking-binding-controls-2026-08-01` for the `anthropic-beta` header."
  // A header that only a request to compact has says nothing of the others.
  {
    words: /(?:unexpected|invalid|unknown|unsupported)(?!.*compact-2026).*(?:anthropic-beta|beta flag)/i,
    change: { betas: false },
  },
  // Fable 5.1: "tool_choice: type \"tool\" and \"any\" are not supported for this model."
  // Sonnet 5: "Thinking may not be enabled when tool_choice forces tool use."
  { words: /tool_choice.*(?:not supported|forces tool use)/i, change: { forcedTools: false } },
  // "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5"
  { words: /max_tokens: \d+ > (\d+)/i, change: ([, most]) => ({ maxTokens: Number(most) }) },
];

/** The values of the header `anthropic-beta` for a request (SDK 1.12, beta types). */
export function listBetas(dialect: AnthropicDialect, isThinking: boolean, compacts = false): string[] {
  const compaction = compacts ? ['compact-2026-09-04'] : [];
  if (!dialect.betas || !isThinking) return compaction;
  return [
    ...compaction,
    // Adaptive thinking goes on between calls by itself; thinking with a budget does with this.
    ...(dialect.thinking === 'budget' ? ['interleaved-thinking-2025-05-14'] : []),
    ...(dialect.blockBinding ? ['thinking-binding-controls-2026-08-01'] : []),
  ];
}
