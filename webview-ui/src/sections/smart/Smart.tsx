import { useEffect, useState, type ReactNode } from 'react';
import type { ProviderDescription } from '../../../../src/panel/protocol';
import { Disclosure } from '../../components/Disclosure';
import { ProblemsOfSetting } from '../../components/OwnProblems';
import { ProblemList } from '../../components/Problems';
import { SchemaField, SchemaForm, SchemaRoot } from '../../components/SchemaField';
import { getSchemaFields, type JsonSchema } from '../../components/schema';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { getPresetName } from '../../names';
import { SearchablePlace, useIsSearching } from '../../state/search';
import { areSettingsUnchanged } from '../../state/together';
import { useSetting, type SettingHandle } from '../../state/useSetting';
import { Button, LinkButton } from '../../ui';
import { DoneMessageWithUndo, type UndoableChange } from '../presets/PresetItem';
import { PresetsSection } from '../presets/Presets';
import { SavePresetForm } from '../presets/SavePreset';
import { ProviderHelp } from '../ProviderHelp';
import { PassList } from './PassList';
import { describePass } from './passSentence';
import { useDropPassDrafts, usePassDrafts } from './passDraft';
import { isPlainObject, isOwnConfiguration, readPassEntries, getCurrentPreset, getPresetInUse } from './smartValue';

/** Fields that other controls show. */
const FIELDS_SHOWN_ELSEWHERE = new Set(['version', 'passes', 'losslessPrelude']);

export function SmartSection({ provider }: { readonly provider: ProviderDescription }): ReactNode {
  const { state, connection } = usePanel();
  const name = provider.setting ?? provider.id;
  const setting = useSetting(name);
  const isActive = useSetting('provider').value === provider.id;
  const isSearching = useIsSearching();
  useRememberOwnPasses(setting);
  const [begun, setBegun] = useState<UndoableChange>();
  const doneChange = begun?.written === undefined || areSettingsUnchanged(state, begun.written) ? begun : undefined;
  const effective = state.settings[name]?.effective;
  const entries = readPassEntries(effective);
  const fields = getSchemaFields(provider.schema);
  const otherFields = Object.fromEntries(
    Object.entries(fields).filter(([field]) => !FIELDS_SHOWN_ELSEWHERE.has(field)),
  );
  // Each pass shows its own problems.
  const shownPasses = Object.fromEntries(readPassEntries(setting.value).map(({ index }) => [index, true]));
  const drafts = usePassDrafts().passes.length;
  const preset = getPresetInUse(state, setting);
  const summary = [
    isActive ? t('In use') : '',
    preset === undefined ? '' : getPresetName({ state }, preset),
    entries.length === 1 ? t('1 pass') : t('{0} passes', entries.length),
    drafts === 0 ? '' : drafts === 1 ? t('1 draft') : t('{0} drafts', drafts),
  ]
    .filter(Boolean)
    .join(' · ');
  return (
    <Section
      id={provider.id}
      title={t(provider.name)}
      summary={summary}
      keywords={['preset configuration share file import export save apply compare passes images thinking']}
    >
      <ProviderHelp provider={provider} />
      <h4 className="group-title">{t('Passes')}</h4>
      {!isSearching && (
        <p className="row-help">{t('A pass is one step: which old content it takes, and what it does with it.')}</p>
      )}
      <SchemaRoot value={{ root: provider.schema, ancestors: [] }}>
        {isOwnConfiguration(setting) ? (
          <>
            {fields['losslessPrelude'] && (
              <LosslessPreludeFields name={name} fields={getSchemaFields(fields['losslessPrelude'])} />
            )}
            <ProblemsOfSetting name={name} fields={fields} />
            <ProblemsOfSetting name={name} path={['passes']} fields={shownPasses} />
            <PassList name={name} />
            <SavePresetForm />
            <Disclosure title={t('For all passes')}>
              <SchemaForm name={name} path={[]} fields={otherFields} />
            </Disclosure>
          </>
        ) : (
          <InheritedPresetNotice name={name} setting={setting} isActive={isActive} onBegun={setBegun} />
        )}
        <SearchablePlace
          id={`${name}.json`}
          searchTexts={[t('Edit as JSON'), t('Open as JSON'), 'passes settings.json code']}
        >
          <p>
            <LinkButton
              onClick={() =>
                void (preset === undefined
                  ? connection.sendRequest('openSettingsFile', { scope: setting.scope, name })
                  : connection.sendRequest('openPreset', { id: preset }))
              }
            >
              {preset === undefined ? t('Edit as JSON') : t('Open as JSON')}
            </LinkButton>
          </p>
        </SearchablePlace>
        <DoneMessageWithUndo
          done={doneChange}
          onDone={() => {
            setBegun(undefined);
          }}
        />
        <ProblemList problems={setting.refused} />
      </SchemaRoot>
      <PresetsSection />
    </Section>
  );
}

/** Remembers the scope's own passes, because a preset may replace them. */
function useRememberOwnPasses(setting: SettingHandle): void {
  const { changeView } = usePanel();
  const { scope } = setting;
  const ownText =
    isOwnConfiguration(setting) && readPassEntries(setting.value).length > 0
      ? JSON.stringify(setting.value)
      : undefined;
  useEffect(() => {
    if (ownText === undefined) return;
    changeView(({ ownPasses }) => ({
      ownPasses: { ...ownPasses, [scope]: JSON.parse(ownText) as Record<string, unknown> },
    }));
  }, [ownText, scope]);
}

interface LosslessPreludeFieldsProps {
  readonly name: string;
  readonly fields: Readonly<Record<string, JsonSchema>>;
}

function LosslessPreludeFields({
  name,
  fields: { enabled, operations, ...otherFields },
}: LosslessPreludeFieldsProps): ReactNode {
  const path = ['losslessPrelude'];
  return (
    <>
      {enabled && (
        <SchemaField
          name={name}
          path={[...path, 'enabled']}
          schema={enabled}
          title={t('Lossless first')}
          help={t('Removes repeated content before the first pass. This costs nothing and loses nothing.')}
        />
      )}
      <Disclosure title={t('What Lossless does first')}>
        {operations && (
          <SchemaForm name={name} path={[...path, 'operations']} fields={getSchemaFields(operations)} required={[]} />
        )}
        <SchemaForm name={name} path={path} fields={otherFields} />
      </Disclosure>
    </>
  );
}

interface InheritedPresetNoticeProps {
  readonly name: string;
  /** The section's handle, which also shows refused values after this component is gone. */
  readonly setting: SettingHandle;
  /** True if Smart is the provider. */
  readonly isActive: boolean;
  /** Called when the user's own passes have replaced the inherited ones. */
  readonly onBegun: (begun: UndoableChange) => void;
}

/** Shows the passes of a preset, read-only until the user copies them. */
function InheritedPresetNotice({ name, setting, isActive, onBegun }: InheritedPresetNoticeProps): ReactNode {
  const { state, view, changeView } = usePanel();
  const dropDrafts = useDropPassDrafts();
  const savedPasses = view.ownPasses[setting.scope];
  const effectiveValue = state.settings[name]?.effective;
  const entries = readPassEntries(effectiveValue);
  const preset = getPresetInUse(state, setting);
  const chosenPreset = getCurrentPreset(setting, state.settings[name]?.value);
  const startWith = async (config: object): Promise<void> => {
    const valueBefore = setting.isSet ? setting.value : undefined;
    const { scope } = setting;
    const { drafts } = view;
    if ((await setting.save(config)).length > 0) return;
    dropDrafts();
    const begun: UndoableChange = {
      text: t('These passes are yours now.'),
      written: [{ name, scope, value: config }],
      undo: () => {
        void setting.save(valueBefore).then((problems) => {
          // The undo failed and can be retried.
          if (problems.length > 0) {
            onBegun(begun);
            return;
          }
          // Restore the replaced passes and drafts; the new ones may have the same IDs.
          const isOfScope = ([key]: readonly [string, unknown]): boolean => key.startsWith(`${scope} `);
          changeView(({ drafts: current, ownPasses: { [scope]: _begun, ...otherScopes } }) => ({
            drafts: Object.fromEntries([
              ...Object.entries(current).filter((entry) => !isOfScope(entry)),
              ...Object.entries(drafts).filter(isOfScope),
            ]),
            ownPasses: savedPasses ? { ...otherScopes, [scope]: savedPasses } : otherScopes,
          }));
        });
      },
    };
    onBegun(begun);
  };
  const noPasses = { version: 1, passes: [] };
  const actions = [t('Make it my own'), t('Start without passes'), t('Set up passes'), t('Back to my passes')];
  const searchTexts = [t('Passes'), 'pass list', ...entries.map((entry) => entry.name), ...actions];
  return (
    <SearchablePlace id={`${name}.passes`} searchTexts={searchTexts}>
      {preset !== undefined && chosenPreset !== undefined && (
        <p>
          {preset === chosenPreset
            ? t(
                isActive ? 'The preset “{0}” is in use.' : 'The preset “{0}” is selected.',
                getPresetName({ state }, preset),
              )
            : t('There is no preset “{0}”; “{1}” takes its place.', chosenPreset, getPresetName({ state }, preset))}
        </p>
      )}
      {entries.length === 0 ? (
        <p className="row-help">{t('There are no passes yet. Only repeated content is removed.')}</p>
      ) : (
        <ol className="items inherited-passes">
          {entries.map((entry) => (
            <li key={entry.key} className="item">
              <div className="item-line">
                <span className="pass-number">{t('{0}', entry.index + 1)}</span>
                <span className="item-name">{entry.name}</span>
                {!entry.isEnabled && <span className="badge">{t('off')}</span>}
              </div>
              <p className="pass-sentence">{describePass(entry)}</p>
            </li>
          ))}
        </ol>
      )}
      <p className="actions">
        {entries.length > 0 && (
          <Button
            onClick={() => {
              void startWith(isPlainObject(effectiveValue) ? dropDefaultFields(effectiveValue) : noPasses);
            }}
          >
            {t('Make it my own')}
          </Button>
        )}
        <Button
          onClick={() => {
            void startWith(noPasses);
          }}
        >
          {entries.length === 0 ? t('Set up passes') : t('Start without passes')}
        </Button>
        {savedPasses && <Button onClick={() => void setting.save(savedPasses)}>{t('Back to my passes')}</Button>}
      </p>
      <ProblemList problems={setting.problems} />
    </SearchablePlace>
  );
}

const dropDefaultFields = ({
  version,
  losslessPrelude,
  passes,
  protect,
  thinking,
  images,
}: Readonly<Record<string, unknown>>): object => ({
  version: version ?? 1,
  ...(losslessPrelude !== undefined && { losslessPrelude }),
  passes: passes ?? [],
  ...(protect !== undefined && { protect }),
  ...(isBlocksSettingChanged(thinking) && { thinking }),
  ...(isBlocksSettingChanged(images) && { images }),
});

/** Thinking and images are kept by default. */
const isBlocksSettingChanged = (blocks: unknown): boolean => isPlainObject(blocks) && blocks['operation'] !== 'keep';
