import type { ReactNode } from 'react';
import { SettingRow } from '../components/Row';
import { Section } from '../components/Section';
import { getFieldTitle } from '../components/titles';
import { t } from '../l10n';
import { usePanel } from '../state/panel';
import { useSetting } from '../state/useSetting';
import { Checkbox } from '../ui';
import { SettingsOfPlace } from './OtherSettings';

export const ChatModelsSection = (): ReactNode => (
  <Section
    id="chat"
    title={t('Models in the chat')}
    summary={t('Condense VS Code’s own agent')}
    keywords={[t('agent mode copilot chat models')]}
  >
    <WrappedModelCheckboxes />
    <SettingsOfPlace place="chat" />
  </Section>
);

const WRAPPED_MODELS_SETTING = 'agent.wrappedModels';

function WrappedModelCheckboxes(): ReactNode {
  const { state, welcome } = usePanel();
  const setting = useSetting(WRAPPED_MODELS_SETTING);
  const title = getFieldTitle(WRAPPED_MODELS_SETTING, welcome.schemas[WRAPPED_MODELS_SETTING] ?? {});
  const chosenModels: readonly unknown[] = Array.isArray(setting.value) ? setting.value : [];
  const items = state.editorModels.flatMap(({ id, name, vendor, contextWindow }) =>
    contextWindow === undefined
      ? []
      : { name: `${vendor}/${id}`, label: t('{0} · {1} · {2} tokens', name, vendor, contextWindow) },
  );
  // A missing model may return, so it stays until the user deselects it.
  const missingItems = chosenModels
    .filter((name): name is string => typeof name === 'string' && !items.some((model) => model.name === name))
    .map((name) => ({ name, label: t('{0} · currently unavailable', name) }));
  const models = [...items, ...missingItems];
  const chooseModel = (name: string, isChosen: boolean): Promise<readonly string[]> => {
    const wantedModels = isChosen ? [...chosenModels, name] : chosenModels.filter((other) => other !== name);
    return setting.save(wantedModels.length === 0 ? undefined : wantedModels);
  };
  return (
    <SettingRow
      setting={setting}
      title={title}
      help={t(
        'The chat offers the selected models a second time, with “condensed” after their names. Choose one of those in the chat’s model picker. No key is needed.',
      )}
    >
      {models.length === 0 ? (
        <p className="row-help">
          {t('VS Code has no models yet. Sign in to Copilot, or install an extension that provides models.')}
        </p>
      ) : (
        <div className="choices" role="group" aria-label={title}>
          {models.map(({ name, label }) => (
            <Checkbox
              key={name}
              label={label}
              checked={chosenModels.includes(name)}
              onChange={(isChosen) => chooseModel(name, isChosen)}
            />
          ))}
        </div>
      )}
    </SettingRow>
  );
}
