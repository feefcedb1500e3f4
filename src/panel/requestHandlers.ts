import type { PanelMethod, MethodParams, MethodResult } from './protocol';

/** Reports progress, for example 3 of 36 conversations. */
export type ReportProgress = (done: number, of: number) => void;

/** Parameters are already validated. */
export type RequestHandlers = {
  readonly [M in PanelMethod]: (
    params: MethodParams<M>,
    signal: AbortSignal,
    report: ReportProgress,
  ) => Promise<MethodResult<M>>;
};
