import type { CallOptions } from '../api/call';
import type { ApiHandler } from '../api/types';
import { createVscodeLmHandler, type LanguageModels } from '../api/vscodeLm';
import { createHandlerReplacingImages } from '../api/replaceImages';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { getKeyForEndpoint, type SecretStore } from '../settings/keys';
import { createProfileHandler } from '../settings/profileHandler';
import { OWN_VSCODE_VENDOR } from '../core/vendors/ownVendor';
import type { OfferedModel } from './offeredModels';

export interface ApiHandlersDependencies {
  readonly secrets: SecretStore;
  readonly models: LanguageModels;
  readonly counter: () => Promise<MessageCounter>;
  readonly retry?: CallOptions['retry'];
}

/** Milliseconds. They are long, because a local model may read a prompt for minutes. */
const CHAT_TIMEOUTS = { firstByteMs: 300_000, silenceMs: 300_000, wholeMs: 1_800_000 };

/** Caches handlers, because each learns its server's quirks. */
export class ApiHandlerCache {
  private readonly handlers = new Map<string, { readonly handler: ApiHandler; readonly key: string | undefined }>();

  constructor(private readonly dependencies: ApiHandlersDependencies) {}

  /**
   * @param retries true if the handler retries by itself
   * @throws {ApiError} kinds `auth` and `endpoint`
   */
  async getHandler(model: OfferedModel, retries: boolean): Promise<ApiHandler> {
    const { profile } = model;
    const key = model.wrappedModel ? undefined : await getKeyForEndpoint(this.dependencies.secrets, profile);
    const identity = JSON.stringify([model.id, profile, model.contextWindow, retries]);
    const cachedHandler = this.handlers.get(identity);
    if (cachedHandler && cachedHandler.key === key) return cachedHandler.handler;
    const retry = retries ? this.dependencies.retry : { retries: 0 };
    const plainHandler = await this.createHandler(model, key, { timeouts: CHAT_TIMEOUTS, ...(retry && { retry }) });
    const handler = createHandlerReplacingImages(plainHandler, model.seesImages);
    this.handlers.set(identity, { handler, key });
    return handler;
  }

  private async createHandler(
    { profile, wrappedModel, contextWindow }: OfferedModel,
    key: string | undefined,
    call: Pick<CallOptions, 'retry' | 'timeouts'>,
  ): Promise<ApiHandler> {
    const { models } = this.dependencies;
    const counter = await this.dependencies.counter();
    if (!wrappedModel) return createProfileHandler(profile, key, { counter, models, contextWindow, call });
    const selector = { vendor: wrappedModel.vendor, id: wrappedModel.id };
    return createVscodeLmHandler({
      ...call,
      name: wrappedModel.name,
      counter,
      models,
      ownVendor: OWN_VSCODE_VENDOR,
      selector,
      contextWindow,
    });
  }
}
