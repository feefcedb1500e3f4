import type { ReactNode } from 'react';
import type { Coherence as CoherenceReport } from '../../../../src/panel/protocol';
import { Disclosure } from '../../components/Disclosure';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { useLatestAnswer } from '../../state/useLatest';
import { FactKindCoherenceItem } from './CoherenceOfKind';
import { usePreviewKey, type ShownPreview } from './usePreview';

export function CoherenceSection({ preview }: { readonly preview: ShownPreview }): ReactNode {
  const { shownPreview: previewed, isWaiting, question } = preview;
  // Ask after the preview's answer, so that the preview never waits.
  const request = isWaiting || !previewed ? undefined : { ...question, conversation: previewed.conversation };
  const { answer, lastResult: report } = useLatestAnswer('previewCoherence', request, usePreviewKey());
  return (
    <div className="group-plain coherence">
      <h4 className="group-title">{t('Facts kept')}</h4>
      {answer.kind === 'failed' ? (
        <ProblemList problems={[answer.message]} />
      ) : report ? (
        <CoherenceReportList report={report} isWritten={(previewed?.calls ?? 0) > 0} />
      ) : (
        <p className="row-help">{t('Looking for files, error lines, instructions and to-dos…')}</p>
      )}
    </div>
  );
}

interface CoherenceReportListProps {
  readonly report: CoherenceReport;
  /** True if a model would write part of the resulting text. */
  readonly isWritten: boolean;
}

function CoherenceReportList({ report, isWritten }: CoherenceReportListProps): ReactNode {
  const kinds = [
    { name: t('Files'), of: report.files },
    { name: t('Error lines'), of: report.errors },
    { name: t('Instructions'), of: report.instructions },
    { name: t('To-dos'), of: report.todos },
  ];
  const sumFacts = (outcome: 'kept' | 'recallable' | 'lost'): number =>
    kinds.reduce((all, { of }) => all + of[outcome], 0);
  const [kept, recallable, lost] = [sumFacts('kept'), sumFacts('recallable'), sumFacts('lost')];
  if (kept + recallable + lost === 0) {
    return <p className="row-help">{t('The conversation contains no files, error lines, instructions or to-dos.')}</p>;
  }
  return (
    <>
      <Disclosure
        title={
          recallable + lost === 0
            ? kept === 1
              ? t('1 fact kept')
              : t('All {0} facts kept', kept)
            : kept === 1
              ? t('1 fact kept, {0} can be recalled, {1} lost', recallable, lost)
              : t('{0} facts kept, {1} can be recalled, {2} lost', kept, recallable, lost)
        }
      >
        <ul className="items">
          {kinds.map(({ name, of }) => (
            <FactKindCoherenceItem key={name} name={name} found={of} />
          ))}
        </ul>
      </Disclosure>
      <p className="row-help">
        {t('Facts are the files, error lines, instructions and to-dos of the conversation.')}{' '}
        {isWritten && t('The summary has not been written yet, so facts that only it would contain are not counted.')}
      </p>
    </>
  );
}
