import { useCallback, useEffect, useState } from 'react';
import { getErrorMessage } from '../../../src/core/errors';
import type { PanelMethod, MethodParams, MethodResult } from '../../../src/panel/protocol';
import { usePanel } from './panel';
import type { RequestAnswer } from './useAnswer';

export type { RequestAnswer };

export interface LatestAnswer<M extends PanelMethod> {
  readonly answer: RequestAnswer<M>;
  /** The last result, which stays while the next is pending. */
  readonly lastResult: MethodResult<M> | undefined;
  readonly isWaiting: boolean;
  readonly reload: () => void;
}

/**
 * Cancels the previous request.
 * @param params undefined: no request for now
 * @param dependsOn what else the answer depends on, as text
 */
export function useLatestAnswer<M extends PanelMethod>(
  method: M,
  params: MethodParams<M> | undefined,
  dependsOn: string,
): LatestAnswer<M> {
  const { connection } = usePanel();
  const [answer, setAnswer] = useState<RequestAnswer<M>>({ kind: 'waiting' });
  const [lastResult, setLastResult] = useState<MethodResult<M>>();
  const [round, setRound] = useState(0);
  const [answered, setAnswered] = useState('');
  // Parameters are plain data: equal text means equal parameters.
  const question = params && JSON.stringify(params);
  const questionKey = `${round} ${question ?? ''} ${dependsOn}`;
  useEffect(() => {
    if (question === undefined) return;
    const abortController = new AbortController();
    connection.sendRequest(method, JSON.parse(question) as MethodParams<M>, { signal: abortController.signal }).then(
      (result) => {
        setLastResult(result);
        setAnswer({ kind: 'there', result });
        setAnswered(questionKey);
      },
      (error: unknown) => {
        if (abortController.signal.aborted) return;
        setAnswer({ kind: 'failed', message: getErrorMessage(error) });
        setAnswered(questionKey);
      },
    );
    return () => {
      abortController.abort();
    };
  }, [connection, method, question, questionKey]);
  const reload = useCallback(() => {
    setRound((before) => before + 1);
  }, []);
  return { answer, lastResult, isWaiting: answered !== questionKey, reload };
}
