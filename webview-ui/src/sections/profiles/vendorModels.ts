import { useEffect, useRef, useState } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import type { MethodParams, VendorModel } from '../../../../src/panel/protocol';
import { formatPrice, t } from '../../l10n';
import { usePanel } from '../../state/panel';

const LIST_TIMEOUT_MS = 60_000;

export interface VendorModelsLookup {
  /** The vendor's models; undefined until they are looked up. */
  readonly models: readonly VendorModel[] | undefined;
  readonly isBusy: boolean;
  /** Why the lookup failed; otherwise empty. */
  readonly problem: string;
  readonly lookUp: () => void;
  readonly cancel: () => void;
  /** Drops the list, for example if the vendor changes. */
  readonly forget: () => void;
}

/** @param params the profile whose vendor lists its models */
export function useVendorModels(params: MethodParams<'listModels'>): VendorModelsLookup {
  const { connection } = usePanel();
  const runningRequest = useRef<AbortController>(undefined);
  const [models, setModels] = useState<readonly VendorModel[]>();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const cancelRequest = (): void => {
    runningRequest.current?.abort();
    runningRequest.current = undefined;
    setBusy(false);
  };
  useEffect(() => () => runningRequest.current?.abort(), []);
  const lookUp = async (): Promise<void> => {
    cancelRequest();
    const abortController = new AbortController();
    runningRequest.current = abortController;
    setProblem('');
    setBusy(true);
    try {
      const answer = await connection.sendRequest('listModels', params, {
        timeoutMs: LIST_TIMEOUT_MS,
        signal: abortController.signal,
      });
      if (runningRequest.current === abortController) setModels(answer.models);
    } catch (error) {
      if (runningRequest.current === abortController) setProblem(getErrorMessage(error));
    }
    if (runningRequest.current === abortController) setBusy(false);
  };
  return {
    models,
    isBusy,
    problem,
    lookUp: () => void lookUp(),
    cancel: cancelRequest,
    forget: () => {
      cancelRequest();
      setModels(undefined);
      setProblem('');
    },
  };
}

export function describeVendorModel({ contextWindow, maxOutputTokens, seesImages, prices }: VendorModel): string {
  const facts = [
    ...(contextWindow === undefined ? [] : [t('window {0}', contextWindow)]),
    ...(maxOutputTokens === undefined ? [] : [t('answers up to {0} tokens', maxOutputTokens)]),
    ...(prices ? [t('{0} in, {1} out per million tokens', formatPrice(prices.input), formatPrice(prices.output))] : []),
    ...(prices?.longPrompts ? [t('more expensive above {0} tokens', prices.longPrompts.aboveTokens)] : []),
    ...(seesImages === undefined ? [] : [seesImages ? t('accepts images') : t('does not accept images')]),
  ];
  return facts.length > 0 ? facts.join(' · ') : t('The vendor provides only its name.');
}

export const toProfileFields = ({ id: _id, seesImages, ...facts }: VendorModel): Readonly<Record<string, unknown>> => ({
  ...facts,
  ...(seesImages !== undefined && { images: seesImages }),
});
