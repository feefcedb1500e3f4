import { useEffect, useState, type ReactNode } from 'react';
import type { ProviderDescription } from '../../../../src/panel/protocol';
import { Disclosure } from '../../components/Disclosure';
import { OwnProblems } from '../../components/OwnProblems';
import { Problems } from '../../components/Problems';
import { SchemaField, SchemaForm, SchemaRoot } from '../../components/SchemaField';
import { getFields, type Schema } from '../../components/schema';
import { Section } from '../../components/Section';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { getPresetName } from '../../names';
import { Findable } from '../../state/search';
import { isStill } from '../../state/together';
import { useSetting, type SettingHandle } from '../../state/useSetting';
import { Button, LinkButton } from '../../ui';
import { DoneLine, type UndoableChange } from '../presets/PresetItem';
import { Presets } from '../presets/Presets';
import { SavePreset } from '../presets/SavePreset';
import { ProviderHelp } from '../ProviderHelp';
import { PassList } from './PassList';
import { describePass } from './passSentence';
import { useDropDrafts, usePassDrafts } from './passDraft';
import { isFields, isOwn, readPasses, getCurrentPreset } from './smartValue';

/** Fields that other controls show. */
const FIELDS_SHOWN_ELSEWHERE = new Set(['version', 'passes', 'losslessPrelude']);

export function Smart({ provider }: { readonly provider: ProviderDescription }): ReactNode {
  const { state, connection } = usePanel();
  const name = provider.setting ?? provider.id;
  const setting = useSetting(name);
  const isActive = useSetting('provider').value === provider.id;
  useRememberOwnPasses(setting);
  const [begun, setBegun] = useState<UndoableChange>();
  const done = begun?.written === undefined || isStill(state, begun.written) ? begun : undefined;
  const effective = state.settings[name]?.effective;
  const entries = readPasses(effective);
  const fields = getFields(provider.schema);
  const rest = Object.fromEntries(Object.entries(fields).filter(([field]) => !FIELDS_SHOWN_ELSEWHERE.has(field)));
  // Each pass shows its own problems.
  const shownPasses = Object.fromEntries(readPasses(setting.value).map(({ index }) => [index, true]));
  const drafts = usePassDrafts().passes.length;
  const preset = getCurrentPreset(setting, state.settings[name]?.value);
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
      <SchemaRoot value={{ root: provider.schema, ancestors: [] }}>
        {isOwn(setting) ? (
          <>
            {fields['losslessPrelude'] && <Prelude name={name} fields={getFields(fields['losslessPrelude'])} />}
            <OwnProblems name={name} fields={fields} />
            <OwnProblems name={name} path={['passes']} fields={shownPasses} />
            <PassList name={name} />
            <SavePreset />
            <Disclosure title={t('For all passes')}>
              <SchemaForm name={name} path={[]} fields={rest} />
            </Disclosure>
          </>
        ) : (
          <Inherited name={name} setting={setting} onBegun={setBegun} />
        )}
        <Findable id={`${name}.json`} words={[t('Edit as JSON'), t('Open as JSON'), 'passes settings.json code']}>
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
        </Findable>
        <DoneLine
          done={done}
          onDone={() => {
            setBegun(undefined);
          }}
        />
        <Problems problems={setting.refused} />
      </SchemaRoot>
      <Presets />
    </Section>
  );
}

/** Remembers the scope's own passes, because a preset may replace them. */
function useRememberOwnPasses(setting: SettingHandle): void {
  const { changeView } = usePanel();
  const { scope } = setting;
  const own = isOwn(setting) && readPasses(setting.value).length > 0 ? JSON.stringify(setting.value) : undefined;
  useEffect(() => {
    if (own === undefined) return;
    changeView(({ ownPasses }) => ({
      ownPasses: { ...ownPasses, [scope]: JSON.parse(own) as Record<string, unknown> },
    }));
  }, [own, scope]);
}

interface PreludeProps {
  readonly name: string;
  readonly fields: Readonly<Record<string, Schema>>;
}

function Prelude({ name, fields: { enabled, operations, ...others } }: PreludeProps): ReactNode {
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
          <SchemaForm name={name} path={[...path, 'operations']} fields={getFields(operations)} required={[]} />
        )}
        <SchemaForm name={name} path={path} fields={others} />
      </Disclosure>
    </>
  );
}

interface InheritedProps {
  readonly name: string;
  /** The section's handle, which also shows refused values after this component is gone. */
  readonly setting: SettingHandle;
  /** Called when the user's own passes have replaced the inherited ones. */
  readonly onBegun: (begun: UndoableChange) => void;
}

/** Shows the passes of a preset, read-only until the user copies them. */
function Inherited({ name, setting, onBegun }: InheritedProps): ReactNode {
  const { state, view, changeView } = usePanel();
  const dropDrafts = useDropDrafts();
  const kept = view.ownPasses[setting.scope];
  const effective = state.settings[name]?.effective;
  const entries = readPasses(effective);
  const preset = getCurrentPreset(setting, state.settings[name]?.value);
  const startWith = async (config: object): Promise<void> => {
    const before = setting.isSet ? setting.value : undefined;
    const { scope } = setting;
    const { drafts } = view;
    if ((await setting.save(config)).length > 0) return;
    dropDrafts();
    const begun: UndoableChange = {
      text: t('These passes are yours now.'),
      written: [{ name, scope, value: config }],
      undo: () => {
        void setting.save(before).then((problems) => {
          // The undo failed and can be retried.
          if (problems.length > 0) {
            onBegun(begun);
            return;
          }
          // Restore the replaced passes and drafts; the new ones may have the same IDs.
          const isOfScope = ([key]: readonly [string, unknown]): boolean => key.startsWith(`${scope} `);
          changeView(({ drafts: current, ownPasses: { [scope]: _begun, ...others } }) => ({
            drafts: Object.fromEntries([
              ...Object.entries(current).filter((entry) => !isOfScope(entry)),
              ...Object.entries(drafts).filter(isOfScope),
            ]),
            ownPasses: kept ? { ...others, [scope]: kept } : others,
          }));
        });
      },
    };
    onBegun(begun);
  };
  const nothing = { version: 1, passes: [] };
  const actions = [t('Make it my own'), t('Start without passes'), t('Set up passes'), t('Back to my passes')];
  const words = [t('Passes'), 'pass list', ...entries.map((entry) => entry.name), ...actions];
  return (
    <Findable id={`${name}.passes`} words={words}>
      {preset !== undefined && <p>{t('The preset "{0}" is in use.', getPresetName({ state }, preset))}</p>}
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
              void startWith(isFields(effective) ? withoutDefaults(effective) : nothing);
            }}
          >
            {t('Make it my own')}
          </Button>
        )}
        <Button
          onClick={() => {
            void startWith(nothing);
          }}
        >
          {entries.length === 0 ? t('Set up passes') : t('Start without passes')}
        </Button>
        {kept && <Button onClick={() => void setting.save(kept)}>{t('Back to my passes')}</Button>}
      </p>
      <Problems problems={setting.problems} />
    </Findable>
  );
}

const withoutDefaults = ({
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
  ...(isChanged(thinking) && { thinking }),
  ...(isChanged(images) && { images }),
});

/** Thinking and images are kept by default. */
const isChanged = (blocks: unknown): boolean => isFields(blocks) && blocks['operation'] !== 'keep';
