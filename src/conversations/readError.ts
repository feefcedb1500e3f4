export type ReadProblem =
  | 'not-found'
  | 'no-permission'
  | 'not-a-file'
  | 'too-large'
  | 'empty'
  | 'nothing-said'
  | 'binary'
  | 'encoding'
  | 'truncated'
  | 'torn-tail'
  | 'broken-line'
  | 'broken-json'
  | 'wrong-shape'
  | 'unknown-format'
  | 'worker'
  | 'io';

/** Classes can't cross worker boundaries, so this is plain data. */
export interface ReadErrorDetails {
  readonly problem: ReadProblem;
  readonly source: string;
  /** One-based line number. */
  readonly line?: number;
  readonly found: string;
  readonly expected: string;
  readonly advice?: string;
}

/** Code that reads conversations throws only this error. */
export class ConversationReadError extends Error {
  override readonly name = 'ConversationReadError';
  readonly problem: ReadProblem;
  readonly source: string;
  readonly line: number | undefined;
  readonly found: string;
  readonly expected: string;
  readonly advice: string | undefined;
  readonly reason: string;

  constructor(
    readonly data: ReadErrorDetails,
    options?: ErrorOptions,
  ) {
    const location = data.line === undefined ? data.source : `${data.source}:${data.line}`;
    const reason = formatReadErrorReason(data);
    super(`${location}: ${reason}`, options);
    this.reason = data.line === undefined ? reason : `line ${data.line}: ${reason}`;
    this.problem = data.problem;
    this.source = data.source;
    this.line = data.line;
    this.found = data.found;
    this.expected = data.expected;
    this.advice = data.advice;
  }
}

/** If a file can't be opened, the message needs only the problem and the advice. */
const FILE_OPENING_PROBLEMS: readonly ReadProblem[] = ['not-found', 'no-permission'];

function formatReadErrorReason({ problem, found, expected, advice }: ReadErrorDetails): string {
  if (advice === undefined) return `found ${found}; expected ${expected}.`;
  return FILE_OPENING_PROBLEMS.includes(problem)
    ? `${found}. ${advice}`
    : `found ${found}; expected ${expected}. ${advice}`;
}

export const isConversationReadError = (error: unknown): error is ConversationReadError =>
  error instanceof ConversationReadError;

/** Never contains the content, because errors may be logged. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  if (typeof value === 'object') {
    const keys = Object.keys(value);
    const shownKeys = keys.slice(0, 5).map((key) => `"${key.slice(0, 40)}"`);
    return keys.length === 0
      ? 'an empty object'
      : `an object with ${shownKeys.join(', ')}${keys.length > 5 ? ', …' : ''}`;
  }
  if (typeof value === 'string') return value.length <= 20 ? `"${value}"` : 'a long string';
  return typeof value === 'number' || typeof value === 'boolean' ? `the ${typeof value} ${value}` : `a ${typeof value}`;
}
