import type { ReactNode } from 'react';
import type { SettingScope } from '../../../src/panel/protocol';
import { t } from '../l10n';
import { usePanel } from '../state/panel';

export function ScopeSwitch(): ReactNode {
  const { state, scope, changeView } = usePanel();
  const renderScopeButton = (value: SettingScope, text: string): ReactNode => (
    <label className="scope">
      <input
        type="radio"
        name="scope"
        checked={scope === value}
        onChange={() => {
          changeView({ scope: value });
        }}
      />
      <span>{text}</span>
    </label>
  );
  if (state.workspace === undefined) return null;
  return (
    <fieldset className="scopes">
      <legend className="visually-hidden">{t('Settings scope')}</legend>
      {renderScopeButton('user', t('User'))}
      {renderScopeButton('workspace', t('Workspace'))}
    </fieldset>
  );
}
