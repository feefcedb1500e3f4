import { useEffect, useRef, useState, type ReactNode } from 'react';
import { errorMessage } from '../../../../src/core/errors';
import type { Params, VendorModel } from '../../../../src/panel/protocol';
import { Problems } from '../../components/Problems';
import { formatDollars, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Button, Dropdown, ProgressRing, TextField } from '../../ui';

/** How long a vendor may take to list its models, in milliseconds. */
const LIST_TIMEOUT_MS = 60_000;
/** A router lists hundreds: more are found by typing a part of the name. */
const MAX_SHOWN = 50;

type Lookup =
  | { readonly kind: 'none' }
  | { readonly kind: 'running' }
  | { readonly kind: 'there'; readonly models: readonly VendorModel[] };

interface VendorModelsProps {
  /** The profile whose vendor is asked. */
  readonly asked: Params<'listModels'>;
  /** The model that is chosen now. */
  readonly current: string;
  /** Each time that it grows, the list is asked for without a click. */
  readonly wanted?: number;
  /** Takes a model over. @returns what is wrong with that. */
  readonly onTake: (model: VendorModel) => Promise<readonly string[]>;
}

/** The models that a profile's vendor lists, and what it says of them, to choose one. */
export function VendorModels({ asked, current, wanted = 0, onTake }: VendorModelsProps): ReactNode {
  const { connection } = usePanel();
  const running = useRef<AbortController>(undefined);
  const [lookup, setLookup] = useState<Lookup>({ kind: 'none' });
  const [part, setPart] = useState('');
  const [chosen, setChosen] = useState('');
  const [problem, setProblem] = useState('');
  useEffect(() => () => running.current?.abort(), []);

  const lookUp = async (): Promise<void> => {
    const abort = new AbortController();
    running.current = abort;
    setProblem('');
    setLookup({ kind: 'running' });
    try {
      const options = { timeoutMs: LIST_TIMEOUT_MS, signal: abort.signal };
      const { models } = await connection.request('listModels', asked, options);
      setLookup({ kind: 'there', models });
      setChosen(models.some(({ id }) => id === current) ? current : '');
    } catch (error) {
      setLookup({ kind: 'none' });
      if (!abort.signal.aborted) setProblem(errorMessage(error));
    }
  };
  const takeOver = async (model: VendorModel): Promise<void> => {
    const problems = await onTake(model);
    setProblem(problems.join(' '));
    if (problems.length === 0) setLookup({ kind: 'none' });
  };
  const lookUpNow = useRef(lookUp);
  lookUpNow.current = lookUp;
  useEffect(() => {
    if (wanted > 0) void lookUpNow.current();
  }, [wanted]);

  if (lookup.kind !== 'there') {
    return (
      <>
        <p className="actions">
          <Button icon="search" disabled={lookup.kind === 'running'} onClick={() => void lookUp()}>
            {t('Look up models')}
          </Button>
          {lookup.kind === 'running' && (
            <>
              <ProgressRing label={t('Asking the vendor for its models…')} />
              <Button onClick={() => running.current?.abort()}>{t('Cancel')}</Button>
            </>
          )}
        </p>
        <Problems problems={problem === '' ? [] : [problem]} />
      </>
    );
  }
  const { models } = lookup;
  const found = models.filter(({ id }) => id.toLowerCase().includes(part.trim().toLowerCase()));
  const shown = found.slice(0, MAX_SHOWN);
  const selected = models.find(({ id }) => id === chosen);
  return (
    <div className="item-content" role="group" aria-label={t('Models of the vendor')}>
      <p className="row-help" role="status">
        {found.length > MAX_SHOWN
          ? t('{0} models; the first {1} are shown. Type part of the name.', found.length, MAX_SHOWN)
          : found.length === 1
            ? t('one model')
            : t('{0} models', found.length)}
      </p>
      <div className="control-line">
        <TextField label={t('Part of the name')} value={part} onInput={setPart} onCommit={setPart} />
        <Dropdown
          label={t('Model')}
          value={shown.some(({ id }) => id === chosen) ? chosen : ''}
          choices={[{ value: '', label: t('Choose…') }, ...shown.map(({ id }) => ({ value: id, label: id }))]}
          onChange={setChosen}
        />
      </div>
      {selected && <p>{factsOf(selected).join(' · ')}</p>}
      <Problems problems={problem === '' ? [] : [problem]} />
      <p className="actions">
        <Button primary disabled={!selected} onClick={() => selected && void takeOver(selected)}>
          {t('Use this model')}
        </Button>
        <Button
          onClick={() => {
            setLookup({ kind: 'none' });
          }}
        >
          {t('Cancel')}
        </Button>
      </p>
    </div>
  );
}

/** The vendor's facts about a model, in words. */
function factsOf({ contextWindow, maxOutputTokens, seesImages, prices }: VendorModel): string[] {
  const facts = [
    ...(contextWindow === undefined ? [] : [t('window {0}', contextWindow)]),
    ...(maxOutputTokens === undefined ? [] : [t('answers up to {0} tokens', maxOutputTokens)]),
    ...(prices
      ? [t('{0} in, {1} out per million tokens', formatDollars(prices.input), formatDollars(prices.output))]
      : []),
    ...(prices?.longPrompts ? [t('more expensive above {0} tokens', prices.longPrompts.aboveTokens)] : []),
    ...(seesImages === undefined ? [] : [seesImages ? t('accepts images') : t('does not accept images')]),
  ];
  return facts.length > 0 ? facts : [t('The vendor provides only its name.')];
}
