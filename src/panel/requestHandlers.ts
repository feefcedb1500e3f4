import type { Method, Params, Result } from './protocol';

/** Handlers of the webview's requests by method. Parameters are already validated. */
export type RequestHandlers = {
  readonly [M in Method]: (params: Params<M>, signal: AbortSignal) => Promise<Result<M>>;
};
