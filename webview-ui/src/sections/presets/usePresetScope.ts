import type { SettingScope } from '../../../../src/panel/protocol';
import { usePanel } from '../../state/panel';
import { isEqual } from '../../../../src/core/isEqual';

/**
 * Returns where presets take effect and are saved. VS Code does not merge lists: a first preset in
 * a workspace would hide all of the user's own.
 */
export function usePresetScope(): SettingScope {
  const { user = [], workspace, value = [], scopes = [] } = usePanel().state.settings['presets'] ?? {};
  if (workspace === undefined || !scopes.includes('workspace')) return 'user';
  // A workspace's list that the user has not allowed has no effect.
  const isOverruled = isEqual(value, user) && !isEqual(workspace, user);
  return isOverruled ? 'user' : 'workspace';
}
