/**
 * The engine's side of another extension's provider, which runs in the extension host: the engine
 * calls it there.
 */
import * as z from 'zod';
import type { CondensationProvider } from '../core/condense/types';
import type { Provider, ProviderEstimate, ProviderInput, ProviderResult } from './api';
import { createExternalProvider } from './externalProvider';
import type { ProviderCallHandlers, ProviderDescription } from './remoteProvider';

export function createRemoteProvider(
  { usesModel, estimates, configSchema, ...description }: ProviderDescription,
  calls: ProviderCallHandlers,
): CondensationProvider {
  const { id } = description;
  const provider: Provider = {
    ...description,
    condense: ({ countTokens: _count, onProgress, ...input }, signal) =>
      calls.condense(id, input, onProgress, signal) as Promise<ProviderResult>,
    ...(estimates && {
      estimate: ({ countTokens: _count, onProgress, ...input }: ProviderInput, signal: AbortSignal) =>
        calls.estimate(id, input, onProgress, signal) as Promise<ProviderEstimate>,
    }),
  };
  const zodSchema = z.fromJSONSchema(configSchema);
  return createExternalProvider({ provider, usesModel, configSchema, zodSchema });
}
