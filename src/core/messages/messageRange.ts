export interface MessageRange {
  readonly start: number;
  readonly end: number;
}
