/** What package.json says about the settings: the one description of them, for VS Code and for the panel. */
import type { ConfigSchema } from '../core/condense/types';
import type { SettingScope } from './protocol';

const PREFIX = 'contextCondenser.';

/** What is read of package.json. VS Code has put the texts of the user's language in already. */
export interface Manifest {
  readonly contributes: { readonly configuration: ConfigurationPart | readonly ConfigurationPart[] };
}

interface ConfigurationPart {
  readonly properties: Readonly<Record<string, ConfigSchema>>;
}

/** The settings' schemas by name without the prefix, in the order that package.json gives them. */
export function settingSchemas({ contributes: { configuration } }: Manifest): Record<string, ConfigSchema> {
  const schemas = [configuration].flat().flatMap(({ properties }) => Object.entries(properties));
  return Object.fromEntries(
    schemas.flatMap(([name, schema]) => (name.startsWith(PREFIX) ? [[name.slice(PREFIX.length), schema]] : [])),
  );
}

/**
 * Whether a setting belongs to one machine. A workspace can't set it, and in a window on a remote machine VS Code reads it
 * from that machine's settings alone: what the user's own file says of it counts in local windows.
 */
export const isOfMachine = (schema: ConfigSchema): boolean => schema['scope'] === 'machine';

/** Where a setting may be set: of the machine or the application, by the user alone. */
export const scopesOf = (schema: ConfigSchema): SettingScope[] =>
  isOfMachine(schema) || schema['scope'] === 'application' ? ['user'] : ['user', 'workspace'];
