import { use, useId, type ReactNode } from 'react';
import { t } from '../l10n';
import { Icon, LinkButton } from '../ui';
import { getTopicWords } from '../searchTopics';
import { usePanel } from '../state/panel';
import { matchesQuery, ShowSectionContext, useSearchQuery } from '../state/search';
import { RelatedNote } from './Row';
import { ErrorBoundary } from './ErrorBoundary';

export interface SectionProps {
  readonly id: string;
  readonly title: string;
  /** If true, the group's title is the section's, and the section does not fold. */
  readonly isWholeGroup?: boolean;
  /** Shown beside the title while the section is folded. */
  readonly summary?: string | undefined;
  /** Words by which search finds the whole section. */
  readonly keywords?: readonly string[];
  readonly children: ReactNode;
}

/** A search unfolds all sections. */
export function Section({
  id,
  title,
  isWholeGroup = false,
  summary,
  keywords = [],
  children,
}: SectionProps): ReactNode {
  const { view, changeView, connection } = usePanel();
  const content = useId();
  const query = useSearchQuery();
  const isSearching = query !== '';
  const showSection = use(ShowSectionContext);
  const isOpen = isWholeGroup || isSearching || view.open.includes(id);
  const toggleSection = (): void => {
    changeView({ open: isOpen ? view.open.filter((other) => other !== id) : [...view.open, id] });
  };
  const Frame = isWholeGroup ? 'div' : 'section';
  return (
    <Frame id={id} className="section" aria-labelledby={isWholeGroup ? undefined : `${id}-title`}>
      {!isWholeGroup && (
        <h3 className="section-heading">
          <button
            type="button"
            className="section-toggle"
            aria-expanded={isOpen}
            aria-controls={content}
            aria-disabled={isSearching}
            onClick={isSearching ? undefined : toggleSection}
          >
            <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
            <span id={`${id}-title`}>{title}</span>
          </button>
          {!isOpen && summary !== undefined && <span className="section-summary">{summary}</span>}
        </h3>
      )}
      <div id={content} className="section-content" hidden={!isOpen}>
        {isSearching && matchesQuery(query, [title, ...keywords, getTopicWords(`#${id}`)]) && (
          <p data-place={id}>
            <LinkButton
              onClick={() => {
                showSection(id);
              }}
            >
              {t('Show all of {0}', title)}
            </LinkButton>
            {!matchesQuery(query, [title]) && (
              <>
                {' '}
                <RelatedNote />
              </>
            )}
          </p>
        )}
        {isOpen && (
          <ErrorBoundary
            message={t('This section could not be shown; see the log for the reason. Your settings are not affected.')}
            onError={(error) => {
              connection.sendLog(
                `Section ${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
              );
            }}
          >
            {children}
          </ErrorBoundary>
        )}
      </div>
    </Frame>
  );
}
