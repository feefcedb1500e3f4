/** A provider of another extension in the engine's thread: its own code is called back in the extension host. */
import * as z from 'zod';
import type { CondensationProvider } from '../core/condense/types';
import type { Progress, Provider, ProviderEstimate, ProviderInput, ProviderResult } from './api';
import { externalProvider } from './externalProvider';
import type { ParsedProvider } from './parse';

/** A provider as data. */
export interface ProviderDescription {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly usesModel: boolean;
  /** Whether it has an estimate of its own. */
  readonly estimates: boolean;
  /** JSON Schema. */
  readonly configSchema: Readonly<Record<string, unknown>>;
}

export function describeProvider({ provider, usesModel, configSchema }: ParsedProvider): ProviderDescription {
  const { id, name, description, version } = provider;
  // What another extension hands over may hold what can't be cloned.
  const schema = JSON.parse(JSON.stringify(configSchema)) as ParsedProvider['configSchema'];
  return { id, name, description, version, usesModel, estimates: !!provider.estimate, configSchema: schema };
}

/** What a provider gets, without its functions. */
export type SentInput = Omit<ProviderInput, 'countTokens' | 'onProgress'>;

/** Calls to the providers in the host. What they answer is checked by whoever asked. */
export interface ProviderCalls {
  readonly condense: (
    id: string,
    input: SentInput,
    onProgress: (progress: Progress) => void,
    signal: AbortSignal,
  ) => Promise<unknown>;
  readonly estimate: (
    id: string,
    input: SentInput,
    onProgress: (progress: Progress) => void,
    signal: AbortSignal,
  ) => Promise<unknown>;
}

/** The provider that a description names, as one of ours. */
export function remoteProvider(
  { usesModel, estimates, configSchema, ...about }: ProviderDescription,
  calls: ProviderCalls,
): CondensationProvider {
  const { id } = about;
  const provider: Provider = {
    ...about,
    // What it answers is parsed as any answer of another extension is.
    condense: ({ countTokens: _count, onProgress, ...input }, signal) =>
      calls.condense(id, input, onProgress, signal) as Promise<ProviderResult>,
    ...(estimates && {
      estimate: ({ countTokens: _count, onProgress, ...input }: ProviderInput, signal: AbortSignal) =>
        calls.estimate(id, input, onProgress, signal) as Promise<ProviderEstimate>,
    }),
  };
  const zodSchema = z.fromJSONSchema(configSchema);
  return externalProvider({ provider, usesModel, configSchema, zodSchema });
}

/**
 * Calls the providers that are registered in this host.
 * @param counter loads what counts o200k tokens of a text.
 */
export function callProviders(
  find: (id: string) => Provider | undefined,
  counter: () => Promise<{ text(text: string): number }>,
): ProviderCalls {
  const found = (id: string): Provider => {
    const provider = find(id);
    if (!provider) throw new Error(`The provider "${id}" is no longer registered.`);
    return provider;
  };
  const whole = async (input: SentInput, onProgress: (progress: Progress) => void): Promise<ProviderInput> => {
    const counting = await counter();
    return { ...input, countTokens: (text) => counting.text(text), onProgress };
  };
  return {
    condense: async (id, input, onProgress, signal) => found(id).condense(await whole(input, onProgress), signal),
    estimate: async (id, input, onProgress, signal) => found(id).estimate?.(await whole(input, onProgress), signal),
  };
}
