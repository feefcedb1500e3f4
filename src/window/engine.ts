import { CondensationManager, losslessProvider, strategyProvider, truncationProvider } from '../core/condense';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { counterOf, nativeOfWindow } from '../commands/native';
import { ownPresets } from './settings/providerConfig';
import { smartOfWindow } from './smart';
import type { Services } from './services';

/** What condenses in this window. */
export interface Engine {
  readonly counter: MessageCounter;
  /** Knows the providers of other extensions too. */
  readonly manager: CondensationManager;
}

const engines = new WeakMap<Services, Promise<Engine>>();

/** One manager for this window, so that a conversation that cools down does so for everybody. */
export function engineOf(services: Services): Promise<Engine> {
  const known = engines.get(services);
  if (known) return known;
  const loading = counterOf(services).then((counter) => {
    const native = nativeOfWindow(services, counter);
    const smart = smartOfWindow(services, counter);
    const providers = [losslessProvider, truncationProvider, native, smart] as const;
    const strategy = strategyProvider({ providers, presets: ownPresets });
    const manager = new CondensationManager(counter, [...providers, strategy]);
    services.registered.attach(manager);
    return { counter, manager };
  });
  engines.set(services, loading);
  // A failed load is tried anew.
  loading.catch(() => engines.delete(services));
  return loading;
}
