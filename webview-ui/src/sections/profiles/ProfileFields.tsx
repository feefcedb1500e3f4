import type { ReactNode } from 'react';
import { hasField, isVendor } from '../../../../src/core/vendors/vendors';
import { Disclosure } from '../../components/Disclosure';
import { dueAt, dueWords } from '../../components/dueWords';
import { NumberInput } from '../../components/fields';
import { parseNumber, writtenNumber } from '../../components/numbers';
import { requiredOf, SchemaField } from '../../components/SchemaField';
import { fieldsOf, type Schema } from '../../components/schema';
import { Row } from '../../components/Row';
import { formatPercent, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useDraft } from '../../state/useDraft';
import { useSetting } from '../../state/useSetting';
import { Checkbox } from '../../ui';

/** Fields that are set elsewhere: an id never changes, the vendor decides what the other fields mean. */
const ELSEWHERE = new Set(['id', 'vendor', 'threshold']);

/** The fields that most profiles need. */
const FIRST = new Set(['name', 'model', 'baseUrl', 'region', 'projectId', 'offerInChat']);

interface ProfileFieldsProps {
  readonly index: number;
  readonly vendor: string;
}

/** All of a profile's fields that its vendor has. */
export function ProfileFields({ index, vendor }: ProfileFieldsProps): ReactNode {
  const { welcome } = usePanel();
  const items = (welcome.schemas['profiles']?.['items'] ?? {}) as Schema;
  const fields = Object.entries(fieldsOf(items)).filter(
    ([field]) => !ELSEWHERE.has(field) && (!isVendor(vendor) || hasField(vendor, field)),
  );
  const shown = (isFirst: boolean): ReactNode =>
    fields
      .filter(([field]) => FIRST.has(field) === isFirst)
      .map(([field, schema]) => (
        <SchemaField
          key={field}
          name="profiles"
          path={[index, field]}
          schema={schema}
          isOptional={!requiredOf(items).includes(field)}
        />
      ));
  return (
    <>
      {shown(true)}
      <OwnThreshold index={index} />
      <Disclosure title={t('Prices, limits and the rest')}>{shown(false)}</Disclosure>
    </>
  );
}

/** The profile's threshold, or that it has none of its own; and the tokens that it comes to. */
function OwnThreshold({ index }: { readonly index: number }): ReactNode {
  const setting = useSetting('profiles', [index, 'threshold']);
  const { used: general } = useSetting('threshold');
  const { value: id } = useSetting('profiles', [index, 'id']);
  const { used: ownLimit } = useSetting('profiles', [index, 'thresholdTokens']);
  const { used: generalLimit } = useSetting('thresholdTokens');
  const { state, welcome } = usePanel();
  const own = typeof setting.value === 'number' && setting.value !== -1 ? setting.value : undefined;
  const draft = useDraft(setting, own === undefined ? '' : writtenNumber(own), parseNumber);
  const { default: standard } = welcome.schemas['threshold'] ?? {};
  const inherited = Number(typeof general === 'number' ? general : standard);
  const percent = own !== undefined && setting.used === own ? own : inherited;
  const window = state.profiles.find((profile) => profile.id === id)?.contextWindow;
  const limit = ownLimit ?? generalLimit;
  const title = t('Threshold');
  const help = t('Share of the window at which conversations with this model are condensed, 5 to 100 percent.');
  return (
    <Row setting={setting} title={title} help={help} problems={draft.problems}>
      <div className="control-line">
        <Checkbox
          label={t('Inherits {0}', formatPercent(inherited))}
          help={help}
          checked={own === undefined}
          onChange={(inherits) => setting.save(inherits ? undefined : general)}
        />
        {own !== undefined && (
          <NumberInput
            unit="%"
            label={title}
            help={[help, ...draft.problems].join(' ')}
            invalid={draft.problems.length > 0}
            value={draft.text}
            onInput={draft.onInput}
            onCommit={draft.onCommit}
          />
        )}
        {window !== undefined && (
          <span className="slider-meaning">{dueWords(dueAt(window, percent, limit), { tokens: window }, limit)}</span>
        )}
      </div>
    </Row>
  );
}
