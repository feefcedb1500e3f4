/** Estimates a condensation without calling a model or storing anything. */
import { DEFAULT_MINIMUM_GAIN } from '../../core/condense/condensation';
import { type CondensationManager } from '../../core/condense/manager';
import { applyEdits } from '../../core/condense/edits/applyEdits';
import type { View } from '../../core/condense/edits/view';
import type { Edit } from '../../core/condense/edits/edits';
import { excludeEditsOfMessages } from '../../core/condense/report/editChanges';
import { formatTokens } from '../../core/format';
import type { CondensationEstimate, StepReport } from '../../core/condense/types';
import type { MessageCounter } from '../../core/tokens/messageCounter';
import type { PreviewConversation } from './conversationStore';
import type { PreviewFigures, PreviewQuestion, PreviewSetup } from './messages';

export interface ConversationEstimate extends PreviewFigures {
  readonly provider: string;
  readonly steps: readonly StepReport[];
  readonly edits: readonly Edit[];
  readonly view: View;
  readonly pinned: ReadonlySet<number>;
  readonly notes: readonly string[];
}

type EstimateInput = Pick<PreviewQuestion, 'setup' | 'pinned' | 'excluded'>;

const EMPTY_ESTIMATE: Omit<CondensationEstimate, 'tokensBefore' | 'tokensAfter'> = { steps: [], cost: 0 };

export class PreviewEstimator {
  constructor(
    private readonly manager: CondensationManager,
    private readonly counter: MessageCounter,
  ) {}

  /** @throws NoSummarizerError, the signal's reason if aborted */
  async estimateCondensation(
    conversation: PreviewConversation,
    { setup, pinned, excluded }: EstimateInput,
    signal: AbortSignal,
  ): Promise<ConversationEstimate> {
    const startMs = performance.now();
    const { id, messages, edits: activeEdits, recordedFacts } = conversation;
    const { provider, config, maxCost } = setup;
    const pins = new Set(pinned ?? conversation.pinned);
    const tokensBefore = this.counter.countMessages(applyEdits(messages, activeEdits).messages);
    const targetTokens = Math.ceil((tokensBefore * setup.targetPercent) / 100);
    const estimate = await this.manager.estimate({
      conversation: id,
      messages,
      edits: activeEdits,
      provider,
      config,
      trigger: 'manual',
      targetTokens,
      maxCost,
      signal,
      ...recordedFacts,
      ...(pins.size > 0 && { pinned: pins }),
    });
    const { refusal } = estimate;
    const {
      steps,
      cost,
      costRange,
      callTokens,
      confidence,
      edits = [],
    } = refusal === undefined ? estimate : EMPTY_ESTIMATE;
    const selectedEdits = this.dropEditsOfExcludedMessages(conversation, edits, new Set(excluded));
    const tokenFigures = { tokensBefore, tokensAfter: selectedEdits.tokensAfter, targetTokens };
    return {
      ...tokenFigures,
      provider,
      steps,
      edits: selectedEdits.edits,
      view: selectedEdits.view,
      pinned: pins,
      calls: steps.reduce((sum, step) => sum + (step.calls ?? 0), 0),
      ...(cost !== undefined && { cost }),
      ...(costRange && { costRange }),
      ...(callTokens && { callTokens }),
      ...(confidence && { confidence }),
      timeMs: performance.now() - startMs,
      ...(refusal !== undefined && { refusal }),
      notes: [
        ...(refusal === undefined ? [] : [refusal]),
        ...this.describeConfigProblems(setup),
        ...selectedEdits.notes,
        ...describeSmallGain(tokenFigures),
      ],
    };
  }

  private dropEditsOfExcludedMessages(
    conversation: PreviewConversation,
    edits: readonly Edit[],
    excludedMessages: ReadonlySet<number>,
  ) {
    const applyAddedEdits = (added: readonly Edit[]): View =>
      applyEdits(conversation.messages, [...conversation.edits, ...added]);
    if (excludedMessages.size === 0) {
      const view = applyAddedEdits(edits);
      return { edits, view, tokensAfter: this.counter.countMessages(view.messages), notes: [] };
    }
    const { violations, ...remaining } = excludeEditsOfMessages(
      conversation.messages,
      conversation.edits,
      edits,
      excludedMessages,
      this.counter,
    );
    const notes = violations.map(({ message, detail }) => `Message ${message + 1}: ${detail}`);
    return { ...remaining, view: applyAddedEdits(remaining.edits), notes };
  }

  /** Describes errors in the configuration, which are otherwise ignored. */
  private describeConfigProblems({ provider, config }: PreviewSetup): string[] {
    const result = this.manager.getProvider(provider).validateConfig(config);
    if (result.valid) return [];
    const { problems, rest } = result;
    const consequence = rest ? 'it is left out' : 'the defaults are shown';
    return [...problems, ...(rest?.leftOut ?? [])].map(
      ({ path, message }) => `${path || 'configuration'}: ${message}; ${consequence}.`,
    );
  }
}

function describeSmallGain({
  tokensBefore,
  tokensAfter,
}: Pick<PreviewFigures, 'tokensBefore' | 'tokensAfter'>): string[] {
  const { percent, tokens } = DEFAULT_MINIMUM_GAIN;
  const savedTokens = tokensBefore - tokensAfter;
  if (savedTokens >= tokens || savedTokens >= (tokensBefore * percent) / 100) return [];
  return [
    `Only ${formatTokens(savedTokens)} tokens would be removed: condensing leaves the conversation as it is below ${percent}% or ${formatTokens(tokens)} tokens.`,
  ];
}
