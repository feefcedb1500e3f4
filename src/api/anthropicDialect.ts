/**
 * Differences between Claude models (Anthropic's migration guides). If a gateway renames models,
 * rejections teach the differences.
 */
import { findModelFamily } from '../core/vendors/families';
import type { Quirk } from './quirks';

export interface AnthropicDialect {
  /**
   * How thinking is requested: `budget` with a number of tokens; for the other values see
   * `ModelFamily.thinking`.
   */
  readonly thinking: 'budget' | 'adaptive' | 'unasked';
  /** True if thinking can be requested as text; otherwise it may arrive empty. */
  readonly display: boolean;
  /** True if the server accepts the `anthropic-beta` header. */
  readonly betas: boolean;
  /**
   * True if the server can drop thinking after a changed prompt prefix instead of rejecting the
   * request.
   */
  readonly blockBinding: boolean;
  readonly forcedTools: boolean;
  /** Maximum output tokens, learned from a rejection. */
  readonly maxTokens: number;
}

export function findAnthropicDialect(model: string): AnthropicDialect {
  const { thinking = 'budget' } = findModelFamily(model) ?? {};
  return {
    thinking,
    display: true,
    // Bedrock's SDK moves the betas from the header to the body.
    betas: true,
    blockBinding: thinking === 'unasked',
    forcedTools: true,
    maxTokens: Number.POSITIVE_INFINITY,
  };
}

export const ANTHROPIC_QUIRKS: readonly Quirk<AnthropicDialect>[] = [
  // From Opus 4.7 on: "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" …"
  { pattern: /thinking\.type\.enabled.*not supported/i, change: { thinking: 'adaptive' } },
  // Older models and gateways: "thinking: Input tag 'adaptive' found using 'type' does not match
  // any of the expected tags"
  { pattern: /adaptive.*(?:not supported|does not match|expected tags)/i, change: { thinking: 'budget' } },
  // Gateways and platforms without the field: "thinking.adaptive.display: Extra inputs are not
  // permitted"
  { pattern: /display.*(?:Extra inputs|not permitted|not supported)/i, change: { display: false } },
  { pattern: /block_binding.*(?:Extra inputs|not permitted|not supported)/i, change: { blockBinding: false } },
  // "Unexpected value(s) `thinking-binding-controls-2026-08-01` for the `anthropic-beta` header."
  // Excludes the header of compaction requests.
  {
    pattern: /(?:unexpected|invalid|unknown|unsupported)(?!.*compact-2026).*(?:anthropic-beta|beta flag)/i,
    change: { betas: false },
  },
  // Fable 5.1: "tool_choice: type … not supported for this model." Sonnet 5: "… when tool_choice
  // forces tool use."
  { pattern: /tool_choice.*(?:not supported|forces tool use)/i, change: { forcedTools: false } },
  // "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5"
  { pattern: /max_tokens: \d+ > (\d+)/i, change: ([, most]) => ({ maxTokens: Number(most) }) },
];

/** Values of the `anthropic-beta` header (SDK 1.12, beta types). */
export function listBetas(dialect: AnthropicDialect, isThinking: boolean, compacts = false): string[] {
  const compaction = compacts ? ['compact-2026-09-04'] : [];
  if (!dialect.betas || !isThinking) return compaction;
  return [
    ...compaction,
    // Adaptive thinking is interleaved by default; thinking with a budget needs this beta.
    ...(dialect.thinking === 'budget' ? ['interleaved-thinking-2025-05-14'] : []),
    ...(dialect.blockBinding ? ['thinking-binding-controls-2026-08-01'] : []),
  ];
}
