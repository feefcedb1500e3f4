import type { ReactNode } from 'react';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { useLatestAnswer } from '../../state/useLatest';
import { usePassDrafts } from '../smart/passDraft';
import { usePreviewedConversation, usePreviewKey } from './usePreview';

/**
 * Shows which messages of the previewed conversation a pass selects.
 * @param pass index of the pass
 */
export function SelectionStrip({ pass }: { readonly pass: number }): ReactNode {
  const [conversation] = usePreviewedConversation();
  const { answer, lastResult: selection } = useLatestAnswer(
    'previewSelection',
    { conversation, pass, drafts: usePassDrafts() },
    usePreviewKey(),
  );
  if (answer.kind === 'failed') return <ProblemList problems={[answer.message]} />;
  if (!selection) return null;
  const { title, taken: isSelected } = selection;
  const count = isSelected.filter(Boolean).length;
  const caption = t('Selects {0} of the {1} messages of “{2}”.', count, isSelected.length, title);
  return (
    <figure className="selection">
      <div className="selection-strip" role="img" aria-label={caption}>
        {isSelected.map((isTaken, index) => (
          <span key={index} className={isTaken ? 'taken' : ''} />
        ))}
      </div>
      <figcaption className="row-help">{caption}</figcaption>
    </figure>
  );
}
