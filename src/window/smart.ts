/** Smart in this window. */
import { smartProvider, type CondensationProvider } from '../core/condense';
import { asksModel } from '../core/condense/checkedConfig';
import type { SmartConfig } from '../core/condense/providers/smart/config';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { metricsOf } from '../commands/native';
import { summariesOf } from './background';
import type { Services } from './services';
import { modelsOfWindow } from './models';

/** Smart with the profiles that the user has set up. */
export const smartOfWindow = (services: Services, counter: MessageCounter): CondensationProvider<SmartConfig> =>
  smartProvider({ ...modelsOfWindow(services, counter, metricsOf(services)), memo: summariesOf(services) });

/** Whether a configuration of the settings may call a model; what is wrong with it counts as the default, which calls none. */
export const mayAskModels = (config: unknown): boolean => asksModel(smartProvider(), config);
