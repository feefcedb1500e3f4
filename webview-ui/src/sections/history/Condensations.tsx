import { useState, type ReactNode } from 'react';
import type { HistoryEntry } from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { matchesQuery } from '../../state/search';
import { Button, TextField } from '../../ui';
import { CondensationItem } from './CondensationItem';
import { getPresetName, getProviderLabel } from '../../names';

const CONDENSATIONS_PER_PAGE = 20;

interface CondensationsListProps {
  /** Newest first. */
  readonly entries: readonly HistoryEntry[];
  readonly total: number;
  /** Reloads the history. */
  readonly reload: () => void;
}

export function CondensationsList({ entries, total, reload }: CondensationsListProps): ReactNode {
  const panel = usePanel();
  const [query, setQuery] = useState('');
  const [shownCount, setShownCount] = useState(CONDENSATIONS_PER_PAGE);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const searchedText = query.trim().toLowerCase();
  const matchingEntries =
    searchedText === ''
      ? entries
      : entries.filter(({ title, provider, preset, path, passes }) =>
          matchesQuery(searchedText, [
            title,
            getProviderLabel(panel.welcome.providers, provider),
            preset && getPresetName(panel, preset),
            path,
            ...passes.map(({ name }) => name),
          ]),
        );
  if (entries.length === 0) return null;
  return (
    <>
      <div className="control-line">
        <TextField
          label={t('Search condensations')}
          placeholder={t('Search condensations')}
          value={query}
          onInput={setQuery}
          onCommit={setQuery}
        />
        <span role="status" className="row-note">
          {searchedText === ''
            ? t('{0} of {1}', Math.min(shownCount, matchingEntries.length), total)
            : entries.length < total
              ? t('{0} found in the newest {1}', matchingEntries.length, entries.length)
              : t('{0} found', matchingEntries.length)}
        </span>
      </div>
      <ul className="items" aria-label={t('Condensations')}>
        {matchingEntries.slice(0, shownCount).map((entry) => (
          <CondensationItem key={entry.condensation} entry={entry} reload={reload} onProblems={setProblems} />
        ))}
      </ul>
      {matchingEntries.length > shownCount && (
        <Button
          onClick={() => {
            setShownCount(shownCount + CONDENSATIONS_PER_PAGE);
          }}
        >
          {t('Show more')}
        </Button>
      )}
      <ProblemList problems={problems} />
    </>
  );
}
