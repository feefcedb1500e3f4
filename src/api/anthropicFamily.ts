import type { Anthropic } from '@anthropic-ai/sdk';
import { ANTHROPIC_QUIRKS, findAnthropicDialect, listBetas } from './anthropicDialect';
import { buildAnthropicBody } from './anthropicMessages';
import { convertAnthropicStream } from './anthropicStream';
import { streamWithRetries, type CallAttempt } from './call';
import { toApiError } from './classifyError';
import { findModelFamily } from '../core/vendors/families';
import type { HandlerOptions } from './handlerOptions';
import { LearnedQuirks } from './quirks';
import { createUsageCounter } from './usageCounter';
import type { ApiHandler, ModelInfo, Vendor } from './types';

export interface AnthropicMessagesClient {
  readonly messages: {
    create(
      body: Anthropic.MessageCreateParamsStreaming,
      options: { signal: AbortSignal; headers?: Record<string, string> },
    ): PromiseLike<AsyncIterable<Anthropic.RawMessageStreamEvent>>;
  };
}

export interface AnthropicFamilyOptions extends HandlerOptions {
  readonly name: string;
  readonly vendor: Vendor;
  readonly secrets: readonly string[];
  readonly connect: (attempt: CallAttempt) => Promise<AnthropicMessagesClient>;
}

export const makeClientOptions = ({ fetch, sdkTimeoutMs }: CallAttempt) => ({
  fetch,
  timeout: sdkTimeoutMs,
  maxRetries: 0,
  logLevel: 'off' as const,
});

/** Calls throw ApiError or the signal's reason. */
export function createAnthropicFamilyHandler(options: AnthropicFamilyOptions): ApiHandler {
  const { model, vendor, connect, name, secrets } = options;
  // AWS signs the body's bytes, so `Attempt.frame` cannot be used.
  const signsBodies = vendor === 'bedrock';
  const countUsage = createUsageCounter(options.counter, model.id, 'anthropic');
  const modelInfo: ModelInfo = { ...model, vendor, accounting: 'anthropic' };
  const learnedQuirks = new LearnedQuirks(findAnthropicDialect(model.id), ANTHROPIC_QUIRKS, (raw) =>
    toApiError(raw, { name, secrets, now: 0 }),
  );
  return {
    modelInfo,
    // Bedrock has no compaction (guide "Compaction that keeps recent turns").
    ...(vendor !== 'bedrock' && findModelFamily(model.id)?.compacts === true && { compacts: true }),
    stream: (request, signal) =>
      streamWithRetries({
        ...options,
        // The vendor sends nothing of a summary until it is complete.
        ...(request.compact && { timeouts: { firstByteMs: SUMMARY_TIMEOUT_MS, ...options.timeouts } }),
        signal,
        countUsage: (output) => countUsage(request, output),
        async *attempt(attempt) {
          const client = await connect(attempt);
          const events = await learnedQuirks.askWithLearnedDialect((dialect) => {
            const body = { ...buildAnthropicBody(request, model, dialect), stream: true };
            const headers = makeBetaHeaders(listBetas(dialect, 'thinking' in body, request.compact));
            const sentBody = signsBodies ? body : attempt.insertPlaceholders(body);
            return client.messages.create(sentBody as unknown as Anthropic.MessageCreateParamsStreaming, {
              signal: attempt.signal,
              ...headers,
            });
          });
          yield* convertAnthropicStream(events);
        },
      }),
  };
}

const SUMMARY_TIMEOUT_MS = 300_000;

const makeBetaHeaders = (betas: readonly string[]): { headers?: Record<string, string> } =>
  betas.length > 0 ? { headers: { 'anthropic-beta': betas.join(',') } } : {};
