/** The server's reaction to one request. */

export interface ScriptedCall {
  /** Default: one that the server makes. */
  readonly id?: string;
  readonly name: string;
  /** The group that the tool was offered in (OpenAI's Responses). */
  readonly namespace?: string;
  /** The arguments as an object, or as the raw text that the "model" wrote. */
  readonly input: object | string;
}

export type ScriptedStop = 'end' | 'tools' | 'max-tokens' | 'refusal' | 'filter' | 'window';

/** Something that goes wrong in the middle of a stream, after so many pieces of the answer. */
export interface Fault {
  readonly after: number;
  readonly kind:
    /** Nothing more comes, the connection stays. */
    | 'stall'
    /** The connection is closed hard. */
    | 'cut'
    /** The stream ends in order, but without its last events. */
    | 'no-end'
    /** The body is not JSON. */
    | 'malformed'
    /** An error event, as when the vendor is overloaded. */
    | 'error';
  /** Of an `error`. Default: overloaded. */
  readonly error?: { readonly type: string; readonly message: string; readonly code?: string | number };
}

export interface Reply {
  readonly kind: 'reply';
  readonly thinking?: string;
  /** Thinking that the vendor hides: a `redacted_thinking` block, or an encrypted reasoning item. */
  readonly hiddenThinking?: string;
  /** A text, or its pieces. Default: none. */
  readonly text?: string | readonly string[];
  readonly calls?: readonly ScriptedCall[];
  /** Default: `tools` where there are calls, else `end`. */
  readonly stop?: ScriptedStop;
  readonly fault?: Fault;
  /** The first byte waits for this. */
  readonly firstByte?: Promise<unknown>;
}

export interface Refused {
  readonly kind: 'error';
  readonly status: number;
  /** The vendor's error type. */
  readonly type?: string;
  readonly message: string;
  readonly code?: string | number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, in place of the vendor's error body. */
  readonly body?: string;
  /** Content type of `body`. Default `text/plain`. */
  readonly contentType?: string;
}

export type Behaviour =
  | Reply
  | Refused
  /** The request is read and never answered. */
  | { readonly kind: 'never' }
  /** The connection is closed before anything is answered. */
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

export const never = (): Behaviour => ({ kind: 'never' });

export const reset = (): Behaviour => ({ kind: 'reset' });

/** A reply in which something goes wrong after so many pieces. */
export const faulty = (
  kind: Fault['kind'],
  after = 2,
  pieces: readonly string[] = ['one ', 'two ', 'three ', 'four'],
): Reply => ({
  kind: 'reply',
  text: pieces,
  fault: { kind, after },
});

/** 429, with `retry-after` in seconds where one is given. */
export const rateLimited = (retryAfter?: number | string): Refused => ({
  kind: 'error',
  status: 429,
  type: 'rate_limit_error',
  message: 'This request would exceed your rate limit.',
  ...(retryAfter !== undefined && { headers: { 'retry-after': `${retryAfter}` } }),
});

/** 529, as Anthropic answers when it's overloaded. */
export const overloaded = (): Refused => ({
  kind: 'error',
  status: 529,
  type: 'overloaded_error',
  message: 'Overloaded',
});

export const serverError = (): Refused => ({
  kind: 'error',
  status: 500,
  type: 'api_error',
  message: 'Internal server error',
});

/** Any other refusal. */
export const refused = (status: number, type: string, message: string, more: Partial<Refused> = {}): Refused => ({
  kind: 'error',
  status,
  type,
  message,
  ...more,
});

export const stopOf = ({ stop, calls = [] }: Reply): ScriptedStop => stop ?? (calls.length > 0 ? 'tools' : 'end');

export const piecesOf = ({ text }: Reply): readonly string[] =>
  text === undefined ? [] : typeof text === 'string' ? [text] : text;

export const rawInput = ({ input }: ScriptedCall): string =>
  typeof input === 'string' ? input : JSON.stringify(input);
