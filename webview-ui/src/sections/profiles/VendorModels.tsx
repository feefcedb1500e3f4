import { useEffect, useRef, useState, type ReactNode } from 'react';
import { errorMessage } from '../../../../src/core/errors';
import type { VendorModel } from '../../../../src/panel/protocol';
import { Problems } from '../../components/Problems';
import { formatDollars, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useSetting } from '../../state/useSetting';
import { Button, Dropdown, ProgressRing, TextField } from '../../ui';
import type { ProfileEntry } from '../../state/profileEntries';

/** How long a vendor may take to list its models, in milliseconds. */
const LIST_TIMEOUT_MS = 60_000;
/** A router lists hundreds: more are found by typing a part of the name. */
const MAX_SHOWN = 50;

/** The fields of a profile that tell of its model, and not of how it is called. */
const OF_THE_MODEL = new Set(['contextWindow', 'maxOutputTokens', 'images', 'prices', 'tokenFactor']);

type Lookup =
  | { readonly kind: 'none' }
  | { readonly kind: 'running' }
  | { readonly kind: 'there'; readonly models: readonly VendorModel[] };

/** The models that the profile's vendor lists, and what it says of them, to be taken over into the profile. */
export function VendorModels({ entry }: { readonly entry: ProfileEntry }): ReactNode {
  const { connection } = usePanel();
  const setting = useSetting('profiles', [entry.index]);
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
      const { models } = await connection.request('listModels', { id: entry.id }, options);
      setLookup({ kind: 'there', models });
      setChosen(models.some(({ id }) => id === entry.model) ? entry.model : '');
    } catch (error) {
      setLookup({ kind: 'none' });
      if (!abort.signal.aborted) setProblem(errorMessage(error));
    }
  };
  const takeOver = async ({ id, seesImages, ...figures }: VendorModel): Promise<void> => {
    const { value } = setting;
    const before = Object.entries(typeof value === 'object' && value !== null ? value : {});
    // Values entered for another model do not hold for this one.
    const kept = id === entry.model ? before : before.filter(([field]) => !OF_THE_MODEL.has(field));
    const images = seesImages === undefined ? {} : { images: seesImages };
    const problems = await setting.save({ ...Object.fromEntries(kept), model: id, ...figures, ...images });
    setProblem(problems.join(' '));
    if (problems.length === 0) setLookup({ kind: 'none' });
  };

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
