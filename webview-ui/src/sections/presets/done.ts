/** What was done last, and how to take it back. */
export interface Done {
  readonly text: string;
  readonly undo?: () => void;
}
