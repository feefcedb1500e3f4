/**
 * Summaries by the conversation's own model, at the agent's URL and with its credentials, which
 * stay only in memory.
 */
import { createAnthropicHandler } from '../api/anthropic';
import { ApiError, isApiError } from '../api/apiError';
import { createGeminiHandler } from '../api/gemini';
import type { HandlerOptions } from '../api/handlerOptions';
import { createOpenAIHandler } from '../api/openai';
import { createSummarizer } from '../api/summarizer';
import type { ApiHandler } from '../api/types';
import type { SelectModel } from '../core/condense/providers/smart/passParts';
import {
  NoSummarizerError,
  type SpendingLimitNames,
  type LoadOwnModel,
  type Summarizer,
  type SummaryReply,
  type UnavailableProfile,
} from '../core/condense/summarizer';
import { sumCosts } from '../core/cost/callCost';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { createLimitedSummarizer } from '../storage/limitedSummarizer';
import type { Spending, SpendingLimits } from '../storage/spending';
import type { UpstreamModel } from '../live/request';
import type { AgentHttpCall } from './condenser';
import { pickLastingHeaders } from './headers';
import type { RequestBody, WireName } from './wires/wire';

export interface GatewaySummariesOptions {
  readonly counter: MessageCounter;
  readonly spending: Pick<Spending, 'bookSpending'>;
  readonly limits: SpendingLimits;
  readonly limitNames: SpendingLimitNames;
}

export interface SummaryFigures {
  readonly calls: number;
  /** US dollars of all calls; undefined if a call's cost is unknown. */
  readonly cost: number | undefined;
}

export class GatewaySummaries {
  private readonly running = new Set<Promise<unknown>>();
  private readonly costs: (number | undefined)[] = [];

  constructor(private readonly options: GatewaySummariesOptions) {}

  /** Always selects the conversation's own model, since the gateway has no profiles. */
  readonly select: SelectModel = async (_profile, loadOwnModel) => {
    const model = await loadOwnModel?.();
    if (!model) throw new NoSummarizerError('There is no model to write a summary with.');
    if (!('summarize' in model)) throw new NoSummarizerError(model.reason);
    return { summarizer: model, chosen: 'conversation' };
  };

  get figures(): SummaryFigures {
    return { calls: this.costs.length, cost: sumCosts(this.costs) };
  }

  /** Resolves when the costs of all calls are recorded. */
  async waitUntilSettled(): Promise<void> {
    await Promise.all(this.running);
  }

  createOwnModelLoader(
    { address, headers, recognized, read }: AgentHttpCall,
    model: UpstreamModel & { readonly id: string },
  ): LoadOwnModel {
    const { name: wire } = recognized.wire;
    const signIn = { address, wire, headers: pickLastingHeaders(headers), terms: pickAgentTerms(wire, read.body) };
    return () => Promise.resolve(this.createGatewaySummarizer(signIn, model));
  }

  private createGatewaySummarizer(
    signIn: AgentSignIn,
    model: UpstreamModel & { readonly id: string },
  ): Summarizer | UnavailableProfile {
    const reason = explainUnusableSubscription(signIn);
    if (reason !== undefined) return { profile: model.id, reason };
    const { counter, spending, limits, limitNames } = this.options;
    const { vendor, prices, tokenFactor, contextWindow, maxOutputTokens } = model;
    const handler = createAgentHandler(signIn, {
      name: model.id,
      counter,
      model: {
        id: model.id,
        ...(contextWindow > 0 && { contextWindow }),
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      },
    });
    const plainSummarizer = createSummarizer({
      profile: model.id,
      handler: addAgentTerms(handler, signIn.terms),
      ...(vendor !== undefined && { vendor }),
      ...(prices && { prices }),
      ...(tokenFactor !== undefined && { tokenFactor }),
    });
    const summarizerWithLimitNames = { ...plainSummarizer, model: { ...plainSummarizer.model, limitNames } };
    const summarizerWithCost: Summarizer = {
      ...summarizerWithLimitNames,
      summarize: async (request, options) =>
        this.recordCost(await summarizerWithLimitNames.summarize(request, options)),
    };
    const limitedSummarizer = createLimitedSummarizer(summarizerWithCost, {
      spending,
      limits: () => limits,
      count: (text) => counter.countText(text),
    });
    return {
      ...limitedSummarizer,
      summarize: (request, options) => this.trackCall(limitedSummarizer.summarize(request, options)),
    };
  }

  private recordCost(reply: SummaryReply): SummaryReply {
    this.costs.push(reply.cost);
    return reply;
  }

  private trackCall<T>(call: Promise<T>): Promise<T> {
    this.running.add(call);
    return call.finally(() => this.running.delete(call));
  }
}

interface AgentSignIn {
  readonly address: URL;
  readonly wire: WireName;
  readonly headers: Readonly<Record<string, string>>;
  readonly terms: RequestBody;
}

/**
 * Sources: Claude Code's documentation, "Legal and compliance" (OAuth is for Anthropic's own
 * applications; tokens start with `sk-ant-oat`). OpenAI documents ChatGPT's URL only for Codex
 * (openai/codex, `model_provider_info.rs`).
 */
function explainUnusableSubscription({ address, headers }: AgentSignIn): string | undefined {
  const { authorization = '', 'anthropic-beta': betas = '' } = headers;
  if (/^Bearer sk-ant-oat/i.test(authorization) || betas.includes('oauth-'))
    return 'Anthropic lets only its own apps use the sign-in of a Claude subscription. Summaries need an API key.';
  return address.hostname === 'chatgpt.com' || 'chatgpt-account-id' in headers
    ? 'The sign-in with ChatGPT is for the requests of OpenAI’s own apps. Summaries need an API key.'
    : undefined;
}

/** Fields for routing and data retention, which apply to summaries too. */
const TERMS_FIELDS_BY_WIRE: Readonly<Record<WireName, readonly string[]>> = {
  anthropic: ['metadata', 'inference_geo'],
  chat: ['provider', 'store', 'user', 'safety_identifier'],
  responses: ['user', 'safety_identifier'],
  gemini: ['safetySettings'],
};

const pickAgentTerms = (wire: WireName, body: RequestBody): RequestBody =>
  Object.fromEntries(
    TERMS_FIELDS_BY_WIRE[wire].filter((field) => Object.hasOwn(body, field)).map((field) => [field, body[field]]),
  );

/** Replaces error messages, because vendors quote requests in them and errors are logged. */
function addAgentTerms(handler: ApiHandler, agentFields: RequestBody): ApiHandler {
  return {
    ...handler,
    async *stream(request, signal) {
      try {
        yield* handler.stream({ ...request, extraBody: { ...agentFields, ...request.extraBody } }, signal);
      } catch (error) {
        if (!isApiError(error)) throw error;
        const { kind, details } = error;
        const { name, status, overflow, code } = details;
        const sentence =
          status === undefined ? undefined : `The vendor refused to write a summary (${status}, ${kind}).`;
        throw new ApiError(kind, {
          name,
          advice: 'The agent’s own requests are not affected.',
          ...(sentence !== undefined && { sentence }),
          ...(status !== undefined && { status }),
          ...(overflow && { overflow }),
          ...(code !== undefined && { code }),
        });
      }
    },
  };
}

function createAgentHandler({ address, wire, headers }: AgentSignIn, common: HandlerOptions): ApiHandler {
  // The user accepted the agent's URL, encrypted or not. The agent's headers have all credentials.
  const options = { ...common, allowInsecureHttp: true, apiKey: 'none' };
  const createFetch = (getTarget: (requestUrl: string) => string): typeof fetch => {
    const sendToTarget: typeof fetch = (input, init) => {
      const requestUrl = input instanceof Request ? input.url : input.toString();
      const betas = new Headers(init?.headers).get('anthropic-beta');
      return fetch(getTarget(requestUrl), { ...init, headers: { ...headers, ...mergeBetaHeaders(headers, betas) } });
    };
    return sendToTarget;
  };
  switch (wire) {
    case 'anthropic':
      return createAnthropicHandler({ ...options, baseUrl: address.origin, fetch: createFetch(() => address.href) });
    case 'gemini':
      return createGeminiHandler({
        ...options,
        baseUrl: address.origin,
        fetch: createFetch(() => toStreamingAddress(address).href),
      });
    case 'chat':
    case 'responses': {
      const baseUrl = new URL(address);
      baseUrl.pathname = address.pathname.replace(/\/(?:chat\/completions|responses)$/, '');
      return createOpenAIHandler({
        ...options,
        api: wire,
        baseUrl: baseUrl.href,
        fetch: createFetch((requestUrl) => requestUrl),
      });
    }
  }
}

function mergeBetaHeaders(
  { 'anthropic-beta': agents }: AgentSignIn['headers'],
  ours: string | null,
): Record<string, string> {
  const names = [agents, ours ?? undefined].flatMap((list) => list?.split(',').map((name) => name.trim()) ?? []);
  return names.length === 0 ? {} : { 'anthropic-beta': [...new Set(names)].join(',') };
}

/**
 * Changes the address to one that streams, because the agent may have requested an answer in one
 * piece.
 */
function toStreamingAddress(address: URL): URL {
  const streamingAddress = new URL(address);
  streamingAddress.pathname = address.pathname.replace(/:generateContent$/, ':streamGenerateContent');
  streamingAddress.searchParams.set('alt', 'sse');
  return streamingAddress;
}
