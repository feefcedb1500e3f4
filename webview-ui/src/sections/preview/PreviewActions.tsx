import { useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Button } from '../../ui';
import { formatCostAndConfidence } from './Figures';
import type { ShownPreview } from './usePreview';

export function PreviewActions({ preview }: { readonly preview: ShownPreview }): ReactNode {
  const { connection } = usePanel();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const { shownPreview, marks, undoMark, reload, isOfDrafts, isWaiting } = preview;
  if (!shownPreview) return null;
  const { conversation, savedPins } = shownPreview;
  // Show the price before the user agrees.
  const price = formatCostAndConfidence(shownPreview);
  const pinned = [...marks.pinned];
  const hasNewPins = pinned.length !== savedPins.length || savedPins.some((message) => !marks.pinned.has(message));
  const runAction = async (action: () => Promise<unknown>): Promise<void> => {
    setProblems([]);
    setBusy(true);
    try {
      await action();
    } catch (error) {
      setProblems([getErrorMessage(error)]);
    }
    setBusy(false);
    reload();
  };
  const condenseConversation = (): Promise<unknown> =>
    connection.sendRequest(
      'condenseChosen',
      { conversation, pinned, excluded: [...marks.excluded] },
      { timeoutMs: Infinity },
    );
  return (
    <div>
      <p className="actions">
        <Button
          primary
          disabled={isBusy || isOfDrafts || isWaiting}
          onClick={() => void runAction(condenseConversation)}
        >
          {price === '' ? t('Condense now') : t('Condense now ({0})', price)}
        </Button>
        <Button
          disabled={isBusy || !hasNewPins}
          onClick={() => void runAction(() => connection.sendRequest('savePins', { conversation, pinned }))}
        >
          {t('Save the pins')}
        </Button>
        <Button icon="reset" disabled={!undoMark} onClick={() => undoMark?.()}>
          {t('Undo the last mark')}
        </Button>
      </p>
      {isOfDrafts && <p className="row-help">{t('Condensing uses the settings: apply the draft first.')}</p>}
      <ProblemList problems={problems} />
    </div>
  );
}
