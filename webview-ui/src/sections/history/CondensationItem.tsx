import { useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import type { HistoryEntry } from '../../../../src/panel/protocol';
import { formatChange, formatDollars, formatDuration, formatNumber, formatTimeOfDay, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { DisclosureButton } from '../../components/Disclosure';
import { Button } from '../../ui';
import { getPresetName, getProviderLabel } from '../../names';
import { computeRemovedPercent } from './SavingsChart';

interface CondensationItemProps {
  readonly entry: HistoryEntry;
  /** Reloads the history. */
  readonly reload: () => void;
  readonly onProblems: (problems: readonly string[]) => void;
}

export function CondensationItem({ entry, reload, onProblems }: CondensationItemProps): ReactNode {
  const panel = usePanel();
  const { connection, welcome } = panel;
  const [isOpen, setOpen] = useState(false);
  const { place, conversation, condensation, title, state, change, isFallback, preset, isGone } = entry;
  const subject = { place, conversation, condensation };
  const runAction = async (action: () => Promise<unknown>): Promise<void> => {
    onProblems([]);
    try {
      await action();
    } catch (error) {
      onProblems([getErrorMessage(error)]);
    }
  };
  const setUndone = (isUndone: boolean) =>
    runAction(async () => {
      await connection.sendRequest('setUndone', { ...subject, isUndone });
      reload();
    });
  const provider = getProviderLabel(welcome.providers, entry.provider);
  return (
    <li className="item preset" data-state={state}>
      <div className="item-line">
        <DisclosureButton isOpen={isOpen} onToggle={setOpen} className="item-name">
          {title}
        </DisclosureButton>
        <span className="badges">
          <span className="tag">
            {preset === undefined ? provider : `${provider} · ${getPresetName(panel, preset)}`}
          </span>
          {place === 'live' && <span className="tag">{t('chat')}</span>}
          {isFallback && <span className="tag">{t('fallback')}</span>}
          {isGone && <span className="tag">{t('file deleted')}</span>}
          {state !== 'shown' && <span className="tag">{state === 'undone' ? t('undone') : t('replaced')}</span>}
        </span>
      </div>
      <p className="row-help">{formatCondensationFigures(entry)}</p>
      <span className="item-buttons actions">
        {change && (
          <Button onClick={() => void setUndone(change === 'undo')}>{change === 'undo' ? t('Undo') : t('Redo')}</Button>
        )}
        {isGone !== true && (
          <Button onClick={() => void runAction(() => connection.sendRequest('showCondensation', subject))}>
            {t('Show diff')}
          </Button>
        )}
      </span>
      {isOpen && <CondensationDetails entry={entry} />}
    </li>
  );
}

function formatCondensationFigures(entry: HistoryEntry): string {
  const { at, tokensBefore, tokensAfter, timeMs, cost } = entry;
  const tokens = t('{0} → {1} tokens ({2})', tokensBefore, tokensAfter, formatChange(-computeRemovedPercent(entry)));
  return [formatTimeOfDay(at), tokens, formatDuration(timeMs), formatDollars(cost)].join(' · ');
}

function CondensationDetails({ entry }: { readonly entry: HistoryEntry }): ReactNode {
  const { passes, savedPerRequest, path, use, rereads } = entry;
  return (
    <div className="item-content">
      <ol aria-label={t('Steps')}>
        {passes.map(({ name, tokensBefore, tokensAfter }, index) => (
          <li key={`${name} ${index}`}>
            {t('{0}: {1} → {2} tokens', t(name), formatNumber(tokensBefore), formatNumber(tokensAfter))}
          </li>
        ))}
      </ol>
      {savedPerRequest !== undefined && (
        <p>
          {entry.isInUse
            ? t('Each later request costs {0} less.', formatDollars(savedPerRequest))
            : t('Once given back to its agent, each later request costs {0} less.', formatDollars(savedPerRequest))}
        </p>
      )}
      {use && <p>{formatUseOfRemoved(use)}</p>}
      {rereads !== undefined && (
        <p>
          {rereads === 1
            ? t('Read again right after a reference: once; that file has been sent whole since then.')
            : t('Read again right after a reference: {0} times; those files have been sent whole since then.', rereads)}
        </p>
      )}
      {path !== undefined && <p className="item-facts path">{path}</p>}
    </div>
  );
}

/** Describes the agent's later requests for removed content. */
function formatUseOfRemoved({
  turns,
  rereads,
  recalls,
  failedEdits,
  expected,
}: NonNullable<HistoryEntry['use']>): string {
  const useCount = rereads + recalls + failedEdits;
  const turnsText = turns === 1 ? t('1 turn') : t('{0} turns', turns);
  if (useCount === 0) return t('Removed content needed again within {0}: never.', turnsText);
  return t(
    'Removed content needed again within {0}: {1} (files read again: {2}, recalls: {3}, failed edits: {4}). Expected: {5}.',
    turnsText,
    useCount === 1 ? t('once') : t('{0} times', useCount),
    rereads,
    recalls,
    failedEdits,
    formatNumber(expected),
  );
}
