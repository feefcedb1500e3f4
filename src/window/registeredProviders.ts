import type { ExternalProvider } from '../extensionApi/externalProvider';
import {
  createProviderCallHandlers,
  describeProvider,
  type ProviderCallHandlers,
  type ProviderDescription,
} from '../extensionApi/remoteProvider';

/** Providers that other extensions registered in this window. The engine calls them. */
export class RegisteredProviders {
  private readonly providers = new Map<string, ExternalProvider>();
  private readonly listeners = new Set<() => void>();

  /**
   * @returns a function that unregisters the provider
   * @throws Error if the ID is taken
   */
  addProvider(provider: ExternalProvider): () => void {
    const { id } = provider;
    if (this.providers.has(id)) throw new Error(`A provider "${id}" is already registered.`);
    this.providers.set(id, provider);
    this.notifyListeners();
    return () => {
      if (this.providers.get(id) !== provider) return;
      this.providers.delete(id);
      this.notifyListeners();
    };
  }

  /** @returns a function that unsubscribes */
  onDidChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private notifyListeners(): void {
    for (const listener of this.listeners) listener();
  }

  describeProviders(): ProviderDescription[] {
    return this.listProviders().map(({ parsed }) => describeProvider(parsed));
  }

  createCalls(counter: Parameters<typeof createProviderCallHandlers>[1]): ProviderCallHandlers {
    return createProviderCallHandlers((id) => this.providers.get(id)?.parsed.provider, counter);
  }

  listProviders(): readonly ExternalProvider[] {
    return [...this.providers.values()];
  }
}
