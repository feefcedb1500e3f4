import type { Method, Params, Result } from './protocol';

/** Reports progress, for example 3 of 36 conversations. */
export type ReportProgress = (done: number, of: number) => void;

/** Parameters are already validated. */
export type RequestHandlers = {
  readonly [M in Method]: (params: Params<M>, signal: AbortSignal, report: ReportProgress) => Promise<Result<M>>;
};
