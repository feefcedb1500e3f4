/** Smart and strategies in this window. What may ask a model runs here, where the keys are; else in the worker. */
import { join } from 'node:path';
import { parseInWorker } from '../conversations/parseInWorker';
import {
  CondensationManager,
  losslessProvider,
  smartProvider,
  strategyProvider,
  truncationProvider,
  type CondensationProvider,
} from '../core/condense';
import { asksModels } from '../core/condense/providers/smart/asksModels';
import type { SmartConfig } from '../core/condense/providers/smart/config';
import type { MessageCounter } from '../core/tokens/messageCounter';
import type { CondensedResult, NotCondensedResult, TaskProgress } from '../background/tasks';
import type { ModelSettings } from './modelSettings';
import { condenseHere, counterOf, metricsOf, nativeOfWindow } from './native';
import { ownPresets } from './providerConfig';
import type { Services } from './services';
import type { ManualSettings } from './settings';
import { modelsOfWindow } from './windowModels';

/** Smart with the profiles that the user has set up. */
export const smartOfWindow = (services: Services, counter: MessageCounter): CondensationProvider<SmartConfig> =>
  smartProvider(modelsOfWindow(services, counter, metricsOf(services)));

/** Whether a configuration of the settings may call a model; what is wrong with it counts as the default, which calls none. */
export function mayAskModels(config: unknown): boolean {
  const checked = smartProvider().validateConfig(config);
  return checked.valid && asksModels(checked.config);
}

/** Condenses a file with passes or a strategy that may ask models. @throws the signal's reason where it was aborted */
export async function condenseSmart(
  services: Services,
  path: string,
  settings: ManualSettings,
  config: unknown,
  models: ModelSettings,
  signal: AbortSignal,
  tell: (progress: TaskProgress) => void,
): Promise<CondensedResult | NotCondensedResult> {
  tell({ step: 'Reading the conversation' });
  const workerPath = join(services.context.extensionPath, 'dist', 'readerWorker.cjs');
  const conversation = await parseInWorker(path, { workerPath, signal, history: settings.history });
  const counter = await counterOf(services);
  const smart = smartOfWindow(services, counter);
  const providers = [losslessProvider, truncationProvider, nativeOfWindow(services, counter), smart] as const;
  const strategy = strategyProvider({ providers, presets: ownPresets });
  const manager = new CondensationManager(counter, [...providers, strategy]);
  const here = { conversation, manager, counter, metrics: metricsOf(services) };
  return condenseHere(services, here, path, settings, config, { models, signal, tell });
}
