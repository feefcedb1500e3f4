const THINKING_REJECTIONS: readonly RegExp[] = [
  // Anthropic, from Fable 5.1 on, if anything before the block has changed (guide, "Preserved
  // thinking"): "… bound to a different conversation." Also "Invalid `signature` in `thinking`
  // block".
  /bound to a different conversation|invalid `(?:signature|data)` in `(?:redacted_)?thinking`/i,
  // Anthropic: "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
  /thinking` blocks .*cannot be modified/i,
  // OpenAI: "The encrypted content … could not be verified." (openai/codex#8132)
  /encrypted content .*could not be (?:verified|decrypted)/i,
];

export const isThinkingRejection = (words: string): boolean => THINKING_REJECTIONS.some((row) => row.test(words));
