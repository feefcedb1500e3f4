export interface TokenCounter {
  /** Special tokens count as ordinary text. */
  count(text: string): number;
}
