/**
 * Limits of Claude models. Sources: migration guides under platform.claude.com/docs/en/models
 * (thinking, forced tools, windows, output),
 * docs/en/build-with-claude/preserved-thinking/prefix-checks ("supportedModels": bound thinking),
 * docs/en/build-with-claude/thinking#controlling-thinking-display and docker/docker-agent#3415
 * (default display), docs.litellm.ai/docs/completion/prompt_caching of 2026-10-07 (minimum cached
 * prompts), and `ModelCapabilities` of @anthropic-ai/sdk, the same data from the API.
 */

export type ThinkingType = 'enabled' | 'disabled' | 'between_tools' | 'adaptive';

export interface ClaudeModel {
  /** Maximum input tokens. */
  readonly window: number;
  /** Maximum of `max_tokens`. */
  readonly maxOutput: number;
  /** Minimum cached prompt, in tokens. */
  readonly minCacheTokens: number;
  /** Accepted values of `thinking.type`; others are a 400. */
  readonly thinking: readonly ThinkingType[];
  readonly byDefault: 'disabled' | 'adaptive';
  readonly forcesTools: boolean;
  /** True if thinking is accepted only after its original context. */
  readonly bindsThinking: boolean;
  /**
   * True if answers contain the thinking's text by default; otherwise only a signature, unless
   * `thinking.display` requests the text.
   */
  readonly showsThinking: boolean;
}

const MILLION = 1_000_000;
const MODEL_OF_2025 = {
  window: 200_000,
  maxOutput: 64_000,
  thinking: ['enabled', 'disabled'],
  byDefault: 'disabled',
  forcesTools: true,
  bindsThinking: false,
  showsThinking: true,
} as const;
const MODEL_OF_2026 = {
  window: MILLION,
  maxOutput: 128_000,
  forcesTools: true,
  bindsThinking: false,
  showsThinking: false,
} as const;
/** Thinking can't be disabled, tools can't be forced, and thinking is bound to its context. */
const MODEL_OF_AUTUMN = {
  ...MODEL_OF_2026,
  thinking: ['adaptive'],
  byDefault: 'adaptive',
  forcesTools: false,
  bindsThinking: true,
  minCacheTokens: 512,
} as const;

const CLAUDE_MODELS: Readonly<Record<string, ClaudeModel>> = {
  'claude-haiku-4-5': { ...MODEL_OF_2025, minCacheTokens: 4096 },
  'claude-sonnet-4-5': { ...MODEL_OF_2025, minCacheTokens: 1024 },
  'claude-opus-4-5': { ...MODEL_OF_2025, minCacheTokens: 4096 },
  'claude-opus-4-6': {
    ...MODEL_OF_2026,
    showsThinking: true,
    minCacheTokens: 4096,
    thinking: ['adaptive', 'enabled', 'disabled'],
    byDefault: 'disabled',
  },
  'claude-opus-4-7': {
    ...MODEL_OF_2026,
    minCacheTokens: 2048,
    thinking: ['adaptive', 'disabled'],
    byDefault: 'disabled',
  },
  'claude-opus-4-8': {
    ...MODEL_OF_2026,
    minCacheTokens: 1024,
    thinking: ['adaptive', 'disabled'],
    byDefault: 'disabled',
  },
  'claude-sonnet-5': {
    ...MODEL_OF_2026,
    minCacheTokens: 1024,
    thinking: ['adaptive', 'disabled'],
    byDefault: 'adaptive',
  },
  'claude-opus-5': { ...MODEL_OF_2026, minCacheTokens: 512, thinking: ['adaptive', 'disabled'], byDefault: 'adaptive' },
  'claude-sonnet-5-5': { ...MODEL_OF_AUTUMN, thinking: ['adaptive', 'between_tools'], minCacheTokens: 1024 },
  'claude-opus-5-5': MODEL_OF_AUTUMN,
  'claude-fable-5-1': MODEL_OF_AUTUMN,
  'claude-fable-5-2': MODEL_OF_AUTUMN,
};

/** Finds a model's rules by its ID, also with a prefix or date; undefined if unknown. */
export function claudeModel(id: string): ClaudeModel | undefined {
  const name = /claude-[a-z]+-\d+(?:[.-]\d(?!\d))?/.exec(id)?.[0].replace('.', '-');
  return name === undefined ? undefined : CLAUDE_MODELS[name];
}
