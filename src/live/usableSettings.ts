import type { LiveConversation } from './liveConversation';
import type { LiveParts, LiveSettings } from './types';

/** The settings with a provider that is there. */
export class UsableSettings {
  /** Providers that were told to be missing. */
  private readonly missing = new Set<string>();

  constructor(private readonly parts: LiveParts) {}

  /**
   * The settings as they are now. A provider that isn't there gives way to the default one, and that is told once.
   * @param conversation for which nothing but Lossless runs where its agent asked for too much again.
   */
  now(conversation?: LiveConversation): LiveSettings {
    const { manager, emit } = this.parts;
    const given = conversation?.isCareful ? carefully(this.parts.settings()) : this.parts.settings();
    const settings = conversation?.canRecall === false ? strictly(given) : given;
    const { provider } = settings;
    if (manager.listProviders().some(({ id }) => id === provider)) {
      this.missing.delete(provider);
      // A request beside a task is asked once: no summary of it is worth its price.
      return conversation?.about.isAside === true && manager.asksModel(provider, settings.config)
        ? { ...settings, provider: 'truncation', config: settings.configs?.['truncation'] }
        : settings;
    }
    const { id, name } = manager.defaultProvider;
    if (!this.missing.has(provider)) {
      this.missing.add(provider);
      const message = `There is no provider "${provider}"; ${name} condenses until the extension that provides it has started.`;
      emit({ kind: 'problem', message });
    }
    return { ...settings, provider: id, config: undefined, whenNotEnough: 'nothing' };
  }
}

/** Unless a person said otherwise, an agent that can't recall loses only what stands elsewhere in its view. */
const strictly = (settings: LiveSettings): LiveSettings =>
  settings.provider === 'lossless' && settings.config === undefined
    ? { ...settings, config: { strictOnly: true } }
    : settings;

/** Takes out what stands elsewhere, and nothing else as long as the request fits. */
const carefully = (settings: LiveSettings): LiveSettings => ({
  ...settings,
  provider: 'lossless',
  config: settings.provider === 'lossless' ? settings.config : settings.configs?.['lossless'],
  whenNotEnough: 'nothing',
});
