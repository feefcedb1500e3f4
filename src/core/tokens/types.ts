/** Counts tokens the way one model's tokenizer does. */
export interface TokenCounter {
  /** tokens of the text, special-token text counted as ordinary text */
  count(text: string): number;
}
