import type { LiveParts } from './liveParts';
import type { LiveSettings } from './types';

/** The settings with a provider that is there. */
export class UsableSettings {
  /** Providers that were told to be missing. */
  private readonly missing = new Set<string>();

  constructor(private readonly parts: LiveParts) {}

  /** The settings as they are now. A provider that isn't there gives way to the default one, and that is told once. */
  now(): LiveSettings {
    const { manager, emit } = this.parts;
    const settings = this.parts.settings();
    const { provider } = settings;
    if (manager.listProviders().some(({ id }) => id === provider)) {
      this.missing.delete(provider);
      return settings;
    }
    const { id, name } = manager.defaultProvider;
    if (!this.missing.has(provider)) {
      this.missing.add(provider);
      const message = `There is no provider "${provider}"; ${name} condenses until the extension that brings it has started.`;
      emit({ kind: 'problem', message });
    }
    return { ...settings, provider: id, config: undefined };
  }
}
