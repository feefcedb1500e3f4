import { useState, type ReactNode } from 'react';
import { makePricesPlace } from '../../../../src/core/panelPlaces';
import { getVendorEntry, vendorHasField, isVendor } from '../../../../src/core/vendors/vendors';
import type { VendorModel } from '../../../../src/panel/protocol';
import { isEqual } from '../../../../src/core/isEqual';
import { isRecord } from '../../../../src/core/messages/blocks';
import { Disclosure } from '../../components/Disclosure';
import { computeDueTokensOfWindow, describeDueTokens } from '../../components/dueWords';
import { NumberInput } from '../../components/fields';
import { parseNumber, formatTypedNumber } from '../../components/numbers';
import { listRequiredFields, SchemaField } from '../../components/SchemaField';
import { getSchemaFields, type JsonSchema } from '../../components/schema';
import { SettingRow } from '../../components/Row';
import { formatPercent, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useFieldDraft } from '../../state/useDraft';
import { useSetting } from '../../state/useSetting';
import { Checkbox, LinkButton } from '../../ui';
import { ModelNameField } from './ModelBox';
import { toProfileFields, useVendorModels } from './vendorModels';

/** Fields that never change or have their own control. */
const FIELDS_SHOWN_ELSEWHERE = new Set(['id', 'vendor', 'model', 'threshold']);

/** Fields that describe the model, so they are invalid for another one. */
const MODEL_FIELDS = new Set(['contextWindow', 'maxOutputTokens', 'images', 'prices', 'tokenFactor']);

/** Fields that are not folded away. */
const FIELDS_SHOWN_FIRST = new Set(['name', 'baseUrl', 'region', 'projectId', 'offerInChat']);

interface ProfileModelFieldProps {
  readonly index: number;
  readonly vendor: string;
}

interface ProfileFieldsProps extends ProfileModelFieldProps {
  readonly id: string;
}

/** Shows the fields that the profile's vendor supports. */
export function ProfileFields({ id, index, vendor }: ProfileFieldsProps): ReactNode {
  const { welcome } = usePanel();
  const pricesPlace = makePricesPlace(id);
  const entrySchema = (welcome.schemas['profiles']?.['items'] ?? {}) as JsonSchema;
  const fields = Object.entries(getSchemaFields(entrySchema)).filter(
    ([field]) => !FIELDS_SHOWN_ELSEWHERE.has(field) && (!isVendor(vendor) || vendorHasField(vendor, field)),
  );
  const renderFields = (isFirst: boolean): ReactNode =>
    fields
      .filter(([field]) => FIELDS_SHOWN_FIRST.has(field) === isFirst)
      .map(([field, schema]) => {
        const control = (
          <SchemaField
            key={field}
            name="profiles"
            path={[index, field]}
            schema={schema}
            isOptional={!listRequiredFields(entrySchema).includes(field)}
          />
        );
        return field === 'prices' ? (
          <div key={field} id={pricesPlace}>
            {control}
          </div>
        ) : (
          control
        );
      });
  return (
    <>
      <ProfileModelField index={index} vendor={vendor} />
      {renderFields(true)}
      <ProfileThresholdField index={index} />
      <Disclosure title={t('Prices, limits and the rest')} place={pricesPlace}>
        {renderFields(false)}
      </Disclosure>
    </>
  );
}

/** A model from the vendor's list also sets its window and prices. */
function ProfileModelField({ index, vendor }: ProfileModelFieldProps): ReactNode {
  const setting = useSetting('profiles', [index, 'model']);
  const profile = useSetting('profiles', [index]);
  const savedModel = typeof setting.value === 'string' ? setting.value : '';
  const [typedModel, setTypedModel] = useState<string>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const fields = isRecord(profile.value) ? profile.value : {};
  const vendorModels = useVendorModels({ id: String(fields['id']) });
  const listsModels = isVendor(vendor) && getVendorEntry(vendor).listsModels === true;
  const findListedModel = (id: string): VendorModel | undefined => vendorModels.models?.find((each) => each.id === id);
  const applyVendorModel = async (model: VendorModel): Promise<void> => {
    const kept = Object.entries(fields).filter(([field]) => model.id === savedModel || !MODEL_FIELDS.has(field));
    setProblems(await profile.save({ ...Object.fromEntries(kept), model: model.id, ...toProfileFields(model) }));
  };
  const saveModel = async (text: string): Promise<void> => {
    const id = text.trim();
    if (id !== savedModel) {
      const model = findListedModel(id);
      if (model) await applyVendorModel(model);
      else setProblems(await setting.save(id === '' ? undefined : id));
    }
    setTypedModel(undefined);
  };
  const currentModel = findListedModel(savedModel);
  const isOfferingNewFacts =
    currentModel !== undefined &&
    Object.entries(toProfileFields(currentModel)).some(([field, value]) => !isEqual(value, fields[field]));
  const title = t('Model');
  const help = t('The model’s ID at the vendor.');
  return (
    <SettingRow setting={setting} title={title} help={help} problems={[...setting.problems, ...problems]}>
      <ModelNameField
        label={title}
        help={[help, ...problems].join(' ')}
        invalid={problems.length > 0}
        value={typedModel ?? savedModel}
        vendorModels={listsModels ? vendorModels : undefined}
        onInput={setTypedModel}
        onCommit={(text) => void saveModel(text)}
      >
        {isOfferingNewFacts && (typedModel ?? savedModel) === savedModel && (
          <LinkButton onClick={() => void applyVendorModel(currentModel)}>{t('Use these figures')}</LinkButton>
        )}
      </ModelNameField>
    </SettingRow>
  );
}

function ProfileThresholdField({ index }: { readonly index: number }): ReactNode {
  const setting = useSetting('profiles', [index, 'threshold']);
  const { effectiveValue: general } = useSetting('threshold');
  const { value: id } = useSetting('profiles', [index, 'id']);
  const { effectiveValue: ownLimit } = useSetting('profiles', [index, 'thresholdTokens']);
  const { effectiveValue: generalLimit } = useSetting('thresholdTokens');
  const { state, welcome } = usePanel();
  const ownValue = typeof setting.value === 'number' && setting.value !== -1 ? setting.value : undefined;
  const draft = useFieldDraft(setting, ownValue === undefined ? '' : formatTypedNumber(ownValue), parseNumber);
  const { default: standard } = welcome.schemas['threshold'] ?? {};
  const inheritedPercent = Number(typeof general === 'number' ? general : standard);
  const percent = ownValue !== undefined && setting.effectiveValue === ownValue ? ownValue : inheritedPercent;
  const window = state.profiles.find((profile) => profile.id === id)?.contextWindow;
  const limit = ownLimit ?? generalLimit;
  const title = t('Threshold');
  const help = t('Share of the window at which conversations with this model are condensed, 5 to 100 percent.');
  return (
    <SettingRow setting={setting} title={title} help={help} problems={draft.problems}>
      <div className="control-line">
        <Checkbox
          label={t('Inherits {0}', formatPercent(inheritedPercent))}
          help={help}
          checked={ownValue === undefined}
          onChange={(inherits) => setting.save(inherits ? undefined : general)}
        />
        {ownValue !== undefined && (
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
          <span className="slider-meaning">
            {describeDueTokens(computeDueTokensOfWindow(window, percent, limit), { tokens: window }, limit)}
          </span>
        )}
      </div>
    </SettingRow>
  );
}
