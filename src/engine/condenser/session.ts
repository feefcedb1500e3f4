import { condenseIfNeeded, type CondensationRequest, type FallbackPolicy } from '../../core/condense';
import { dropViewFromOutcome, type OutcomeWithoutView } from '../../core/condense/condensation';
import type { CondensationEstimate, CondensationProgress } from '../../core/condense/types';
import type { WindowLimits } from '../../core/condense/fallback';
import type { CondensationThreshold } from '../../core/condense/trigger/thresholds';
import type { ApiMessage } from '../../core/messages/types';
import type { MessageCounter } from '../../core/tokens/messageCounter';
import { HostManager, type HostManagerDependencies, type CondensationManagerSetup } from '../hostManager';

export type CondensationMessage = Omit<CondensationRequest, 'signal' | 'onProgress' | 'ownModel'>;

export type EstimateMessage = Pick<CondensationEstimate, 'tokensBefore' | 'tokensAfter' | 'cost' | 'callTokens'>;

export interface WindowAndThreshold {
  readonly window: WindowLimits;
  readonly threshold: CondensationThreshold;
  readonly policy: Pick<FallbackPolicy, 'mayUseNative' | 'configs'>;
}

export type AutomaticResult =
  | { readonly kind: 'ran'; readonly outcome: OutcomeWithoutView }
  | { readonly kind: 'not-due'; readonly tokens: number; readonly percent: number };

export class CondenserSession {
  private readonly host: HostManager;
  private readonly counter: MessageCounter;
  /** Running calls, by the number that the client gave them. */
  private readonly controllerByCall = new Map<number, AbortController>();

  constructor(dependencies: HostManagerDependencies) {
    this.host = new HostManager(dependencies);
    this.counter = dependencies.counter;
  }

  async estimate(request: CondensationMessage, setup: CondensationManagerSetup): Promise<EstimateMessage> {
    this.host.applySetup(setup);
    const { tokensBefore, tokensAfter, cost, callTokens } = await this.host.manager.estimate(request);
    return { tokensBefore, tokensAfter, cost, ...(callTokens && { callTokens }) };
  }

  condense(
    call: number,
    request: CondensationMessage,
    setup: CondensationManagerSetup,
    onProgress: (progress: CondensationProgress) => void,
  ): Promise<OutcomeWithoutView> {
    this.host.applySetup(setup);
    return this.runCancelable(call, async (signal) =>
      dropViewFromOutcome(await this.host.manager.condense({ ...request, signal, onProgress })),
    );
  }

  condenseIfNeeded(
    call: number,
    request: CondensationMessage,
    { policy, ...windowAndThreshold }: WindowAndThreshold,
    setup: CondensationManagerSetup,
    onProgress: (progress: CondensationProgress) => void,
  ): Promise<AutomaticResult> {
    this.host.applySetup(setup);
    return this.runCancelable(call, async (signal) => {
      const fullRequest = { ...request, ...windowAndThreshold, signal, onProgress };
      const result = await condenseIfNeeded(this.host.manager, this.counter, fullRequest, policy);
      if (result.kind === 'ran') return { kind: 'ran', outcome: dropViewFromOutcome(result.outcome) };
      return result;
    });
  }

  /** Counts o200k tokens. */
  count(messages: readonly ApiMessage[]): number {
    return this.counter.countMessages(messages);
  }

  /** Cancels a call without rejecting it; its outcome reports the cancellation and the cost. */
  cancel(call: number): void {
    this.controllerByCall.get(call)?.abort();
  }

  private async runCancelable<T>(call: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.controllerByCall.set(call, controller);
    try {
      return await run(controller.signal);
    } finally {
      this.controllerByCall.delete(call);
    }
  }
}
