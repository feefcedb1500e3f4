/** Warns once about a conversation that barely fits the model's window. */
import type { CondensationOutcome } from '../core/condense';
import { formatTokens } from '../core/format';
import { getFileAwareFollowUp } from './condensationRequest';
import type { CondensationReason } from './events';
import type { LiveConversation } from './liveConversation';
import { computeDueTokensOfModel } from './tokenLearning';
import type { LiveDependencies, LiveSettings } from './types';

/** If this many requests in a row had to be condensed, the window is too small for the task. */
const CONDENSATIONS_UNTIL_WINDOW_TOO_SMALL = 4;
const FULL_WINDOW_SHARE = 2 / 3;

export class WindowWarnings {
  private dueRequestsInRow = 0;
  private isCramped = false;
  private message: string | undefined;

  constructor(
    private readonly conversation: LiveConversation,
    private readonly dependencies: LiveDependencies,
  ) {}

  get exhausted(): string | undefined {
    return this.message;
  }

  recordDueReason(reason: CondensationReason | undefined): void {
    this.dueRequestsInRow = reason === undefined ? 0 : this.dueRequestsInRow + 1;
    if (this.dueRequestsInRow !== CONDENSATIONS_UNTIL_WINDOW_TOO_SMALL || this.isCramped) return;
    this.isCramped = true;
    const { id, model, overheadTokens } = this.conversation;
    const fixedTokens = Math.ceil(overheadTokens * this.dependencies.learning.getTokenFactor(model));
    const message = `The last ${CONDENSATIONS_UNTIL_WINDOW_TOO_SMALL} requests each had to be condensed: the window of ${formatTokens(model.contextWindow)} tokens, ${formatTokens(fixedTokens)} of which instructions and tools take, is too small for this task, so what was just read is removed right away. Use a model with a larger window; a local server can be given one (Ollama: num_ctx, or OLLAMA_CONTEXT_LENGTH).`;
    this.dependencies.emit({ kind: 'problem', conversation: id, message });
  }

  /** Warns if nothing more can be condensed, while the window still has room. */
  recordOutcomeAndWarn(
    reason: CondensationReason,
    outcome: CondensationOutcome | undefined,
    settings: LiveSettings,
  ): void {
    if (this.message !== undefined || (outcome?.kind !== 'condensed' && outcome?.kind !== 'unchanged')) return;
    const { conversation } = this;
    const { counter, learning, emit } = this.dependencies;
    const { model, id, countedTokens, overheadTokens, view } = conversation;
    const isLossy = settings.provider !== 'lossless' || getFileAwareFollowUp(conversation, settings) === 'fileAware';
    const tokenFactor = learning.getTokenFactor(model);
    const tokens = Math.ceil(countedTokens * tokenFactor);
    const minTokensToWarn = Math.max(computeDueTokensOfModel(model).tokens, model.contextWindow * FULL_WINDOW_SHARE);
    if ((!isLossy && reason !== 'window') || tokens < minTokensToWarn) return;
    const formatCountedTokens = (counted: number): string => formatTokens(counted * tokenFactor);
    const formatTokensOfRole = (role: 'user' | 'assistant'): string =>
      formatCountedTokens(counter.countMessages(view.messages.filter((message) => message.role === role)));
    this.message = `Little more can be removed from this conversation: it still takes ${formatTokens(tokens)} of the window’s ${formatTokens(model.contextWindow)} tokens (instructions and tools ${formatCountedTokens(overheadTokens)}, what you wrote and current results ${formatTokensOfRole('user')}, the model’s answers ${formatTokensOfRole('assistant')}). What would help: fewer tools, a model with a larger window, or a new conversation.`;
    emit({ kind: 'exhausted', conversation: id, message: this.message });
  }
}
