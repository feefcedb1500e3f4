/** How vendors say that they don't take a block back that they made, each with the words that it is made for. */
const ROWS: readonly RegExp[] = [
  // Anthropic, from Fable 5.1 on, once something before the block has changed (guide, "Preserved thinking"): "The block is
  // bound to a different conversation." Also "Invalid `signature` in `thinking` block".
  /bound to a different conversation|invalid `(?:signature|data)` in `(?:redacted_)?thinking`/i,
  // Anthropic: "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
  /thinking` blocks .*cannot be modified/i,
  // OpenAI: "The encrypted content … could not be verified." (openai/codex#8132)
  /encrypted content .*could not be (?:verified|decrypted)/i,
];

/** Whether a vendor refused a request for the thinking that went back with it: without it, it can be sent again. */
export const refusesThinking = (words: string): boolean => ROWS.some((row) => row.test(words));
