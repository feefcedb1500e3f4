/** Creates the manager of this window. */
import { CondensationManager, createProviders } from '../core/condense';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { summariesOf } from './background';
import { counterOf } from './counter';
import { metricsOf } from './metrics';
import { modelsOfWindow } from './models';
import type { Services } from './services';
import { ownPresets } from './settings/providerConfig';

export interface Engine {
  readonly counter: MessageCounter;
  /** Knows the providers of other extensions too. */
  readonly manager: CondensationManager;
}

const engines = new WeakMap<Services, Promise<Engine>>();

/** One manager for the window, so that a conversation's cool-down holds whoever condenses it. */
export function engineOf(services: Services): Promise<Engine> {
  const known = engines.get(services);
  if (known) return known;
  const loading = loadEngine(services);
  engines.set(services, loading);
  // After a failure the next caller loads it again.
  loading.catch(() => engines.delete(services));
  return loading;
}

async function loadEngine(services: Services): Promise<Engine> {
  const counter = await counterOf(services);
  const providers = createProviders({
    ...modelsOfWindow(services, counter, metricsOf(services)),
    presets: ownPresets,
    memo: summariesOf(services),
    others: () => services.registered.list(),
  });
  const manager = new CondensationManager(counter, providers);
  services.registered.attach(manager);
  return { counter, manager };
}
