import type { ReactNode } from 'react';
import { PART_LABELS } from '../../../../src/core/account/parts';
import { formatFillShare } from '../../../../src/core/account/fillLevel';
import { describeTokensSentOften, isCostUnknown } from '../../../../src/core/account/words';
import type { ShownAccount } from '../../../../src/panel/protocol';
import { Table, type TableColumn } from '../../components/Table';
import { formatNumber, formatPercent, t } from '../../l10n';
import { ShareBar, formatMoney } from './Groups';

type AccountTotals = ShownAccount['total'];

interface ContentPart {
  readonly label: string;
  /** Share from 0 to 1. */
  readonly share: number;
}

export function ContentPartsTable({ total: { parts, sentOften } }: { readonly total: AccountTotals }): ReactNode {
  const knownParts = Object.entries(PART_LABELS).flatMap(([kind, label]) => {
    const tokens = parts[kind as keyof typeof parts];
    return tokens > 0 ? [{ words: label, tokens }] : [];
  });
  const totalTokens = knownParts.reduce((sum, { tokens }) => sum + tokens, 0);
  if (totalTokens === 0) return null;
  const rows = knownParts
    .toSorted((a, b) => b.tokens - a.tokens)
    .map(({ words: label, tokens }): ContentPart => ({ label, share: tokens / totalTokens }));
  const columns: readonly TableColumn<ContentPart>[] = [
    { title: t('Content'), cell: ({ label }) => t(label) },
    {
      title: t('Share of all tokens sent'),
      cell: ({ share }) => (
        <span className="measured">
          <ShareBar share={share / (rows[0]?.share ?? 1)} />
          {formatPercent(100 * share)}
        </span>
      ),
    },
  ];
  return (
    <>
      <Table label={t('What the requests contained')} columns={columns} rows={rows} getKey={({ label }) => label} />
      <p>
        {t('Content that was sent ten times counts ten times.')} {t(describeTokensSentOften(sentOften, totalTokens))}
      </p>
    </>
  );
}

export function RereadAndUnusedTables({ total: { files, unused } }: { readonly total: AccountTotals }): ReactNode {
  const fileColumns: readonly TableColumn<AccountTotals['files'][number]>[] = [
    { title: t('Files read again and again'), cell: ({ path }) => <span className="wrapped">{path}</span> },
    { title: t('Reads'), isNumber: true, cell: ({ reads }) => formatNumber(reads) },
    { title: t('Tokens'), isNumber: true, cell: ({ tokens }) => formatNumber(tokens) },
    { title: t('Session'), cell: ({ session }) => <span className="wrapped">{session}</span> },
  ];
  const unusedColumns: readonly TableColumn<AccountTotals['unused'][number]>[] = [
    { title: t('Never used again'), cell: ({ tool, what }) => <span className="wrapped">{`${tool} ${what}`}</span> },
    { title: t('Times sent'), isNumber: true, cell: ({ sent }) => formatNumber(sent) },
    { title: t('Tokens'), isNumber: true, cell: ({ tokens }) => formatNumber(tokens) },
    { title: t('Session'), cell: ({ session }) => <span className="wrapped">{session}</span> },
  ];
  const getKey = (_: unknown, index: number): string => String(index);
  return (
    <>
      {files.length > 0 && (
        <Table label={t('Files read again and again')} columns={fileColumns} rows={files} getKey={getKey} />
      )}
      {unused.length > 0 && (
        <Table label={t('Results that were never used again')} columns={unusedColumns} rows={unused} getKey={getKey} />
      )}
    </>
  );
}

type ShownSession = ShownAccount['sessions'][number];

const findPeakFill = ({ fill }: ShownSession): number => Math.max(...fill, 0);

export function SessionWindowsTable({ sessions }: Pick<ShownAccount, 'sessions'>): ReactNode {
  if (sessions.length === 0) return null;
  const columns: readonly TableColumn<ShownSession>[] = [
    { title: t('Costliest sessions'), cell: ({ title }) => <span className="wrapped">{title}</span> },
    {
      title: t('Cost'),
      isNumber: true,
      cell: (session) => (
        <span className="measured">
          {isCostUnknown(session) ? t('– (the price of its model is not known)') : formatMoney(session)}
        </span>
      ),
    },
    { title: t('Window, first request to last'), cell: (session) => <FillSparkline session={session} /> },
    {
      title: t('Largest request with its answer (tokens)'),
      isNumber: true,
      cell: (session) => formatNumber(findPeakFill(session)),
    },
    {
      title: t('Fullest'),
      isNumber: true,
      cell: (session) =>
        session.window === undefined
          ? t('– (its window is not known)')
          : formatPercent((100 * findPeakFill(session)) / session.window),
    },
    {
      title: t('Now'),
      isNumber: true,
      cell: ({ now }) =>
        now?.window === undefined ? t('– (its window is not known)') : formatFillShare(now, now.window),
    },
    ...(sessions.some(({ compactions }) => compactions.count > 0)
      ? [
          {
            title: t('Compactions'),
            isNumber: true,
            cell: ({ compactions }: ShownSession) => formatNumber(compactions.count),
          },
        ]
      : []),
  ];
  return (
    <Table label={t('Costliest sessions')} columns={columns} rows={sessions} getKey={(_, index) => String(index)} />
  );
}

const SPARKLINE_LENGTH = 120;
const SPARKLINE_HEIGHT = 20;

function FillSparkline({ session }: { readonly session: ShownSession }): ReactNode {
  const { fill, window = 0 } = session;
  const maxTokens = Math.max(window, findPeakFill(session), 1);
  const points = fill.map((tokens, index) => {
    const x = (SPARKLINE_LENGTH * index) / Math.max(1, fill.length - 1);
    return `${x.toFixed(1)},${(SPARKLINE_HEIGHT * (1 - tokens / maxTokens)).toFixed(1)}`;
  });
  return (
    <svg className="sparkline" viewBox={`0 -1 ${SPARKLINE_LENGTH} ${SPARKLINE_HEIGHT + 2}`} aria-hidden="true">
      <polyline className="chart-line" points={points.join(' ')} />
    </svg>
  );
}
