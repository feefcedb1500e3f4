/** Forms are built from package.json's schemas, with texts translated by VS Code. */
import type { ConfigSchema } from '../core/condense/types';
import { SETTING_NAMES, SETTINGS, type SettingName } from '../settings/table';
import { isUserOnlySetting } from '../settings/workspaceRules';
import type { SettingScope } from './protocol';

export interface ExtensionManifest {
  readonly contributes: {
    readonly configuration: readonly { readonly properties: Readonly<Record<string, ConfigSchema>> }[];
  };
}

export const mergeProperties = <Property>(
  groups: readonly { readonly properties: Readonly<Record<string, Property>> }[],
): Record<string, Property> => Object.fromEntries(groups.flatMap(({ properties }) => Object.entries(properties)));

/** VS Code's settings schemas don't support titles, so add them. */
export const createSettingSchemas = ({ contributes }: ExtensionManifest): Record<string, ConfigSchema> => {
  const properties = mergeProperties(contributes.configuration);
  return Object.fromEntries(
    SETTING_NAMES.map((name) => {
      const { title } = SETTINGS[name];
      const schema = properties[`contextCondenser.${name}`];
      return [name, { ...schema, ...(title !== undefined && { title }) }];
    }),
  );
};

/**
 * In a remote window VS Code reads a machine setting only from the remote machine; the user's own
 * file applies to local windows.
 */
export const isMachineSetting = (name: SettingName): boolean => SETTINGS[name].scope === 'machine';

/** Only the user can set machine and application settings. An untrusted workspace can't set any. */
export const listSettingScopes = (name: SettingName, isTrusted: boolean): SettingScope[] =>
  isUserOnlySetting(name) || !isTrusted ? ['user'] : ['user', 'workspace'];
