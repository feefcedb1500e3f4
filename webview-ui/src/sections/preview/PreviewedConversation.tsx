import { useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Button, LinkButton } from '../../ui';
import { usePreviewedConversation, type ShownPreview } from './usePreview';

export function PreviewedConversation({
  preview: { shownPreview, reload },
}: {
  readonly preview: ShownPreview;
}): ReactNode {
  const { connection } = usePanel();
  const [, setPreviewed] = usePreviewedConversation();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const chooseConversation = async (): Promise<void> => {
    setProblems([]);
    try {
      const { conversation } = await connection.sendRequest('chooseConversation', {}, { timeoutMs: Infinity });
      if (conversation) setPreviewed(conversation);
    } catch (error) {
      setProblems([getErrorMessage(error)]);
    }
  };
  return (
    <div>
      <p className="preview-title">
        <span className="row-name">{t('Conversation')}</span>
        <span translate="no">{shownPreview?.title ?? ''}</span>
        {shownPreview?.conversation.kind === 'live' && <span className="tag">{t('follows the chat')}</span>}
        {shownPreview?.isSample === true && <span className="tag">{t('sample')}</span>}
      </p>
      <p className="actions">
        <Button onClick={() => void chooseConversation()}>{t('Choose a conversation…')}</Button>
        <Button onClick={reload}>{t('Refresh')}</Button>
      </p>
      <ProblemList problems={problems} />
    </div>
  );
}

export function FailedPreview({
  message,
  preview,
}: {
  readonly message: string;
  readonly preview: ShownPreview;
}): ReactNode {
  const [, setPreviewed] = usePreviewedConversation();
  return (
    <>
      <ProblemList problems={[message]} />
      <p>
        <LinkButton onClick={preview.reload}>{t('Try again')}</LinkButton>{' '}
        <LinkButton
          onClick={() => {
            setPreviewed({ kind: 'default' });
          }}
        >
          {t('Show my newest conversation')}
        </LinkButton>
      </p>
    </>
  );
}
