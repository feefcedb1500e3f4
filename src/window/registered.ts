import type { ExternalProvider } from '../extensionApi/externalProvider';
import {
  callProviders,
  describeProvider,
  type ProviderCalls,
  type ProviderDescription,
} from '../extensionApi/remoteProvider';

/** The providers that other extensions registered in this window; the engine calls them back here. */
export class RegisteredProviders {
  private readonly providers = new Map<string, ExternalProvider>();
  private readonly listeners = new Set<() => void>();

  /**
   * @returns what takes the provider out again.
   * @throws Error where the id is taken.
   */
  add(provider: ExternalProvider): () => void {
    const { id } = provider;
    if (this.providers.has(id)) throw new Error(`A provider "${id}" is already registered.`);
    this.providers.set(id, provider);
    this.notify();
    return () => {
      if (this.providers.get(id) !== provider) return;
      this.providers.delete(id);
      this.notify();
    };
  }

  /** Tells of each change. @returns what ends it. */
  onDidChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  /** As data, for the engine. */
  describe(): ProviderDescription[] {
    return this.list().map(({ parsed }) => describeProvider(parsed));
  }

  /** For the engine to call. @param counter loads what counts o200k tokens of a text */
  calls(counter: Parameters<typeof callProviders>[1]): ProviderCalls {
    return callProviders((id) => this.providers.get(id)?.parsed.provider, counter);
  }

  list(): readonly ExternalProvider[] {
    return [...this.providers.values()];
  }
}
