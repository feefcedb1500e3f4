/** The host's end of condensations that other extensions ask for. */
import type { HostModels } from '../../background/hostModels';
import type { OutcomeWithoutView } from '../../core/condense/condensation';
import type { CondensationProgress } from '../../core/condense/types';
import type { ApiMessage } from '../../core/messages/types';
import type { ProviderCalls } from '../../extensionApi/remoteProvider';
import type { CondenserEngine, Engine } from '../engine';
import type { ManagerSetup } from '../hostManager';
import type { AutomaticResult, AutomaticTerms, SentCondensation, SentEstimate } from './session';

export interface CondenserClientOptions {
  /** The engine, started if it does not run. @throws EngineDiedError while it may not be started */
  readonly engine: () => Engine;
  /** Folder of the summaries that were paid for. */
  readonly summaries: string;
  readonly models: HostModels;
  readonly providers: ProviderCalls;
  /** Asked anew for each call. */
  readonly setup: () => ManagerSetup;
}

/** What belongs to a call, and can't be cloned. */
export interface Call {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CondensationProgress) => void) | undefined;
}

export class CondenserClient {
  private opened: Engine | undefined;
  private lastCall = 0;
  private readonly closing = new AbortController();

  constructor(private readonly options: CondenserClientOptions) {}

  /** @throws what the provider's own estimate throws; EngineDiedError */
  async estimate(request: SentCondensation): Promise<SentEstimate> {
    return this.open().estimate(request, this.options.setup());
  }

  /** @throws EngineDiedError */
  async condense(request: SentCondensation, call: Call): Promise<OutcomeWithoutView> {
    return this.cancelable(call, (condenser, id, onProgress) =>
      condenser.condense(id, request, this.options.setup(), onProgress),
    );
  }

  /** @throws EngineDiedError */
  async condenseIfNeeded(request: SentCondensation, terms: AutomaticTerms, call: Call): Promise<AutomaticResult> {
    return this.cancelable(call, (condenser, id, onProgress) =>
      condenser.condenseIfNeeded(id, request, terms, this.options.setup(), onProgress),
    );
  }

  /** O200k tokens of messages. @throws EngineDiedError */
  async count(messages: readonly ApiMessage[]): Promise<number> {
    return this.open().count(messages);
  }

  /** Who cancels gets an outcome that says so, so that what was spent is known: the signal itself would end the call without one. */
  private async cancelable<T>(
    { signal, onProgress }: Call,
    ask: (condenser: CondenserEngine, id: number, onProgress: (progress: CondensationProgress) => void) => Promise<T>,
  ): Promise<T> {
    const condenser = this.open();
    const id = ++this.lastCall;
    const cancel = (): void => {
      condenser.cancel(id).catch(() => undefined);
    };
    const asked = ask(condenser, id, (progress) => onProgress?.(progress));
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted) cancel();
    try {
      return await asked;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  private open(): CondenserEngine {
    const engine = this.options.engine();
    if (engine === this.opened) return engine.condenser;
    this.opened = engine;
    const { summaries, models, providers } = this.options;
    const { select, summarize, warn } = models;
    const { condense, estimate } = providers;
    engine.condenser
      .open(summaries, select, summarize, warn, condense, estimate, this.closing.signal)
      // Whoever asks it something hears that it died.
      .catch(() => undefined);
    return engine.condenser;
  }
}
