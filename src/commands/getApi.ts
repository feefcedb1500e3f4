import type { Services } from '../window/services';
import type { ContextCondenserApi } from '../extensionApi/api';
import { createCondenserApi } from './condenserApi';

let createdApi: ContextCondenserApi | undefined;

/** @throws RangeError for an unknown version */
export function getApi(version: unknown, services: Services): ContextCondenserApi {
  if (version !== 1) {
    throw new RangeError(`Context Condenser has version 1 of its API, not ${String(version)}. Ask for getApi(1).`);
  }
  createdApi ??= createCondenserApi(services);
  return createdApi;
}
