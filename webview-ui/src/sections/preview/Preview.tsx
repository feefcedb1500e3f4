import type { ReactNode } from 'react';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { useIsSearching } from '../../state/search';
import { Checkbox, ProgressRing } from '../../ui';
import { CoherenceSection } from './Coherence';
import { EditExcerptsList } from './EditExcerpts';
import { PreviewFigureList } from './Figures';
import { PassBarChart } from './PassBars';
import { PreviewActions } from './PreviewActions';
import { FailedPreview, PreviewedConversation } from './PreviewedConversation';
import { MessageStrip } from './Strip';
import { useEndPreviewOnUnmount, usePreview } from './usePreview';

export function PreviewSection(): ReactNode {
  const isSearching = useIsSearching();
  return (
    <Section
      id="preview"
      title={t('Preview')}
      summary={t('What condensing would remove')}
      keywords={[
        t('Choose a conversation…'),
        t('Refresh'),
        t('Condense now'),
        t('Save the pins'),
        'estimate forecast cost price tokens diff changes result try draft pin exclude ignore mark',
      ]}
    >
      {!isSearching && <PreviewContent />}
    </Section>
  );
}

function PreviewContent(): ReactNode {
  const preview = usePreview();
  useEndPreviewOnUnmount();
  const { shownPreview, answer, isWaiting } = preview;
  const draftNames = preview.draftNames.map((name) => `“${name}”`).join(', ');
  return (
    <>
      <p className="row-help">
        {preview.isOfDrafts
          ? t(
              'What the Smart provider would do with the draft of {0}. No model is called, and nothing is changed.',
              draftNames,
            )
          : t('What condensing with the current settings would do. No model is called, and nothing is changed.')}
      </p>
      {preview.draftNames.length > 0 && (
        <Checkbox
          label={t('Try the draft of {0}', draftNames)}
          checked={preview.isOfDrafts}
          onChange={preview.tryDrafts}
        />
      )}
      <PreviewedConversation preview={preview} />
      {answer.kind === 'failed' && <FailedPreview message={answer.message} preview={preview} />}
      {!shownPreview && answer.kind === 'waiting' && <ProgressRing label={t('Reading the conversation…')} />}
      {shownPreview && answer.kind !== 'failed' && (
        <div className="preview" aria-busy={isWaiting}>
          <PreviewFigureList preview={shownPreview} />
          <p role="status" className="visually-hidden">
            {t('{0} tokens now, {1} afterwards', shownPreview.tokensBefore, shownPreview.tokensAfter)}
          </p>
          {shownPreview.notes.map((note) => (
            <p key={note} className="row-help">
              {t(note)}
            </p>
          ))}
          <PassBarChart preview={shownPreview} />
          <CoherenceSection key={JSON.stringify(shownPreview.conversation)} preview={preview} />
          <MessageStrip cells={shownPreview.cells} marks={preview.marks} onMark={preview.saveMarks} />
          <PreviewActions preview={preview} />
          <EditExcerptsList preview={shownPreview} question={preview.question} />
        </div>
      )}
    </>
  );
}
