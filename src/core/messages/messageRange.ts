/** From `start` to `end`, exclusive. */
export interface MessageRange {
  readonly start: number;
  readonly end: number;
}
