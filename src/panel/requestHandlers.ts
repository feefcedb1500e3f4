import type { Method, Params, Result } from './protocol';

/** Answers to the webview, by method. Parameters were checked before. */
export type RequestHandlers = {
  readonly [M in Method]: (params: Params<M>, signal: AbortSignal) => Promise<Result<M>>;
};
