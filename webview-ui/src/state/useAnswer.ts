import { useCallback, useEffect, useRef, useState } from 'react';
import { getErrorMessage } from '../../../src/core/errors';
import type { PanelMethod, MethodParams, MethodResult } from '../../../src/panel/protocol';
import { usePanel } from './panel';

export type RequestAnswer<M extends PanelMethod> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'there'; readonly result: MethodResult<M> }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Ignores the answer to an earlier request.
 * @param timeoutMs milliseconds; default: the connection's
 */
export function useRequestAnswer<M extends PanelMethod>(
  method: M,
  params: MethodParams<M>,
  timeoutMs?: number,
): { answer: RequestAnswer<M>; reload: () => void } {
  const { connection } = usePanel();
  const [answer, setAnswer] = useState<RequestAnswer<M>>({ kind: 'waiting' });
  const runningRequest = useRef<AbortController>(undefined);
  // Parameters are plain data: equal text means equal parameters.
  const question = JSON.stringify(params);
  const reload = useCallback(() => {
    runningRequest.current?.abort();
    const abortController = new AbortController();
    runningRequest.current = abortController;
    const options = { signal: abortController.signal, ...(timeoutMs !== undefined && { timeoutMs }) };
    connection.sendRequest(method, JSON.parse(question) as MethodParams<M>, options).then(
      (result) => {
        setAnswer({ kind: 'there', result });
      },
      (error: unknown) => {
        if (abortController.signal.aborted) return;
        setAnswer({ kind: 'failed', message: getErrorMessage(error) });
      },
    );
  }, [connection, method, question, timeoutMs]);
  useEffect(() => {
    reload();
    return () => {
      runningRequest.current?.abort();
    };
  }, [reload]);
  return { answer, reload };
}
