import { createProviders, type CondensationProvider } from '../../core/condense';
import type { Preset } from '../../core/condense/providers/smart/presets';
import { NoSummarizerError } from '../../core/condense/summarizer';
import type { ConfigProblem } from '../../core/condense/types';
import { isRecord } from '../../core/messages/blocks';
import { SETTINGS, type SettingName } from '../../settings/table';

/**
 * Creates providers for their metadata and validation only; these never condense.
 * @param presets returns the user's own presets
 */
export const createBuiltInProviders = (presets: () => readonly Preset[]): readonly CondensationProvider[] =>
  createProviders({ presets, select: () => Promise.reject(new NoSummarizerError()) });

export class SettingRules {
  /**
   * @param registered returns other extensions' providers, which the setting `providers` configures
   */
  constructor(
    private readonly providers: readonly CondensationProvider[],
    private readonly registered: () => readonly CondensationProvider[] = () => [],
  ) {}

  /** Returns problems with their paths within the setting. An absent value has none. */
  findProblems(name: SettingName, value: unknown): readonly ConfigProblem[] {
    if (value === undefined) return [];
    // A provider knows more than the table, such as the names of the user's presets.
    const provider = this.providers.find(({ id }) => id === name);
    if (provider) return findConfigProblems(provider, value);
    const { problems } = SETTINGS[name].parse(value);
    if (problems.length > 0) return problems;
    if (name === 'provider') return this.findUnknownProvider(value);
    if (name === 'providers') return this.findRegisteredProblems(value);
    return [];
  }

  describeConsequence(name: SettingName, value: unknown): string {
    const { default: standard, instead = `${JSON.stringify(standard)} is used.` } = SETTINGS[name];
    const provider = this.providers.find(({ id }) => id === name);
    const result = provider?.validateConfig(value);
    if (result?.valid !== false || !result.rest) return instead;
    return (name === 'smart' ? SETTINGS.presets.instead : undefined) ?? 'Its default is used.';
  }

  /**
   * Returns fields that the provider doesn't know. Unlike problems, they don't make the value
   * invalid.
   */
  findUnknownFields(name: SettingName, value: unknown): readonly ConfigProblem[] {
    if (value === undefined || this.findProblems(name, value).length > 0) return [];
    if (name === 'presets') return this.findUnknownFieldsInPresets(value);
    if (name === 'providers') {
      return this.registered().flatMap((provider) =>
        findUnknownConfigFields(provider, getConfigOfProvider(value, provider)).map((problem) =>
          addPathPrefix([provider.id], problem),
        ),
      );
    }
    const provider = this.providers.find(({ id }) => id === name);
    return provider ? findUnknownConfigFields(provider, value) : [];
  }

  private findUnknownFieldsInPresets(value: unknown): readonly ConfigProblem[] {
    const smart = this.providers.find(({ id }) => id === 'smart');
    if (!smart || !Array.isArray(value)) return [];
    return value.flatMap((preset: unknown, index) =>
      isRecord(preset)
        ? findUnknownConfigFields(smart, preset['config']).map((problem) =>
            addPathPrefix([`${index}`, 'config'], problem),
          )
        : [],
    );
  }

  private findUnknownProvider(value: unknown): readonly ConfigProblem[] {
    const knownProviders = [...this.providers, ...this.registered()];
    if (knownProviders.some(({ id }) => id === value)) return [];
    // Also show each provider's display name, which the panel and messages use.
    const providerList = knownProviders
      .map(({ id, name }) => (name.toLowerCase() === id ? id : `${id} (${name})`))
      .join(', ');
    return [{ path: '', message: `there is no provider ${JSON.stringify(value)}; known providers: ${providerList}` }];
  }

  private findRegisteredProblems(value: unknown): readonly ConfigProblem[] {
    return this.registered().flatMap((provider) =>
      findConfigProblems(provider, getConfigOfProvider(value, provider)).map((problem) =>
        addPathPrefix([provider.id], problem),
      ),
    );
  }

  /**
   * Returns the part of a value that its provider uses. For `providers`, returns the parts by
   * provider ID; for settings without a provider, undefined.
   */
  getEffectiveValue(name: SettingName, value: unknown): unknown {
    if (name === 'providers') {
      return Object.fromEntries(
        this.registered().map((provider) => [
          provider.id,
          getEffectiveConfig(provider, getConfigOfProvider(value, provider)),
        ]),
      );
    }
    const provider = this.providers.find(({ id }) => id === name);
    return provider && getEffectiveConfig(provider, value);
  }
}

function findConfigProblems(provider: CondensationProvider, config: unknown): readonly ConfigProblem[] {
  const result = provider.validateConfig(config);
  return result.valid ? [] : [...result.problems, ...(result.rest?.leftOut ?? [])];
}

function findUnknownConfigFields(provider: CondensationProvider, config: unknown): readonly ConfigProblem[] {
  const result = provider.validateConfig(config);
  return result.valid ? (result.warnings ?? []) : [];
}

const addPathPrefix = (parents: readonly string[], { path, message }: ConfigProblem): ConfigProblem => ({
  path: [...parents, path].filter((part) => part !== '').join('.'),
  message,
});

const getConfigOfProvider = (value: unknown, { id }: CondensationProvider): unknown =>
  isRecord(value) && Object.hasOwn(value, id) ? value[id] : undefined;

function getEffectiveConfig(provider: CondensationProvider, value: unknown): unknown {
  const result = provider.validateConfig(value);
  if (result.valid) return result.config;
  if (result.rest) return result.rest.config;
  const defaults = provider.validateConfig(undefined);
  return defaults.valid ? defaults.config : undefined;
}
