import type { HostModels } from '../../background/hostModels';
import type { OutcomeWithoutView } from '../../core/condense/condensation';
import type { CondensationProgress } from '../../core/condense/types';
import type { ApiMessage } from '../../core/messages/types';
import type { ProviderCallHandlers } from '../../extensionApi/remoteProvider';
import type { CondenserEngine, Engine } from '../engine';
import type { CondensationManagerSetup } from '../hostManager';
import type { AutomaticResult, WindowAndThreshold, CondensationMessage, EstimateMessage } from './session';

export interface CondenserClientOptions {
  /**
   * Starts the engine if necessary.
   * @throws EngineDiedError if it died and may not be restarted yet
   */
  readonly engine: () => Engine;
  /** Folder that keeps the summaries from paid model calls. */
  readonly summaries: string;
  readonly models: HostModels;
  readonly providers: ProviderCallHandlers;
  /** Returns the current presets and providers; called for each call of the engine. */
  readonly setup: () => CondensationManagerSetup;
}

/** Signal and function of a call, which can't be cloned for another thread. */
export interface CondenserCallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CondensationProgress) => void) | undefined;
}

export class CondenserClient {
  private openedEngine: Engine | undefined;
  private lastCall = 0;
  private readonly closeController = new AbortController();

  constructor(private readonly options: CondenserClientOptions) {}

  /** @throws what the provider's estimate throws; EngineDiedError */
  async estimate(request: CondensationMessage): Promise<EstimateMessage> {
    return this.open().estimate(request, this.options.setup());
  }

  /** @throws EngineDiedError */
  async condense(request: CondensationMessage, call: CondenserCallOptions): Promise<OutcomeWithoutView> {
    return this.callWithCancel(call, (condenser, id, onProgress) =>
      condenser.condense(id, request, this.options.setup(), onProgress),
    );
  }

  /** @throws EngineDiedError */
  async condenseIfNeeded(
    request: CondensationMessage,
    windowAndPolicy: WindowAndThreshold,
    call: CondenserCallOptions,
  ): Promise<AutomaticResult> {
    return this.callWithCancel(call, (condenser, id, onProgress) =>
      condenser.condenseIfNeeded(id, request, windowAndPolicy, this.options.setup(), onProgress),
    );
  }

  /**
   * Counts o200k tokens.
   * @throws EngineDiedError
   */
  async count(messages: readonly ApiMessage[]): Promise<number> {
    return this.open().count(messages);
  }

  /**
   * Cancels the call by a message instead of its signal, so that the engine still returns the
   * outcome with its cost.
   */
  private async callWithCancel<T>(
    { signal, onProgress }: CondenserCallOptions,
    ask: (condenser: CondenserEngine, id: number, onProgress: (progress: CondensationProgress) => void) => Promise<T>,
  ): Promise<T> {
    const condenser = this.open();
    const id = ++this.lastCall;
    const cancel = (): void => {
      condenser.cancel(id).catch(() => undefined);
    };
    const answer = ask(condenser, id, (progress) => onProgress?.(progress));
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted) cancel();
    try {
      return await answer;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  private open(): CondenserEngine {
    const engine = this.options.engine();
    if (engine === this.openedEngine) return engine.condenser;
    this.openedEngine = engine;
    const { summaries, models, providers } = this.options;
    const { select, summarize, warn } = models;
    const { condense, estimate } = providers;
    engine.condenser
      .open(summaries, select, summarize, warn, condense, estimate, this.closeController.signal)
      // Errors are ignored here: callers learn of the engine's death from their own calls.
      .catch(() => undefined);
    return engine.condenser;
  }
}
