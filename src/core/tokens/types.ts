export interface TokenCounter {
  /** special tokens are counted as ordinary text */
  count(text: string): number;
}
