export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  /** The tool's group in OpenAI's Responses API. */
  readonly namespace?: string;
  /** Arguments as an object, or as raw text. */
  readonly input: object | string;
}

export type ScriptedStop = 'end' | 'tools' | 'max-tokens' | 'refusal' | 'filter' | 'window';

/** An error in the middle of a stream, after this many pieces. */
export interface Fault {
  readonly after: number;
  readonly kind:
    /** The stream hangs. */
    | 'stall'
    /** The connection is reset. */
    | 'cut'
    /** The stream ends normally, but without its last events. */
    | 'no-end'
    | 'malformed'
    /** The stream contains an error event. */
    | 'error';
  readonly error?: { readonly type: string; readonly message: string; readonly code?: string | number };
}

export interface Reply {
  readonly kind: 'reply';
  readonly thinking?: string;
  /** Hidden thinking: a `redacted_thinking` block, or an encrypted reasoning item. */
  readonly hiddenThinking?: string;
  readonly text?: string | readonly string[];
  readonly calls?: readonly ScriptedCall[];
  /** Default: `tools` if there are calls, otherwise `end`. */
  readonly stop?: ScriptedStop;
  readonly fault?: Fault;
  /** Delays the first byte until this promise resolves. */
  readonly firstByte?: Promise<unknown>;
}

export interface ScriptedRefusal {
  readonly kind: 'error';
  readonly status: number;
  readonly type?: string;
  readonly message: string;
  readonly code?: string | number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the vendor's error body. */
  readonly body?: string;
  readonly contentType?: string;
}

export type Behaviour =
  | Reply
  | ScriptedRefusal
  /** The request is never answered. */
  | { readonly kind: 'never' }
  /** The connection is closed without an answer. */
  | { readonly kind: 'reset' };

export const reply = (text: string | readonly string[], more: Partial<Reply> = {}): Reply => ({
  kind: 'reply',
  text,
  ...more,
});

export const callsTool = (...calls: readonly ScriptedCall[]): Reply => ({ kind: 'reply', calls });

export const emptyReply = (): Reply => ({ kind: 'reply' });

export const refusal = (text = "I can't help with that."): Reply => ({ kind: 'reply', text, stop: 'refusal' });

export const cutAtMaxTokens = (text: string): Reply => ({ kind: 'reply', text, stop: 'max-tokens' });

export const neverAnswer = (): Behaviour => ({ kind: 'never' });

export const reset = (): Behaviour => ({ kind: 'reset' });

export const makeFaultyReply = (
  kind: Fault['kind'],
  after = 2,
  pieces: readonly string[] = ['one ', 'two ', 'three ', 'four'],
): Reply => ({
  kind: 'reply',
  text: pieces,
  fault: { kind, after },
});

/** 429, optionally with `retry-after` in seconds. */
export const makeRateLimitError = (retryAfter?: number | string): ScriptedRefusal => ({
  kind: 'error',
  status: 429,
  type: 'rate_limit_error',
  message: 'This request would exceed your rate limit.',
  ...(retryAfter !== undefined && { headers: { 'retry-after': `${retryAfter}` } }),
});

export const makeOverloadedError = (): ScriptedRefusal => ({
  kind: 'error',
  status: 529,
  type: 'overloaded_error',
  message: 'Overloaded',
});

export const makeServerError = (): ScriptedRefusal => ({
  kind: 'error',
  status: 500,
  type: 'api_error',
  message: 'Internal server error',
});

export const makeErrorResponse = (
  status: number,
  type: string,
  message: string,
  more: Partial<ScriptedRefusal> = {},
): ScriptedRefusal => ({
  kind: 'error',
  status,
  type,
  message,
  ...more,
});

export const getStop = ({ stop, calls = [] }: Reply): ScriptedStop => stop ?? (calls.length > 0 ? 'tools' : 'end');

export const splitReply = ({ text }: Reply): readonly string[] =>
  text === undefined ? [] : typeof text === 'string' ? [text] : text;

export const rawInput = ({ input }: ScriptedCall): string =>
  typeof input === 'string' ? input : JSON.stringify(input);
