import type { LiveConversation } from './liveConversation';
import type { LiveDependencies, LiveSettings } from './types';

export class UsableSettingsReader {
  private readonly missingProviders = new Set<string>();

  constructor(private readonly dependencies: LiveDependencies) {}

  /** Replaces a provider that does not exist by the default one and reports this once. */
  getSettings(conversation?: LiveConversation): LiveSettings {
    const { manager, emit } = this.dependencies;
    const configuredSettings = conversation?.isCareful
      ? makeCarefulSettings(this.dependencies.settings())
      : this.dependencies.settings();
    const settings = conversation?.canRecall === false ? makeStrictSettings(configuredSettings) : configuredSettings;
    const { provider } = settings;
    if (manager.listProviders().some(({ id }) => id === provider)) {
      this.missingProviders.delete(provider);
      // A side request is sent only once, so a summary by a model would cost more than it saves.
      return conversation?.about.isSideRequest === true && manager.mayCallModel(provider, settings.config)
        ? { ...settings, provider: 'truncation', config: settings.configs?.['truncation'] }
        : settings;
    }
    const { id, name } = manager.defaultProvider;
    if (!this.missingProviders.has(provider)) {
      this.missingProviders.add(provider);
      const message = `There is no provider "${provider}"; ${name} condenses until the extension that provides it has started.`;
      emit({ kind: 'problem', message });
    }
    return { ...settings, provider: id, config: undefined, whenNotEnough: 'nothing' };
  }
}

/** For an agent that can't recall: removes only duplicates, unless the user configured Lossless. */
const makeStrictSettings = (settings: LiveSettings): LiveSettings =>
  settings.provider === 'lossless' && settings.config === undefined
    ? { ...settings, config: { strictOnly: true } }
    : settings;

/**
 * For an agent that requested much removed content again: removes only duplicates while the request
 * fits.
 */
const makeCarefulSettings = (settings: LiveSettings): LiveSettings => ({
  ...settings,
  provider: 'lossless',
  config: settings.provider === 'lossless' ? settings.config : settings.configs?.['lossless'],
  whenNotEnough: 'nothing',
});
