import type { CondensationManager } from '../core/condense';
import type { ExternalProvider } from '../extensionApi/externalProvider';

/** The providers that other extensions registered in this window. Every manager that is attached knows them. */
export class RegisteredProviders {
  private readonly providers = new Map<string, ExternalProvider>();
  private readonly managers = new Set<CondensationManager>();
  private readonly listeners = new Set<() => void>();

  /**
   * @returns what takes the provider out again.
   * @throws Error where the id is taken.
   */
  add(provider: ExternalProvider): () => void {
    const { id } = provider;
    if (this.providers.has(id)) throw new Error(`A provider "${id}" is already registered.`);
    this.providers.set(id, provider);
    for (const manager of this.managers) manager.registerProvider(provider);
    this.notify();
    return () => {
      if (this.providers.get(id) !== provider) return;
      this.providers.delete(id);
      for (const manager of this.managers) manager.unregisterProvider(id);
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

  list(): readonly ExternalProvider[] {
    return [...this.providers.values()];
  }

  /** From now on the manager has what is registered, and what will be. */
  attach(manager: CondensationManager): void {
    for (const provider of this.providers.values()) manager.registerProvider(provider);
    this.managers.add(manager);
  }
}
