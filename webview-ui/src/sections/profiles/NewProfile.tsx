import { useEffect, useRef, useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import { makeUnusedId } from '../../../../src/core/freeId';
import { vendorHasField, listRequiredFields, getVendorEntry } from '../../../../src/core/vendors/vendors';
import type { MethodResult } from '../../../../src/panel/protocol';
import { DisclosureButton } from '../../components/Disclosure';
import { parseNumber } from '../../components/numbers';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel, type Panel } from '../../state/panel';
import { useSetting } from '../../state/useSetting';
import { Button, Dropdown, Icon, ProgressRing, TextField } from '../../ui';
import { TEST_TIMEOUT_MS } from './ProfileActions';
import { ModelNameField } from './ModelBox';
import { getWindowNoteOfServer, listModelSources, type ModelSource } from './sources';
import { toProfileFields, useVendorModels } from './vendorModels';

interface NewProfileFormProps {
  /** Label of the initially selected source. */
  readonly source: string | undefined;
  readonly taken: readonly string[];
  /** True for the first profile, which then writes summaries. */
  readonly isFirst: boolean;
  readonly onDone: () => void;
}

interface FieldProblem {
  /** Path of the field with the problem; empty if no field is concerned. */
  readonly path: string;
  readonly message: string;
}

const formatProblem = ({ path, message }: FieldProblem): string => (path === '' ? message : `${path}: ${message}`);

const EMPTY_FIELDS = { model: '', name: '', baseUrl: '', region: '', projectId: '', contextWindow: '' };
type ProfileField = keyof typeof EMPTY_FIELDS;

/** The vendor's facts about the model, as fields of a profile. */
type LookedUpModelFields = Readonly<Record<string, unknown>>;

/** Milliseconds without typing after which the form is kept. */
const KEEPING_DELAY_MS = 150;

/** Keeps the form for when the panel is closed and opened again, but no address that may contain a key. */
function useKeptForm(
  source: string,
  fields: typeof EMPTY_FIELDS,
  figures: LookedUpModelFields,
  changeView: Panel['changeView'],
): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      const { baseUrl, ...otherFields } = fields;
      const keptFields = /[@?#]/.test(baseUrl) ? otherFields : fields;
      changeView({ newProfile: { source, fields: keptFields, figures } });
    }, KEEPING_DELAY_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [source, fields, figures]);
}

/** Asks for vendor, key and model. The user can set everything else later. */
export function NewProfileForm({
  source: firstSource,
  taken: takenIds,
  isFirst,
  onDone,
}: NewProfileFormProps): ReactNode {
  const { connection, state, view, changeView } = usePanel();
  const condensingProfile = useSetting('condensingProfile');
  const sources = listModelSources();
  const [source, setSource] = useState<ModelSource>(
    sources.find(({ label }) => label === (view.newProfile?.source ?? firstSource)) ??
      sources[0] ?? { label: '', vendor: 'anthropic' },
  );
  const [fields, setFields] = useState({ ...EMPTY_FIELDS, baseUrl: source.address ?? '', ...view.newProfile?.fields });
  const [figures, setFigures] = useState<LookedUpModelFields>(view.newProfile?.figures ?? {});
  useKeptForm(source.label, fields, figures, changeView);
  const [problems, setProblems] = useState<readonly FieldProblem[]>([]);
  const [isMore, setMore] = useState(false);
  /** ID under which a key was stored, if any. */
  const [keyProfileId, setKeyProfileId] = useState<string>();
  const [test, setTest] = useState<MethodResult<'testProfile'> | 'running'>();
  /**
   * ID of the added profile if it could not be chosen for summaries; the next attempt uses this ID
   * again.
   */
  const [addedProfile, setAddedProfile] = useState<string>();
  const { vendor, isLocal = false } = source;
  const windowNote = getWindowNoteOfServer(source.label);
  const { key, listsModels = false } = getVendorEntry(vendor);
  const model = fields.model.trim();
  const profileName = fields.name.trim() || model || source.label;
  const id = addedProfile ?? keyProfileId ?? makeUnusedId(profileName, takenIds, 'profile');
  const filledFields = Object.fromEntries(
    (['baseUrl', 'region', 'projectId'] as const).flatMap((field) =>
      vendorHasField(vendor, field) && fields[field].trim() !== '' ? [[field, fields[field].trim()]] : [],
    ),
  );
  const contextWindow = parseNumber(fields.contextWindow);
  const profile = {
    id,
    name: profileName,
    vendor,
    ...(model !== '' && { model }),
    ...filledFields,
    ...figures,
    ...(contextWindow.value !== undefined && { contextWindow: contextWindow.value }),
  };

  const vendorModels = useVendorModels({ profile });
  // Look up models immediately only on a local server: others need a key first, and an address may
  // still be incomplete.
  const lookUp = useRef(vendorModels.lookUp);
  lookUp.current = vendorModels.lookUp;
  const canAskAtOnce = listsModels && isLocal;
  const [askedAddress, setAskedAddress] = useState(source.address);
  useEffect(() => {
    if (canAskAtOnce) lookUp.current();
  }, [canAskAtOnce, source.label, askedAddress]);
  useEffect(() => {
    if (listsModels && keyProfileId !== undefined) lookUp.current();
  }, [listsModels, keyProfileId]);

  const showFailure = (error: unknown): void => {
    setProblems([{ path: '', message: getErrorMessage(error) }]);
  };
  /** A key may only be sent to the address that it was entered for. */
  const forgetKey = (): void => {
    if (keyProfileId === undefined) return;
    setKeyProfileId(undefined);
    connection.sendRequest('forgetKey', { id: keyProfileId }).catch(() => undefined);
  };
  const latestForgetKey = useRef<() => void>(undefined);
  latestForgetKey.current = addedProfile === undefined ? forgetKey : undefined;
  useEffect(() => () => latestForgetKey.current?.(), []);

  const createInputHandler = (field: ProfileField) => (value: string) => {
    if (value === fields[field]) return;
    setTest(undefined);
    if (field === 'model') {
      const listedModel = vendorModels.models?.find(({ id: listedId }) => listedId === value.trim());
      setFigures(listedModel ? toProfileFields(listedModel) : {});
    }
    if (field === 'baseUrl') {
      forgetKey();
      vendorModels.forget();
    }
    setFields((before) => ({ ...before, [field]: value }));
  };
  const chooseSource = (label: string): void => {
    const nextSource = sources.find((each) => each.label === label);
    if (!nextSource) return;
    forgetKey();
    vendorModels.forget();
    setSource(nextSource);
    setAskedAddress(nextSource.address);
    setFigures({});
    setProblems([]);
    setTest(undefined);
    setFields((before) => ({ ...EMPTY_FIELDS, name: before.name, baseUrl: nextSource.address ?? '' }));
  };
  const askKey = async (): Promise<void> => {
    setProblems([]);
    try {
      const { isSet } = await connection.sendRequest('setKey', { profile }, { timeoutMs: Infinity });
      if (!isSet) return;
      setKeyProfileId(id);
      if (listsModels && keyProfileId === id) vendorModels.lookUp();
    } catch (error) {
      showFailure(error);
    }
  };
  const isKeyMissing = key === 'needed' && !isLocal && keyProfileId === undefined && fields.baseUrl.trim() === '';
  // Once the key is set, the models are looked up.
  const lookUpModels = isKeyMissing ? () => void askKey() : vendorModels.lookUp;
  const testProfile = async (): Promise<void> => {
    setTest('running');
    try {
      setTest(await connection.sendRequest('testProfile', { profile }, { timeoutMs: TEST_TIMEOUT_MS }));
    } catch (error) {
      setTest(undefined);
      showFailure(error);
    }
  };
  const saveProfile = async (): Promise<void> => {
    if (model === '') {
      setProblems([{ path: 'model', message: t('Enter a model.') }]);
      return;
    }
    if (contextWindow.problem !== undefined) {
      setProblems([{ path: 'contextWindow', message: contextWindow.problem }]);
      return;
    }
    try {
      const saveAnswer = await connection.sendRequest('saveProfile', { profile });
      setProblems(saveAnswer.problems);
      if (saveAnswer.problems.length > 0) return;
      // The key now belongs to the added profile.
      latestForgetKey.current = undefined;
      if (isFirst || addedProfile !== undefined) {
        const saveProblems = await condensingProfile.save(id);
        setProblems(saveProblems.map((message) => ({ path: '', message })));
        if (saveProblems.length > 0) {
          setAddedProfile(id);
          return;
        }
      }
      setAddedProfile(id);
      onDone();
      if (key === 'needed' && keyProfileId === undefined) {
        await connection.sendRequest('setKey', { id }, { timeoutMs: Infinity });
      }
    } catch (error) {
      showFailure(error);
    }
  };

  const listProblemsOf = (field: string): readonly string[] =>
    problems.filter(({ path }) => path === field).map(({ message }) => message);
  const renderRow = (
    field: ProfileField | 'vendor' | 'key',
    label: string,
    control: ReactNode,
    help?: string,
  ): ReactNode => (
    <div className="row">
      <span className="row-name">{label}</span>
      {help !== undefined && <p className="row-help">{help}</p>}
      <div className="row-control">{control}</div>
      <ProblemList problems={listProblemsOf(field)} />
    </div>
  );
  const renderTextField = (field: ProfileField, label: string, help?: string): ReactNode =>
    renderRow(
      field,
      label,
      <TextField
        label={label}
        help={[help ?? '', ...listProblemsOf(field)].join(' ').trim()}
        invalid={listProblemsOf(field).length > 0}
        value={fields[field]}
        onInput={createInputHandler(field)}
        onCommit={(value) => {
          createInputHandler(field)(value);
          if (field === 'baseUrl') setAskedAddress(value.trim());
        }}
      />,
      help,
    );
  const address = renderTextField(
    'baseUrl',
    t('Base URL'),
    source.addressForm === undefined
      ? t('Where the server listens, such as http://127.0.0.1:11434/v1.')
      : t('For example, {0}.', source.addressForm),
  );
  const requiredFields = listRequiredFields(vendor);
  return (
    <div className="item item-content" role="group" aria-label={t('New model')}>
      <ol className="steps">
        <li>
          {renderRow(
            'vendor',
            t('Vendor'),
            <Dropdown
              label={t('Vendor')}
              value={source.label}
              choices={sources.map(({ label }) => ({ value: label, label }))}
              onChange={chooseSource}
            />,
          )}
          {source.address !== undefined && address}
          {requiredFields.includes('region') && renderTextField('region', t('Region'))}
          {requiredFields.includes('projectId') && renderTextField('projectId', t('Project'))}
        </li>
        <li>
          {renderRow(
            'key',
            t('Key'),
            key === 'none' ? undefined : (
              <p className="actions">
                <Button icon="key" onClick={() => void askKey()}>
                  {keyProfileId === undefined ? t('Set key…') : t('Change key…')}
                </Button>
                {keyProfileId !== undefined && (
                  <span className="good" role="status">
                    <Icon name="check" /> {t('The key is set.')}
                  </span>
                )}
              </p>
            ),
            getApiKeyHelp(key, isLocal),
          )}
        </li>
        <li>
          {vendor === 'vscode' && state.editorModels.length > 0
            ? renderRow(
                'model',
                t('Model'),
                <Dropdown
                  label={t('Model')}
                  value={fields.model}
                  choices={[
                    { value: '', label: t('Choose…') },
                    ...state.editorModels.map((entry) => ({
                      value: entry.id,
                      label: `${entry.name} (${entry.vendor})`,
                    })),
                  ]}
                  onChange={createInputHandler('model')}
                />,
              )
            : renderRow(
                'model',
                t('Model'),
                <ModelNameField
                  label={t('Model')}
                  help={listProblemsOf('model').join(' ')}
                  invalid={listProblemsOf('model').length > 0}
                  value={fields.model}
                  vendorModels={listsModels ? { ...vendorModels, lookUp: lookUpModels } : undefined}
                  onInput={createInputHandler('model')}
                  onCommit={createInputHandler('model')}
                />,
                listsModels
                  ? t('Choose one from the vendor’s list, or enter its ID.')
                  : t('The model’s ID at the vendor.'),
              )}
          {windowNote !== undefined && renderTextField('contextWindow', t('Context window (tokens)'), windowNote)}
        </li>
      </ol>
      <DisclosureButton isOpen={isMore} onToggle={setMore}>
        {t('More')}
      </DisclosureButton>
      {isMore && (
        <div className="folded-content">
          {renderTextField('name', t('Name'), t('The name that is shown. If empty, the model’s ID.'))}
          {source.address === undefined && vendorHasField(vendor, 'baseUrl') && address}
        </div>
      )}
      <ProblemList problems={problems.filter(({ path }) => !(path in fields)).map(formatProblem)} />
      <p className="actions">
        <Button primary onClick={() => void saveProfile()}>
          {t('Add')}
        </Button>
        <Button disabled={model === '' || test === 'running'} onClick={() => void testProfile()}>
          {t('Test')}
        </Button>
        <Button onClick={onDone}>{t('Cancel')}</Button>
        {test === 'running' && <ProgressRing label={t('Calling the model…')} />}
        {typeof test === 'object' && test.ok && (
          <span className="good" role="status">
            <Icon name="check" /> {test.message}
          </span>
        )}
      </p>
      <ProblemList problems={typeof test === 'object' && !test.ok && test.message !== '' ? [test.message] : []} />
    </div>
  );
}

function getApiKeyHelp(key: ReturnType<typeof getVendorEntry>['key'], isLocal: boolean): string {
  if (key === 'none') return t('VS Code signs in for you. No key is needed.');
  if (isLocal) return t('A server on this machine usually needs no key.');
  if (key === 'optional') return t('Optional. Without a key, this machine’s cloud credentials are used.');
  return t('It is stored in VS Code’s secret store and sent only to the vendor.');
}
