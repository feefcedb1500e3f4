import type { ReactNode } from 'react';
import { t } from '../../l10n';
import type { PassEntry } from './smartValue';

/** A pass at a glance: how it works, when it runs, what it costs. */
export function PassBadges({ entry }: { readonly entry: PassEntry }): ReactNode {
  const { mode, isConditional, tokenThreshold, callsModel, isEnabled } = entry;
  const condition = !isConditional
    ? t('always')
    : tokenThreshold === undefined
      ? t('if its condition holds')
      : t('above {0} tokens', tokenThreshold);
  return (
    <span className="badges">
      {!isEnabled && <span className="tag">{t('off')}</span>}
      <span className="tag">{mode === 'batch' ? t('all at once') : t('one by one')}</span>
      <span className="tag">{condition}</span>
      <span className="tag">{callsModel ? t('calls a model') : t('free')}</span>
    </span>
  );
}
