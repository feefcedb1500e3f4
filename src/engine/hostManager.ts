import { createHostModelSelection, type HostModels } from '../background/hostModels';
import { CondensationManager, createProviders } from '../core/condense';
import type { Preset } from '../core/condense/providers/smart/presets';
import type { LoadOwnModel } from '../core/condense/summarizer';
import type { CondensationProvider } from '../core/condense/types';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { createRemoteProvider } from '../extensionApi/engineProvider';
import type { ProviderCallHandlers, ProviderDescription } from '../extensionApi/remoteProvider';
import { StoredSummaries } from '../storage/summaries';
import { isEqual } from '../core/isEqual';

export interface CondensationManagerSetup {
  readonly presets: readonly Preset[];
  /** Providers that other extensions registered. */
  readonly registered: readonly ProviderDescription[];
}

export interface HostManagerDependencies {
  readonly counter: MessageCounter;
  /** Folder that keeps the summaries from paid model calls. */
  readonly summaries: string;
  readonly models: HostModels;
  readonly providers: ProviderCallHandlers;
  /** Aborts model calls that are no longer needed. */
  readonly signal: AbortSignal;
  /** Returns the key by which the host knows the model of a conversation. */
  readonly nameOwn?: (own: LoadOwnModel | undefined) => string | undefined;
}

export class HostManager {
  readonly manager: CondensationManager;
  private presets: readonly Preset[] = [];
  private registered: readonly ProviderDescription[] = [];
  private otherProviders: readonly CondensationProvider[] = [];

  constructor(private readonly dependencies: HostManagerDependencies) {
    const { counter, summaries, models, signal, nameOwn } = dependencies;
    const providers = createProviders({
      ...createHostModelSelection(models, signal, nameOwn),
      presets: () => this.presets,
      memo: new StoredSummaries(summaries, { onError: models.warn }),
      others: () => this.otherProviders,
    });
    this.manager = new CondensationManager(counter, providers);
  }

  applySetup({ presets, registered }: CondensationManagerSetup): void {
    this.presets = presets;
    if (isEqual(registered, this.registered)) return;
    for (const { id } of this.registered) this.manager.unregisterProvider(id);
    this.registered = registered;
    this.otherProviders = registered.map((description) =>
      createRemoteProvider(description, this.dependencies.providers),
    );
    for (const provider of this.otherProviders) this.manager.registerProvider(provider);
  }
}
