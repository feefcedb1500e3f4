import type { ReactNode } from 'react';
import type { RunWithoutEffect } from '../../../../src/panel/protocol';
import { Table, type TableColumn } from '../../components/Table';
import { formatDollars, formatDuration, formatTimeOfDay, t } from '../../l10n';
import { getProviderLabel } from '../../names';
import { usePanel } from '../../state/panel';

/** Shows runs that failed, were canceled, or had nothing to do. */
export function RunsWithoutEffect({ runs }: { readonly runs: readonly RunWithoutEffect[] }): ReactNode {
  const { welcome } = usePanel();
  const columns: readonly TableColumn<RunWithoutEffect>[] = [
    { title: t('When'), cell: ({ at }) => formatTimeOfDay(at) },
    { title: t('Provider'), cell: ({ provider }) => getProviderLabel(welcome.providers, provider) },
    { title: t('Outcome'), cell: ({ outcome }) => OUTCOME_TEXTS[outcome]() },
    { title: t('Reason'), cell: ({ reason = '' }) => reason },
    { title: t('Time'), isNumber: true, cell: ({ timeMs }) => formatDuration(timeMs) },
    { title: t('Cost'), isNumber: true, cell: ({ cost }) => formatDollars(cost) },
  ];
  return (
    <Table
      label={t('Runs that condensed nothing')}
      columns={columns}
      rows={runs}
      getKey={({ at }, index) => `${at} ${index}`}
    />
  );
}

const OUTCOME_TEXTS: Readonly<Record<RunWithoutEffect['outcome'], () => string>> = {
  unchanged: () => t('left as it was'),
  refused: () => t('refused by the checks'),
  cancelled: () => t('canceled'),
  failed: () => t('failed'),
};
