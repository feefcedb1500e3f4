import type { ReactNode } from 'react';
import { makePricesPlace } from '../../../../src/core/panelPlaces';
import { getServerLabel, isVendor } from '../../../../src/core/vendors/vendors';
import type { ProfileState } from '../../../../src/panel/protocol';
import { DisclosureButton, useUnfolded } from '../../components/Disclosure';
import { ProblemList } from '../../components/Problems';
import { formatDate, formatPrice, formatPercent, t } from '../../l10n';
import { matchesQuery, useSearchQuery } from '../../state/search';
import { useSetting } from '../../state/useSetting';
import { Button } from '../../ui';
import { ProfileActions } from './ProfileActions';
import { ProfileFields } from './ProfileFields';
import { getWindowNoteOfServer } from './sources';
import type { ProfileEntry } from '../../state/profileEntries';

interface ProfileItemProps {
  readonly entry: ProfileEntry;
  readonly isCondensing: boolean;
}

export function ProfileItem({ entry, isCondensing }: ProfileItemProps): ReactNode {
  const query = useSearchQuery();
  const [isOpen, setOpen] = useUnfolded(makePricesPlace(entry.id));
  const setting = useSetting('profiles', [entry.index]);
  const vendor = isVendor(entry.vendor) ? getServerLabel(entry.vendor, entry.baseUrl) : entry.vendor;
  const windowNote = entry.facts?.isWindowKnown === false ? getWindowNoteOfServer(vendor) : undefined;
  const actions = [t('Use for summaries'), t('Test'), t('Set key…'), t('Change key…'), t('Remove…')];
  const searchTexts = [entry.name, vendor, entry.vendor, entry.model, t('Models'), 'profile API key', ...actions];
  const isShown = query === '' || matchesQuery(query, searchTexts);
  // Expanded if the search matches one of its fields.
  const isUnfolded = isOpen || (query !== '' && !isShown);
  const name = entry.name || t('Model {0}', entry.index + 1);
  return (
    <li className="item" data-setting={isShown ? setting.id : undefined}>
      <div className="item-line">
        <DisclosureButton
          isOpen={isUnfolded}
          onToggle={() => {
            setOpen(!isOpen);
          }}
          className="item-name"
        >
          {name}
        </DisclosureButton>
        {isCondensing && <span className="badge">{t('for summaries')}</span>}
        <span className="item-facts">{[vendor, entry.model, ...listProfileFacts(entry)].join(' · ')}</span>
      </div>
      {windowNote !== undefined && <p className="item-facts">{windowNote}</p>}
      <ProblemList problems={[...setting.problems, ...setting.notReset]} />
      {isUnfolded && (
        <div className="item-content">
          <ProfileFields id={entry.id} index={entry.index} vendor={entry.vendor} />
          {entry.facts && query === '' && (
            <ProfileActions entry={entry} facts={entry.facts} isCondensing={isCondensing} />
          )}
          {!entry.facts && query === '' && (
            <Button icon="trash" onClick={() => void setting.reset()}>
              {t('Remove')}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

function listProfileFacts({ facts, threshold }: ProfileEntry): string[] {
  if (!facts) return [t('not usable yet')];
  const { key, contextWindow, isWindowKnown } = facts;
  return [
    describeKeyState(key),
    ...describePrices(facts),
    ...(contextWindow === undefined
      ? []
      : [isWindowKnown ? t('window {0}', contextWindow) : t('window not known: {0} assumed', contextWindow)]),
    ...(threshold === undefined ? [] : [t('condenses at {0}', formatPercent(threshold))]),
  ];
}

function describePrices({ prices, pricesAsOf, contextWindow }: ProfileState): string[] {
  if (!prices) return contextWindow === undefined ? [] : [t('price not known')];
  const text = t('{0} in, {1} out per million tokens', formatPrice(prices.input), formatPrice(prices.output));
  return [pricesAsOf === undefined ? text : t('{0}, as of {1}', text, formatDate(pricesAsOf))];
}

function describeKeyState(key: ProfileState['key']): string {
  switch (key) {
    case 'set':
      return t('key set');
    case 'missing':
      return t('key not set');
    case 'other-endpoint':
      return t('key was given for another endpoint');
    case 'not-needed':
      return t('needs no key');
  }
}
