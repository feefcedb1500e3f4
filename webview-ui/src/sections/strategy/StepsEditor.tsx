import type { ReactNode } from 'react';
import { isEqual } from '../../../../src/core/isEqual';
import { isRecord } from '../../../../src/core/messages/blocks';
import { Disclosure } from '../../components/Disclosure';
import { ProblemsOfSetting } from '../../components/OwnProblems';
import { ProblemList } from '../../components/Problems';
import { SchemaForm } from '../../components/SchemaField';
import { getSchemaFields, resolveReference, type JsonSchema } from '../../components/schema';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useSetting } from '../../state/useSetting';
import { Button, Dropdown, IconButton } from '../../ui';
import { describeStepConditions, useGetStepName } from './Steps';

const STRATEGY_SETTING = 'strategy';

/** @param schema of the strategy */
export function StrategyStepsEditor({ schema }: { readonly schema: JsonSchema }): ReactNode {
  const setting = useSetting(STRATEGY_SETTING, ['steps']);
  const steps: readonly unknown[] = Array.isArray(setting.value) ? setting.value : [];
  const stepSchema = resolveReference(
    (resolveReference(getSchemaFields(schema)['steps'] ?? {}, schema)['items'] ?? {}) as JsonSchema,
    schema,
  );
  const moveStep = (oldIndex: number, newIndex: number): void => {
    const [moved] = steps.slice(oldIndex, oldIndex + 1);
    void setting.save(steps.toSpliced(oldIndex, 1).toSpliced(newIndex, 0, moved));
  };
  return (
    <>
      <ol className="items" data-setting={setting.id}>
        {steps.map((step, index) => (
          <StrategyStepEditor
            key={index}
            step={isRecord(step) ? step : {}}
            index={index}
            count={steps.length}
            schema={stepSchema}
            onMove={(to) => {
              moveStep(index, to);
            }}
            onRemove={() => void setting.save(steps.toSpliced(index, 1))}
          />
        ))}
      </ol>
      <p className="actions">
        <Button icon="add" onClick={() => void setting.save([...steps, { provider: 'truncation' }])}>
          {t('Add step')}
        </Button>
      </p>
      <ProblemsOfSetting name={STRATEGY_SETTING} fields={{ steps: true }} />
      <ProblemList problems={[...setting.problems, ...setting.refused]} />
    </>
  );
}

interface StrategyStepEditorProps {
  readonly step: Readonly<Record<string, unknown>>;
  readonly index: number;
  readonly count: number;
  readonly schema: JsonSchema;
  readonly onMove: (to: number) => void;
  readonly onRemove: () => void;
}

function StrategyStepEditor({ step, index, count, schema, onMove, onRemove }: StrategyStepEditorProps): ReactNode {
  const { state, welcome } = usePanel();
  const setting = useSetting(STRATEGY_SETTING, ['steps', index]);
  const getName = useGetStepName();
  const { provider, preset, ...otherFields } = step;
  const name = getName(step);
  const choices = [
    ...welcome.providers
      // A strategy can't contain itself.
      .filter(({ id }) => id !== STRATEGY_SETTING)
      .map(({ id }) => ({ provider: id })),
    ...state.presets.map(({ id }) => ({ preset: id })),
  ];
  const ownChoice = preset === undefined ? { provider } : { preset };
  const allChoices = choices.some((choice) => isEqual(choice, ownChoice)) ? choices : [ownChoice, ...choices];
  const { when, after, affordable, ends } = getSchemaFields(schema);
  const fields = Object.fromEntries(
    Object.entries({ when, after, affordable, ends }).filter(
      (field): field is [string, JsonSchema] => field[1] !== undefined,
    ),
  );
  return (
    <li className="item">
      <div className="item-line">
        <span className="pass-number">{t('{0}', index + 1)}</span>
        <Dropdown
          label={t('Step {0} runs', index + 1)}
          value={JSON.stringify(ownChoice)}
          choices={allChoices.map((choice) => ({ value: JSON.stringify(choice), label: getName(choice) }))}
          // Another provider needs another configuration, so the step's configuration is dropped.
          onChange={(chosen) => {
            const { config: _config, ...kept } = otherFields;
            return setting.save({ ...(JSON.parse(chosen) as object), ...kept });
          }}
        />
        <span className="badges">
          {describeStepConditions(step).map((condition) => (
            <span key={condition} className="tag">
              {condition}
            </span>
          ))}
        </span>
        <IconButton
          icon="arrow-up"
          label={t('Move {0} up', name)}
          disabled={index === 0}
          onClick={() => {
            onMove(index - 1);
          }}
        />
        <IconButton
          icon="arrow-down"
          label={t('Move {0} down', name)}
          disabled={index === count - 1}
          onClick={() => {
            onMove(index + 1);
          }}
        />
        <IconButton icon="trash" label={t('Delete {0}', name)} disabled={count === 1} onClick={onRemove} />
      </div>
      <Disclosure title={t('Conditions of step {0}', index + 1)}>
        <SchemaForm name={STRATEGY_SETTING} path={['steps', index]} fields={fields} required={[]} />
      </Disclosure>
      <ProblemList problems={setting.refused} />
    </li>
  );
}
