import { useState, type ReactNode } from 'react';
import { freeId } from '../../../../src/core/freeId';
import { errorMessage } from '../../../../src/core/errors';
import type { FittedWeights } from '../../../../src/panel/protocol';
import { Problems } from '../../components/Problems';
import { formatNumber, formatPercent, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Button } from '../../ui';
import { usePresetScope } from '../presets/usePresetScope';

/** Weights for File-Aware that are fitted to the user's own conversations: asked for, and saved as a preset only where they pay. */
export function OwnWeights(): ReactNode {
  const { connection, state } = usePanel();
  const scope = usePresetScope();
  const [fitted, setFitted] = useState<FittedWeights>();
  const [saved, setSaved] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const trying = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblems([]);
    try {
      await work();
    } catch (error) {
      setProblems([errorMessage(error)]);
    }
    setBusy(false);
  };
  const fit = (): Promise<void> =>
    trying(async () => {
      const answer = await connection.request('fitSessions', {}, { timeoutMs: Infinity });
      if (!answer.fitted) return;
      setFitted(answer.fitted);
      setSaved(undefined);
    });
  const save = (preset: Preset): Promise<void> =>
    trying(async () => {
      const taken = state.presets.map(({ id }) => id);
      const entry = { ...preset, id: freeId(preset.id, taken, 'preset') };
      const change = { kind: 'insert', entry, place: {} } as const;
      const { problems: found } = await connection.request('changeList', { name: 'presets', scope, path: [], change });
      setProblems(found.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)));
      if (found.length === 0) setSaved(entry.id);
    });
  const verdict = fitted?.verdict;
  return (
    <>
      <p className="row-help">
        {t(
          'The weights of File-Aware can be fitted to these conversations. They are learned from one half, judged on the other, and offered only if they lose significantly less there.',
        )}
      </p>
      <p className="actions">
        <Button onClick={() => void fit()} disabled={isBusy}>
          {t('Fit File-Aware to my conversations')}
        </Button>
        {verdict?.kind === 'pays' && saved === undefined && (
          <Button onClick={() => void save(verdict.preset)} disabled={isBusy}>
            {t('Save as a preset')}
          </Button>
        )}
      </p>
      {fitted && (
        <p role="status">{saved === undefined ? fitWords(fitted) : t('The preset "{0}" was saved.', saved)}</p>
      )}
      <Problems problems={problems} />
    </>
  );
}

type Preset = Extract<FittedWeights['verdict'], { kind: 'pays' }>['preset'];

function fitWords({ learnt, judged, verdict }: FittedWeights): string {
  if (verdict.kind === 'too-little')
    return t(
      'There is too little data to fit weights: one half has {0} conversations, the other {1}.',
      learnt.sessions,
      judged.sessions,
    );
  const share = (part: number): string => formatPercent(100 * part);
  const points = (part: number): string => formatNumber(Math.round(1000 * part) / 10);
  const { own, shipped, difference } = verdict;
  const figures = t(
    'On the {0} conversations that were held out, your own weights lose {1} of the needed lines and the built-in weights {2}: a difference of {3} points (95%: {4} to {5}).',
    ...[judged.sessions, share(own.share), share(shipped.share)],
    ...[difference.share, difference.low, difference.high].map(points),
  );
  return `${figures} ${verdict.kind === 'pays' ? t('Yours are better.') : t('The difference is not significant, so nothing is offered.')}`;
}
