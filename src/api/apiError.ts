import type { Overflow } from './tooLong';

/** Why a call failed, so that a caller can decide without reading words. */
export type ApiErrorKind =
  /** The key is missing, wrong or expired. */
  | 'auth'
  /** The key is good, but not for this. */
  | 'permission'
  /** No credit, or the account's limit is used up. */
  | 'quota'
  /** The model (or the path of the endpoint) doesn't exist. */
  | 'model'
  | 'rate-limit'
  | 'overloaded'
  /** The vendor's own failure (5xx). */
  | 'server'
  | 'context-too-long'
  /** Too many bytes: images and files, mostly. */
  | 'too-many-bytes'
  /** The vendor refuses the request's form. */
  | 'invalid-request'
  /** The address itself: not a URL, not safe, redirected, or no API there. */
  | 'endpoint'
  | 'network'
  | 'timeout'
  | 'aborted'
  /** The response does not follow the protocol, or ended half-way. */
  | 'protocol'
  /** The vendor's filter, or the model, won't answer. */
  | 'refusal'
  | 'empty-reply'
  /** The answer was cut at the most tokens that were allowed. */
  | 'output-limit'
  /** A text was asked for, and a tool was called. */
  | 'unexpected-tool-call';

export interface ApiErrorDetails {
  /** The endpoint's name for people, such as "Anthropic" or the profile's name. */
  readonly name: string;
  /** HTTP status. */
  readonly status?: number;
  /** How long the vendor asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The vendor's own words, without keys, shortened. */
  readonly vendorMessage?: string;
  /** The network's code, such as `ECONNREFUSED`. */
  readonly code?: string;
  /** The vendor's id of the request, for its support. */
  readonly requestId?: string;
  /** For `context-too-long` and `too-many-bytes`: what the vendor said of the request's size. */
  readonly overflow?: Overflow;
  /** The problem, if the kind's own words are not exact enough. A whole sentence. */
  readonly what?: string;
  /** What to do, likewise. */
  readonly todo?: string;
}

interface Advice {
  readonly what: string;
  readonly todo: string;
  /** The same request may succeed later. */
  readonly canRetry: boolean;
  /** Another profile may succeed now. */
  readonly offerOtherProfile: boolean;
}

const retry = { canRetry: true, offerOtherProfile: true };
const otherProfile = { canRetry: false, offerOtherProfile: true };

const ADVICE: Readonly<Record<ApiErrorKind, Advice>> = {
  auth: { what: 'The API key was not accepted.', todo: "Check the profile's key.", ...otherProfile },
  permission: {
    what: 'The key has no access to this model or function.',
    todo: "Check the account's rights, or choose another model.",
    ...otherProfile,
  },
  quota: {
    what: "The account's credit or quota is used up.",
    todo: 'Add credit there, or use another profile.',
    ...otherProfile,
  },
  model: {
    what: 'The model was not found.',
    todo: "Check the profile's model name and endpoint.",
    ...otherProfile,
  },
  'rate-limit': { what: 'Too many requests for now.', todo: 'Wait a little and try again.', ...retry },
  overloaded: { what: 'The service is overloaded.', todo: 'Try again in a while.', ...retry },
  server: { what: 'The service failed.', todo: 'Try again in a while.', ...retry },
  'context-too-long': {
    what: "The request is longer than the model's context window.",
    todo: 'Condense further, or use a model with a larger window.',
    ...otherProfile,
  },
  'too-many-bytes': {
    what: 'The request has more bytes than the service accepts.',
    todo: 'Images and files take up the most: start a new conversation without them, or condense this one.',
    ...otherProfile,
  },
  'invalid-request': {
    what: 'The service rejected the format of the request.',
    todo: 'Please report this with the message below; another profile may work.',
    ...otherProfile,
  },
  endpoint: {
    what: 'The endpoint can’t be used.',
    todo: "Check the profile's base URL.",
    ...otherProfile,
  },
  network: { what: 'The service could not be reached.', todo: 'Check the connection and try again.', ...retry },
  timeout: {
    what: 'The service did not answer in time.',
    todo: "Try again, or raise the profile's timeout.",
    ...retry,
  },
  aborted: { what: 'The call was cancelled.', todo: 'Nothing was changed.', canRetry: true, offerOtherProfile: false },
  protocol: { what: 'The answer broke off or could not be understood.', todo: 'Try again.', ...retry },
  refusal: {
    what: 'The model declined to answer.',
    todo: 'Try again with another prompt, or use another model.',
    ...otherProfile,
  },
  'empty-reply': { what: 'The model returned an empty answer.', todo: 'Try again, or use another model.', ...retry },
  'output-limit': {
    what: 'The answer was cut off at the maximum number of tokens.',
    todo: "Raise the profile's output limit, or condense less at once.",
    ...otherProfile,
  },
  'unexpected-tool-call': {
    what: 'The model called a tool instead of writing text.',
    todo: 'Try again, or use another model.',
    ...retry,
  },
};

/** Everything that a handler throws. Holds no key, no header, and no error of an SDK. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly canRetry: boolean;
  readonly offerOtherProfile: boolean;

  constructor(
    readonly kind: ApiErrorKind,
    readonly details: ApiErrorDetails,
  ) {
    super(describeError(kind, details));
    ({ canRetry: this.canRetry, offerOtherProfile: this.offerOtherProfile } = ADVICE[kind]);
  }
}

/** Whether it was classified: then its message is fit for a person and holds no key. */
export const isApiError = (value: unknown): value is ApiError => value instanceof ApiError;

function describeError(kind: ApiErrorKind, details: ApiErrorDetails): string {
  const { name, status, retryAfterMs, vendorMessage } = details;
  const { what, todo } = { ...ADVICE[kind], ...details };
  const code = status === undefined ? '' : ` (${status})`;
  const words = vendorMessage === undefined ? '' : ` The server said${code}: “${vendorMessage}”`;
  return `${name}: ${what} ${retryAfterMs === undefined ? todo : waitWords(retryAfterMs)}${words}`;
}

/** The wait that a vendor asks for, in seconds or, from two minutes on, in minutes. */
function waitWords(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const time = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
  return `It asks you to wait ${time}; try again then.`;
}
