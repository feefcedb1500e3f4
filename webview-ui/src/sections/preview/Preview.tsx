import { useState, type ReactNode } from 'react';
import { Problems } from '../../components/Problems';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useSearch } from '../../state/search';
import { Button, LinkButton, ProgressRing } from '../../ui';
import { Comparison } from './Comparison';
import { EditExcerpts } from './EditExcerpts';
import { Figures } from './Figures';
import { PassBars } from './PassBars';
import { Strip } from './Strip';
import { useEndOfPreview, usePreview, usePreviewed, type PreviewOf } from './usePreview';

/** What the settings would make of a conversation, before anything is done to it. */
export function PreviewSection(): ReactNode {
  const isSearching = useSearch() !== '';
  return (
    <Section id="preview" title={t('Preview')}>
      {!isSearching && <Content />}
    </Section>
  );
}

function Content(): ReactNode {
  const preview = usePreview();
  useEndOfPreview();
  const { shown, answer, isWaiting } = preview;
  return (
    <>
      <p className="row-help">
        {t('What condensing with the current settings would do. No model is called, and nothing is changed.')}
      </p>
      <Conversation preview={preview} />
      {answer.kind === 'failed' && <Failed message={answer.message} preview={preview} />}
      {!shown && answer.kind === 'waiting' && <ProgressRing label={t('Reading the conversation…')} />}
      {shown && answer.kind !== 'failed' && (
        <div className="preview" aria-busy={isWaiting}>
          <Figures preview={shown} />
          <p role="status" className="visually-hidden">
            {t('{0} tokens now, {1} afterwards', shown.tokensBefore, shown.tokensAfter)}
          </p>
          {shown.notes.map((note) => (
            <p key={note} className="row-help">
              {t(note)}
            </p>
          ))}
          <PassBars preview={shown} />
          <Strip cells={shown.cells} marks={preview.marks} onMark={preview.mark} />
          <Actions preview={preview} />
          <EditExcerpts preview={shown} question={preview.question} />
        </div>
      )}
      <Comparison />
    </>
  );
}

/** Which conversation, and another one. */
function Conversation({ preview: { shown, again } }: { readonly preview: PreviewOf }): ReactNode {
  const { connection } = usePanel();
  const [, setPreviewed] = usePreviewed();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const choose = async (): Promise<void> => {
    setProblems([]);
    try {
      const { conversation } = await connection.request('choosePreviewed', {}, { timeoutMs: Infinity });
      if (conversation) setPreviewed(conversation);
    } catch (error) {
      setProblems([error instanceof Error ? error.message : String(error)]);
    }
  };
  return (
    <div>
      <p className="preview-title">
        <span className="row-name">{t('Conversation')}</span>
        <span translate="no">{shown?.title ?? ''}</span>
        {shown?.conversation.kind === 'live' && <span className="tag">{t('follows the chat')}</span>}
      </p>
      <p className="actions">
        <Button onClick={() => void choose()}>{t('Choose a conversation…')}</Button>
        <Button onClick={again}>{t('Read it again')}</Button>
      </p>
      <Problems problems={problems} />
    </div>
  );
}

/** What went wrong, and ways on. */
function Failed({ message, preview }: { readonly message: string; readonly preview: PreviewOf }): ReactNode {
  const [, setPreviewed] = usePreviewed();
  return (
    <>
      <Problems problems={[message]} />
      <p>
        <LinkButton onClick={preview.again}>{t('Try again')}</LinkButton>{' '}
        <LinkButton
          onClick={() => {
            setPreviewed({ kind: 'default' });
          }}
        >
          {t('Show the chat’s conversation, or the sample')}
        </LinkButton>
      </p>
    </>
  );
}

/** Doing what is shown. */
function Actions({ preview }: { readonly preview: PreviewOf }): ReactNode {
  const { connection } = usePanel();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const { shown, marks, unmark, again } = preview;
  if (!shown) return null;
  const { conversation, savedPins } = shown;
  const pinned = [...marks.pinned];
  const hasNewPins = pinned.length !== savedPins.length || savedPins.some((message) => !marks.pinned.has(message));
  const run = async (action: () => Promise<unknown>): Promise<void> => {
    setProblems([]);
    setBusy(true);
    try {
      await action();
    } catch (error) {
      setProblems([error instanceof Error ? error.message : String(error)]);
    }
    setBusy(false);
    again();
  };
  const condense = (): Promise<unknown> =>
    connection.request(
      'condensePreviewed',
      { conversation, pinned, excluded: [...marks.excluded] },
      { timeoutMs: Infinity },
    );
  return (
    <div>
      <p className="actions">
        <Button primary disabled={isBusy} onClick={() => void run(condense)}>
          {t('Condense now')}
        </Button>
        <Button
          disabled={isBusy || !hasNewPins}
          onClick={() => void run(() => connection.request('savePins', { conversation, pinned }))}
        >
          {t('Save the pins')}
        </Button>
        <Button icon="reset" disabled={!unmark} onClick={() => unmark?.()}>
          {t('Undo the last mark')}
        </Button>
      </p>
      <Problems problems={problems} />
    </div>
  );
}
