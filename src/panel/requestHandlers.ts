import type { PanelMethod, MethodParams, MethodResult } from './protocol';

/** Reports progress: how many of all are done, such as 3 of 36 conversations. */
export type ReportProgress = (done: number, of: number) => void;

/** A handler for each method. Its parameters have been validated. */
export type RequestHandlers = {
  readonly [M in PanelMethod]: (
    params: MethodParams<M>,
    signal: AbortSignal,
    report: ReportProgress,
  ) => Promise<MethodResult<M>>;
};
