import * as vscode from 'vscode';
import { PreviewThread } from '../engine/previewThread';
import type { ConversationSource, PreviewResult, PreviewSetup } from '../background/preview/messages';
import type { CoherenceReport } from '../core/condense/coherence/coherence';
import { formatPercentChange, formatCost, formatTokens } from '../core/format';
import { getErrorMessage } from '../core/errors';
import { getEngineBundle } from '../window/background';
import type { Services } from '../window/services';
import { isSettingConfigured } from '../window/settings/settings';
import { type PreviewConfiguration, readPreviewSetup } from './previewSetup';

export interface EstimateTexts {
  /** Text with tokens and cost, or with the reason why they are unknown. */
  readonly size: string;
  /** Tokens of the messages; absent if unknown. */
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
  /** Text with the facts that would be lost; absent until computed. */
  readonly loss?: string;
}

/** Estimates one choice after the other. The worker ends when the list closes. */
export async function estimateChoices<W extends { readonly configuration?: PreviewConfiguration }>(
  services: Services,
  conversation: ConversationSource,
  choices: readonly W[],
  signal: AbortSignal,
  onEstimate: (choice: W, words: EstimateTexts) => void,
): Promise<void> {
  const describeEnd = (reason: string): string => vscode.l10n.t('The estimate’s worker ended ({0}).', reason);
  const thread = new PreviewThread({ bundle: getEngineBundle(services), ended: describeEnd });
  try {
    for (const choice of choices) {
      if (!choice.configuration) continue;
      try {
        const setup = await readPreviewSetup(services, choice.configuration);
        const question = { conversation, setup, excluded: [] };
        const result = await thread.askPreviewQuestion({ kind: 'preview', ...question }, signal);
        const { tokensBefore, tokensAfter } = result;
        const figures = { size: formatEstimatedSize(result, setup), tokensBefore, tokensAfter };
        onEstimate(choice, figures);
        const coherence = await thread.askPreviewQuestion({ kind: 'coherence', ...question }, signal);
        onEstimate(choice, { ...figures, loss: formatFactLoss(coherence) });
      } catch (error) {
        if (signal.aborted) return;
        onEstimate(choice, { size: getErrorMessage(error) });
      }
    }
  } finally {
    thread.endThread();
  }
}

function formatEstimatedSize(result: PreviewResult, { models }: PreviewSetup): string {
  const { tokensBefore, tokensAfter, targetTokens, calls } = result;
  if (result.refusal !== undefined) return result.refusal;
  const hasNoModel = models.length > 0 && models.every((each) => 'problem' in each);
  return [
    vscode.l10n.t('{0} tokens', formatTokens(tokensAfter)) + ` (${formatPercentChange(tokensBefore, tokensAfter)})`,
    ...(tokensAfter <= targetTokens && isSettingConfigured('manual.targetPercent')
      ? [vscode.l10n.t('meets your target')]
      : []),
    ...(calls > 0 ? [describeEstimatedCost(result)] : []),
    ...(hasNoModel ? [vscode.l10n.t('no model is set up, so steps that need one are skipped')] : []),
  ].join(' · ');
}

/** Formats a range if replies may vary in length. */
function describeEstimatedCost({ calls, cost, costRange }: PreviewResult): string {
  const requests = calls === 1 ? vscode.l10n.t('1 request') : vscode.l10n.t('{0} requests', calls);
  if (cost === undefined) return vscode.l10n.t('{0}, cost unknown', requests);
  if (cost === 0 && (costRange?.most ?? 0) === 0) return vscode.l10n.t('{0}, free', requests);
  if (!costRange) return `${requests}, ≈ ${formatCost(cost)}`;
  const [leastCost, mostCost] = [formatCost(costRange.least), formatCost(costRange.most)];
  const range =
    costRange.endsAtLimit === true
      ? vscode.l10n.t('{0} to {1}, capped at your limit', leastCost, mostCost)
      : vscode.l10n.t('{0} to {1}', leastCost, mostCost);
  return `${requests}, ≈ ${formatCost(cost)} (${range})`;
}

/**
 * Counts facts (files, error lines, instructions, to-dos) that the view would no longer contain.
 */
function formatFactLoss(report: CoherenceReport): string {
  const factKinds = Object.values(report);
  const sumKinds = (getCount: (kind: CoherenceReport[keyof CoherenceReport]) => number): number =>
    factKinds.reduce((total, kind) => total + getCount(kind), 0);
  const [keptFacts, recallableFacts, lostFacts] = [
    sumKinds(({ kept: n }) => n),
    sumKinds(({ recallable: n }) => n),
    sumKinds(({ lost: n }) => n),
  ];
  const allFacts = keptFacts + recallableFacts + lostFacts;
  if (allFacts === 0) return '';
  if (allFacts === 1 && keptFacts === 1) return vscode.l10n.t('Keeps the only fact.');
  return keptFacts === allFacts
    ? vscode.l10n.t('Keeps all {0} facts.', allFacts)
    : vscode.l10n.t(
        'Keeps {1} of {0} facts; {2} can be recalled, {3} are lost.',
        allFacts,
        keptFacts,
        recallableFacts,
        lostFacts,
      );
}
