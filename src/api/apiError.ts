import type { OverflowReport } from './tooLong';

export type ApiErrorKind =
  | 'auth'
  /** The key is valid but lacks a permission. */
  | 'permission'
  /** The account has no credit or has reached its limit. */
  | 'quota'
  /** The model or the endpoint's path does not exist. */
  | 'model'
  | 'rate-limit'
  | 'overloaded'
  | 'server'
  | 'context-too-long'
  | 'too-many-bytes'
  | 'invalid-request'
  /** The URL is invalid or unsafe, redirects, or leads to no API. */
  | 'endpoint'
  | 'network'
  | 'timeout'
  | 'aborted'
  /** The response violates the protocol or ended early. */
  | 'protocol'
  | 'refusal'
  | 'empty-reply'
  | 'output-limit'
  | 'unexpected-tool-call';

export interface ApiErrorDetails {
  readonly name: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** The vendor's message, shortened and with secrets removed. */
  readonly vendorMessage?: string;
  readonly code?: string;
  /** Sizes that the vendor reported, for `context-too-long` and `too-many-bytes`. */
  readonly overflow?: OverflowReport;
  /** A sentence that replaces the generic one about errors of this kind. */
  readonly sentence?: string;
  readonly advice?: string;
}

interface ErrorAdvice {
  readonly sentence: string;
  readonly advice: string;
  readonly canRetry: boolean;
  readonly offerOtherProfile: boolean;
}

const RETRYABLE_ADVICE = { canRetry: true, offerOtherProfile: true };
const NOT_RETRYABLE_ADVICE = { canRetry: false, offerOtherProfile: true };

const ERROR_ADVICE: Readonly<Record<ApiErrorKind, ErrorAdvice>> = {
  auth: { sentence: 'The API key was not accepted.', advice: 'Check the model’s key.', ...NOT_RETRYABLE_ADVICE },
  permission: {
    sentence: 'The key has no access to this model or function.',
    advice: 'Check the account’s rights, or choose another model.',
    ...NOT_RETRYABLE_ADVICE,
  },
  quota: {
    sentence: 'The account’s credit or quota is used up.',
    advice: 'Add credit there, or use another model.',
    ...NOT_RETRYABLE_ADVICE,
  },
  model: {
    sentence: 'The model was not found.',
    advice: 'Check the model’s ID and base URL.',
    ...NOT_RETRYABLE_ADVICE,
  },
  'rate-limit': { sentence: 'Too many requests for now.', advice: 'Wait a little and try again.', ...RETRYABLE_ADVICE },
  overloaded: { sentence: 'The service is overloaded.', advice: 'Try again in a while.', ...RETRYABLE_ADVICE },
  server: { sentence: 'The service failed.', advice: 'Try again in a while.', ...RETRYABLE_ADVICE },
  'context-too-long': {
    sentence: 'The request is longer than the model’s context window.',
    advice: 'Condense further, or use a model with a larger window.',
    ...NOT_RETRYABLE_ADVICE,
  },
  'too-many-bytes': {
    sentence: 'The request has more bytes than the service accepts.',
    advice: 'Images and files take up the most: start a new conversation without them, or condense this one.',
    ...NOT_RETRYABLE_ADVICE,
  },
  'invalid-request': {
    sentence: 'The service rejected the format of the request.',
    advice: 'Please report this with the message below; another model may work.',
    ...NOT_RETRYABLE_ADVICE,
  },
  endpoint: {
    sentence: 'The endpoint can’t be used.',
    advice: 'Check the model’s base URL.',
    ...NOT_RETRYABLE_ADVICE,
  },
  network: {
    sentence: 'The service could not be reached.',
    advice: 'Check the connection and try again.',
    ...RETRYABLE_ADVICE,
  },
  timeout: {
    sentence: 'The service did not answer in time.',
    advice: 'Try again, or raise the model’s time limit (timeoutSeconds).',
    ...RETRYABLE_ADVICE,
  },
  aborted: {
    sentence: 'The call was canceled.',
    advice: 'Nothing was changed.',
    canRetry: true,
    offerOtherProfile: false,
  },
  protocol: { sentence: 'The answer broke off or could not be understood.', advice: 'Try again.', ...RETRYABLE_ADVICE },
  refusal: {
    sentence: 'The model declined to answer.',
    advice: 'Try again with another prompt, or use another model.',
    ...NOT_RETRYABLE_ADVICE,
  },
  'empty-reply': {
    sentence: 'The model returned an empty answer.',
    advice: 'Try again, or use another model.',
    ...RETRYABLE_ADVICE,
  },
  'output-limit': {
    sentence: 'The answer was cut off at the maximum number of tokens.',
    advice: 'Raise the model’s output limit (maxOutputTokens), or condense less at once.',
    ...NOT_RETRYABLE_ADVICE,
  },
  'unexpected-tool-call': {
    sentence: 'The model called a tool instead of writing text.',
    advice: 'Try again, or use another model.',
    ...RETRYABLE_ADVICE,
  },
};

/** Handlers throw no other errors. Contains no keys or headers. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly canRetry: boolean;
  readonly offerOtherProfile: boolean;

  constructor(
    readonly kind: ApiErrorKind,
    readonly details: ApiErrorDetails,
  ) {
    super(describeError(kind, details));
    ({ canRetry: this.canRetry, offerOtherProfile: this.offerOtherProfile } = ERROR_ADVICE[kind]);
  }
}

export const isApiError = (value: unknown): value is ApiError => value instanceof ApiError;

function describeError(kind: ApiErrorKind, details: ApiErrorDetails): string {
  const { name, status, retryAfterMs, vendorMessage } = details;
  const { sentence, advice } = { ...ERROR_ADVICE[kind], ...details };
  // Without a status, the message may come from the network or an SDK.
  const quotePrefix = status === undefined ? 'Details' : `The server said (${status})`;
  const quotation = vendorMessage === undefined ? '' : ` ${quotePrefix}: “${vendorMessage}”`;
  return `${name}: ${sentence} ${retryAfterMs === undefined ? advice : formatWaitingTime(retryAfterMs)}${quotation}`;
}

function formatWaitingTime(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const waitingTime = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
  return `It asks you to wait ${waitingTime}; try again then.`;
}
