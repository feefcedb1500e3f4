import { useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import type { EditExcerpt, MethodParams, Preview } from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Button } from '../../ui';

interface EditExcerptsListProps {
  readonly preview: Preview;
  readonly question: MethodParams<'preview'>;
}

export function EditExcerptsList({ preview, question }: EditExcerptsListProps): ReactNode {
  const { connection } = usePanel();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const { edits, editCount } = preview;
  if (editCount === 0) return null;
  const showAll = (): void => {
    setProblems([]);
    connection.sendRequest('showPreviewDiff', question).catch((error: unknown) => {
      setProblems([getErrorMessage(error)]);
    });
  };
  return (
    <div className="group-plain">
      <h4 className="group-title">{t('What changes')}</h4>
      <p className="row-help">{describeShownChanges(edits.length, editCount)}</p>
      <ul className="items">
        {edits.map((edit, index) => (
          <EditExcerptItem key={index} edit={edit} />
        ))}
      </ul>
      <p className="actions">
        <Button onClick={showAll}>{t('Show all in the diff editor')}</Button>
      </p>
      <ProblemList problems={problems} />
    </div>
  );
}

export function describeShownChanges(shownCount: number, total: number): string {
  if (shownCount < total) return t('The first {0} of {1} changes.', shownCount, total);
  return total === 1 ? t('One change.') : t('All {0} changes.', total);
}

function EditExcerptItem({ edit }: { readonly edit: EditExcerpt }): ReactNode {
  const { message, step, reason, before, after, tokensBefore, tokensAfter, isWritten } = edit;
  return (
    <li className="item">
      <div className="item-line">
        <span className="item-name">{t('Message {0}', message + 1)}</span>
        <span className="tag">{t(step)}</span>
        <span className="row-help">{t(reason)}</span>
        <span className="excerpt-tokens">{t('{0} → {1} tokens', tokensBefore, tokensAfter)}</span>
      </div>
      <div className="excerpt">
        <pre translate="no" className="excerpt-before" aria-label={t('Before')} role="group">
          {before}
        </pre>
        {isWritten ? (
          <p className="row-help">{t('About {0} tokens, written by a model.', tokensAfter)}</p>
        ) : (
          <pre translate="no" className="excerpt-after" aria-label={t('Afterwards')} role="group">
            {after}
          </pre>
        )}
      </div>
    </li>
  );
}
