export type FirewallRule =
  | 'first-is-user'
  | 'text-not-blank'
  | 'text-well-formed'
  | 'call-answered'
  | 'result-has-call'
  | 'result-once'
  | 'results-first'
  | 'server-pair-kept'
  | 'ids-unique'
  | 'input-is-object'
  | 'error-has-text'
  | 'cache-marks'
  | 'messages-kept'
  | 'task-kept'
  | 'structure-kept'
  | 'ids-kept'
  | 'thinking-kept'
  | 'fields-kept'
  | 'cuts-in-order'
  | 'reference-valid';

export interface Violation {
  readonly rule: FirewallRule;
  readonly message: number;
  readonly block?: number;
  readonly detail: string;
}

export interface BlockPosition {
  readonly message: number;
  readonly block: number;
}
