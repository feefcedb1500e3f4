/** A provider's configuration as it came from outside, checked. */
import { mayAskModel, type CondensationProvider } from './types';

/**
 * The checked configuration; a wrong one gives the defaults and a note that names the field.
 * @throws Error where the provider refuses its own defaults
 */
export function checkedConfig(provider: CondensationProvider, config: unknown): { config: unknown; notes: string[] } {
  const result = provider.validateConfig(config);
  if (result.valid) return { config: result.config, notes: [] };
  const defaults = provider.validateConfig(undefined);
  if (!defaults.valid) throw new Error(`${provider.name} has no valid defaults.`);
  const problems = result.problems.map(({ path, message }) => `${path || 'configuration'}: ${message}`);
  return { config: defaults.config, notes: [`The defaults of ${provider.name} were used. ${problems.join('; ')}`] };
}

/** Whether a condensation by a provider may call a model. @param config as it came from outside */
export const asksModel = (provider: CondensationProvider, config: unknown): boolean =>
  mayAskModel(provider, checkedConfig(provider, config).config);
