/** Messages of a conversation by their indexes: from `start` up to, not including, `end`. */
export interface MessageRange {
  readonly start: number;
  readonly end: number;
}
