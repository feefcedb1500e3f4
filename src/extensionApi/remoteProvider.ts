/**
 * Splits another extension's provider: its data is in the engine, its callbacks are in the
 * extension host. Loaded at activation, so without validation.
 */
import type { Progress, Provider, ProviderInput } from './api';
import type { ParsedProvider } from './parse';

export interface ProviderDescription {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly usesModel: boolean;
  /** True if the provider implements `estimate`. */
  readonly estimates: boolean;
  readonly configSchema: Readonly<Record<string, unknown>>;
}

export function describeProvider({ provider, usesModel, configSchema }: ParsedProvider): ProviderDescription {
  const { id, name, description, version } = provider;
  // Another extension's object may not be cloneable.
  const schema = JSON.parse(JSON.stringify(configSchema)) as ParsedProvider['configSchema'];
  return { id, name, description, version, usesModel, estimates: !!provider.estimate, configSchema: schema };
}

export type SerializableProviderInput = Omit<ProviderInput, 'countTokens' | 'onProgress'>;

/** Calls a provider's functions in the extension host. Callers validate the answers. */
export interface ProviderCallHandlers {
  readonly condense: (
    id: string,
    input: SerializableProviderInput,
    onProgress: (progress: Progress) => void,
    signal: AbortSignal,
  ) => Promise<unknown>;
  readonly estimate: (
    id: string,
    input: SerializableProviderInput,
    onProgress: (progress: Progress) => void,
    signal: AbortSignal,
  ) => Promise<unknown>;
}

/** @param counter loads the counter of o200k tokens */
export function createProviderCallHandlers(
  findProvider: (id: string) => Provider | undefined,
  counter: () => Promise<{ countText(text: string): number }>,
): ProviderCallHandlers {
  const getProvider = (id: string): Provider => {
    const provider = findProvider(id);
    if (!provider) throw new Error(`The provider "${id}" is no longer registered.`);
    return provider;
  };
  const restoreInput = async (
    input: SerializableProviderInput,
    onProgress: (progress: Progress) => void,
  ): Promise<ProviderInput> => {
    const textCounter = await counter();
    return { ...input, countTokens: (text) => textCounter.countText(text), onProgress };
  };
  return {
    condense: async (id, input, onProgress, signal) =>
      getProvider(id).condense(await restoreInput(input, onProgress), signal),
    estimate: async (id, input, onProgress, signal) =>
      getProvider(id).estimate?.(await restoreInput(input, onProgress), signal),
  };
}
