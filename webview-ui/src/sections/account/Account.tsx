import { useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import {
  describeCompactions,
  describeLostLines,
  describeReplayedRequests,
  describeSessionsWithoutParts,
  isCostUnknown,
  WHAT_IF_ASSUMPTIONS,
  describeWhatIfCounts,
} from '../../../../src/core/account/words';
import { WHAT_IF_CHOICE_IDS, type ShownAccount } from '../../../../src/panel/protocol';
import { Disclosure } from '../../components/Disclosure';
import { FigureList } from '../../components/FigureList';
import { ProblemList } from '../../components/Problems';
import { Section } from '../../components/Section';
import { formatDollars, formatNumber, formatPercent, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useIsSearching } from '../../state/search';
import { Button, Dropdown } from '../../ui';
import { CostPerDayChart, AccountGroupsTable, formatMoney, formatCostRange } from './Groups';
import { ContentPartsTable, RereadAndUnusedTables, SessionWindowsTable } from './Contents';
import { ToolWeightsTables } from './Tools';

/** Reads nothing until the user asks for it. */
export function AccountSection(): ReactNode {
  return (
    <Section
      id="account"
      title={t('Session costs')}
      summary={t('What your agents cost, and why')}
      keywords={[
        t('Analyze'),
        t('Save as a page…'),
        t('Compare with'),
        'account bill spending dollars money agents waste',
      ]}
    >
      <AccountContent />
    </Section>
  );
}

const ALL_TIME_VALUE = 'all';
const PERIODS_DAYS = [7, 30, 90] as const;

const NO_COMPARISON_VALUE = 'none';
const WHAT_IF_CHOICE_NAMES: Readonly<Record<(typeof WHAT_IF_CHOICE_IDS)[number], string>> = {
  current: 'Current settings',
  lossless: 'Lossless',
  'file-aware': 'File-Aware',
  speed: 'Speed',
  'multi-zone': 'Multi-Zone',
  truncation: 'Truncation',
};

function AccountContent(): ReactNode {
  const isSearching = useIsSearching();
  const { connection } = usePanel();
  const [period, setPeriod] = useState<string>(ALL_TIME_VALUE);
  const [choice, setChoice] = useState<string>(NO_COMPARISON_VALUE);
  const [account, setAccount] = useState<ShownAccount>();
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const runAction = async (action: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    setProblems([]);
    try {
      await action();
    } catch (error) {
      setProblems([getErrorMessage(error)]);
    }
    setBusy(false);
  };
  // No timeout: reading takes long, and the user can cancel it.
  const noTimeout = { timeoutMs: Infinity };
  const comparedChoice = WHAT_IF_CHOICE_IDS.find((each) => each === choice);
  const preferences = {
    ...(period !== ALL_TIME_VALUE && { days: Number(period) }),
    ...(comparedChoice && { choice: comparedChoice }),
  };
  const loadAccount = () =>
    runAction(async () => {
      const answer = await connection.sendRequest('account', preferences, noTimeout);
      if (answer.account) setAccount(answer.account);
    });
  const saveAccount = () => runAction(() => connection.sendRequest('saveAccount', preferences, noTimeout));
  if (isSearching) return null;
  return (
    <>
      <p className="row-help">
        {t(
          'Adds up the sessions that every agent has stored on this machine: what they cost, what was sent, and how much of it was wasted. No model is called, and nothing leaves this machine. The first run can take a few minutes; unchanged sessions are not read again.',
        )}
      </p>
      <p className="actions">
        <Dropdown
          label={t('Period')}
          value={period}
          choices={[
            { value: ALL_TIME_VALUE, label: t('All time') },
            ...PERIODS_DAYS.map((days) => ({ value: String(days), label: t('The last {0} days', days) })),
          ]}
          onChange={setPeriod}
        />
        <Dropdown
          label={t('Compare with')}
          value={choice}
          choices={[
            { value: NO_COMPARISON_VALUE, label: t('No comparison') },
            ...WHAT_IF_CHOICE_IDS.map((id) => ({
              value: id,
              label: t('Compare with {0}', t(WHAT_IF_CHOICE_NAMES[id])),
            })),
          ]}
          onChange={setChoice}
        />
        <Button onClick={() => void loadAccount()} disabled={isBusy}>
          {isBusy ? t('Analyzing…') : t('Analyze')}
        </Button>
        <Button onClick={() => void saveAccount()} disabled={isBusy}>
          {t('Save as a page…')}
        </Button>
      </p>
      <ProblemList problems={problems} />
      {account && <AccountReport account={account} />}
      <ToolWeightsTables stored={account?.total.calls} />
    </>
  );
}

function AccountReport({ account }: { readonly account: ShownAccount }): ReactNode {
  const { total, groups, sessions, leftOut } = account;
  if (total.sessions === 0) return <p role="status">{t('No agent stored a session in this period.')}</p>;
  return (
    <>
      <p role="status">
        {total.unpriced === 0 || isCostUnknown(total) ? (
          <>
            <strong>{formatMoney(total)}</strong>{' '}
            {t('for {0} in {1}.', formatRequests(total.requests), formatSessions(total.sessions))}
          </>
        ) : (
          <>
            {formatSessions(total.sessions)}: <strong>{formatMoney(total)}</strong>.
          </>
        )}
        {total.estimated.length > 0 &&
          ` ${t('Estimated: {0}.', total.estimated.map(({ agent, sessions: count }) => t('{0} of {1}', formatSessions(count), agent)).join(', '))}`}
        {total.replayed > 0 &&
          ` ${formatRequests(total.replayed)} ${t(describeReplayedRequests(total.replayed, total))}.`}
        {total.uncomposed > 0 && ` ${t(describeSessionsWithoutParts(total))}`}
        {leftOut > 0 &&
          ` ${t('{0} could not be read ({1}). See the log for details.', formatSessions(leftOut), total.unread.map(({ reason, sessions: count }) => `${count}: ${reason}`).join('; '))}`}
      </p>
      {account.whatIf && <WhatIfResult whatIf={account.whatIf} />}
      <AccountFigures total={total} />
      {total.compactions.count > 0 && <p>{describeCompactions(total.compactions)}.</p>}
      <CostPerDayChart days={groups.day} />
      <AccountGroupsTable groups={groups} />
      <ContentPartsTable total={total} />
      <RereadAndUnusedTables total={total} />
      <SessionWindowsTable sessions={sessions} />
      <Disclosure title={t('How is this computed?')}>
        <ul className="rules-told">
          {ACCOUNT_RULES.map((rule) => (
            <li key={rule}>{t(rule)}</li>
          ))}
        </ul>
      </Disclosure>
    </>
  );
}

const ACCOUNT_RULES: readonly string[] = [
  'Token counts are those that the agents recorded. If an agent records none, its requests are replayed from the conversation: each request sends everything before its answer, and the cache holds what the previous request sent, unless more than five minutes have passed. System prompts and tools that are not in the file are missing, so the cost is a range: from the replayed amount to two and a half times as much, which was true of eight in ten sessions whose agents do record it.',
  'Costs are in US dollars, at the price table’s prices on the day of the request. Subscriptions are not taken into account. Models whose price is unknown are not included in any cost.',
  'What it would have cost: the requests of each session that was long enough are replayed twice, as they were and condensed whenever one reaches your threshold. The recorded cost is scaled by the ratio of the two. A needed line is one that edits of the next 20 turns quote.',
  'Compactions whose cost the agent does not record are estimated and not included in any other total.',
  'Read again: an earlier read of the file had shown most of these lines. Never used again: the result introduced new names, and the model wrote none of them afterwards. This is a hint, not proof.',
];

function WhatIfResult({ whatIf }: { readonly whatIf: NonNullable<ShownAccount['whatIf']> }): ReactNode {
  const { choice, cost, after, atMost } = whatIf;
  const [low, high] = [formatDollars(after), formatDollars(atMost)];
  return (
    <>
      <p>
        <strong>
          {low === high
            ? t('{0}; with {1}: {2}', formatDollars(cost), t(choice), low)
            : t('{0}; with {1}: {2} to {3}', formatDollars(cost), t(choice), low, high)}
        </strong>
        {` · ${t(describeLostLines(whatIf))}`}
      </p>
      <p className="row-help">
        {t(describeWhatIfCounts(whatIf))} {t(WHAT_IF_ASSUMPTIONS)}
      </p>
    </>
  );
}

function AccountFigures({ total }: { readonly total: ShownAccount['total'] }): ReactNode {
  const { requests, unpriced, fresh, cacheWrite, cacheRead, output } = total;
  const input = fresh + cacheWrite + cacheRead;
  const figures: readonly (readonly [string, string])[] = [
    [
      t('Average cost per request'),
      requests > unpriced ? formatCostRange(total, requests - unpriced) : formatDollars(undefined),
    ],
    [t('Input'), formatTokensShort(input)],
    [t('Input from caches'), input === 0 ? '–' : formatPercent((100 * cacheRead) / input)],
    [t('Output'), formatTokensShort(output)],
  ];
  return <FigureList figures={figures} />;
}

const formatRequests = (count: number): string => (count === 1 ? t('1 request') : t('{0} requests', count));
const formatSessions = (count: number): string => (count === 1 ? t('1 session') : t('{0} sessions', count));

const formatTokensShort = (tokens: number): string =>
  t('{0} tokens', formatNumber(tokens, { notation: 'compact', maximumFractionDigits: 1 }));
