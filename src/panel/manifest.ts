/** The settings as the panel's forms are made from them: their schemas in package.json, whose texts VS Code has put into the user's language. */
import type { ConfigSchema } from '../core/condense/types';
import { SETTING_NAMES, SETTINGS, type SettingName } from '../settings/table';
import { isOfUserAlone } from '../settings/workspaceRules';
import type { SettingScope } from './protocol';

/** The parts of package.json that are read. */
export interface Manifest {
  readonly contributes: {
    readonly configuration: readonly { readonly properties: Readonly<Record<string, ConfigSchema>> }[];
  };
}

/** The schemas of all groups of settings, by full name. */
export const settingProperties = <Property>(
  groups: readonly { readonly properties: Readonly<Record<string, Property>> }[],
): Record<string, Property> => Object.fromEntries(groups.flatMap(({ properties }) => Object.entries(properties)));

/** The settings' schemas by name, in the table's order, with the titles that VS Code has no place for. */
export const settingSchemas = ({ contributes }: Manifest): Record<string, ConfigSchema> => {
  const properties = settingProperties(contributes.configuration);
  return Object.fromEntries(
    SETTING_NAMES.map((name) => {
      const { title } = SETTINGS[name];
      return [name, { ...properties[`contextCondenser.${name}`], ...(title !== undefined && { title }) }];
    }),
  );
};

/**
 * Whether a setting belongs to one machine. A workspace can't set it, and in a window on a remote machine VS Code reads it
 * from that machine's settings alone: what the user's own file says of it counts in local windows.
 */
export const isOfMachine = (name: SettingName): boolean => SETTINGS[name].scope === 'machine';

/** Where a setting may be set: of the machine or the application, and in a workspace that is not trusted, by the user alone. */
export const scopesOf = (name: SettingName, isTrusted: boolean): SettingScope[] =>
  isOfUserAlone(name) || !isTrusted ? ['user'] : ['user', 'workspace'];
