import { join } from 'node:path';
import type { TaskProgress } from '../background/tasks';
import type { CondensedResult, NotCondensedResult } from '../background/taskResults';
import { parseInWorker } from '../conversations/parseInWorker';
import { engineOf } from '../window/engine';
import type { ModelSettings } from '../window/settings/modelSettings';
import { condenseHere } from './native';
import type { Services } from '../window/services';
import type { ManualSettings } from '../window/settings/manualSettings';

/**
 * Condenses a file in this thread: what asks models needs the keys, and providers of other extensions live here.
 * @throws the signal's reason where it was aborted; UnknownProviderError
 */
export async function condenseInHost(
  services: Services,
  path: string,
  settings: ManualSettings,
  config: unknown,
  models: ModelSettings,
  signal: AbortSignal,
  onProgress: (progress: TaskProgress) => void,
): Promise<CondensedResult | NotCondensedResult> {
  const { counter, manager } = await engineOf(services);
  // Before the file is read: the extension that brings the provider may not be there.
  manager.getProvider(settings.provider);
  onProgress({ step: 'Reading the conversation' });
  const workerPath = join(services.context.extensionPath, 'dist', 'readerWorker.cjs');
  const conversation = await parseInWorker(path, { workerPath, signal, history: settings.history });
  const here = { conversation, manager, counter };
  return condenseHere(services, here, path, settings, config, { models, signal, onProgress });
}
