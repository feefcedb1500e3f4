import * as vscode from 'vscode';
import { PreviewThread } from '../engine/previewThread';
import type { ConversationSource, PreviewResult } from '../background/preview/messages';
import type { CoherenceReport } from '../core/condense/coherence/coherence';
import { formatPercentChange, formatCost, formatTokens } from '../core/format';
import { getErrorMessage } from '../core/errors';
import { getEngineBundle } from '../window/background';
import type { Services } from '../window/services';
import { isSettingConfigured } from '../window/settings/settings';
import { type PreviewConfiguration, readPreviewSetup } from './previewSetup';

export interface EstimateTexts {
  /** Text with the tokens, or with the reason why they are unknown. */
  readonly size: string;
  readonly cost?: string;
  /** Sentences on this estimate alone; empty if nothing is special. */
  readonly note?: string;
  /** True if steps are skipped because no model is set up, so losses measured with one do not apply. */
  readonly lacksModel?: boolean;
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
        const lacksModel = setup.models.length > 0 && setup.models.every((model) => 'problem' in model);
        const note = formatEstimateNote(result, lacksModel);
        const size = result.refusal ?? formatEstimatedSize(result);
        const cost = result.refusal === undefined ? { cost: formatEstimatedCost(result) } : {};
        const figures = { size, ...cost, note, lacksModel, tokensBefore, tokensAfter };
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

const formatEstimatedSize = ({ tokensBefore, tokensAfter }: PreviewResult): string =>
  `${vscode.l10n.t('{0} tokens', formatTokens(tokensAfter))} (${formatPercentChange(tokensBefore, tokensAfter)})`;

function formatEstimatedCost({ calls, cost, costRange }: PreviewResult): string {
  if (calls === 0 || (cost === 0 && (costRange?.most ?? 0) === 0)) return vscode.l10n.t('free');
  return cost === undefined ? vscode.l10n.t('cost unknown') : `≈ ${formatCost(cost)}`;
}

function formatEstimateNote(result: PreviewResult, lacksModel: boolean): string {
  const { tokensAfter, targetTokens, calls, refusal } = result;
  if (refusal !== undefined) return '';
  return [
    ...(tokensAfter <= targetTokens && isSettingConfigured('manual.targetPercent')
      ? [vscode.l10n.t('Meets your target.')]
      : []),
    ...(lacksModel ? [vscode.l10n.t('No model is set up: its steps are skipped.')] : []),
    ...(calls > 0 ? [describeRequests(result)] : []),
  ].join(' ');
}

/** Formats a range if replies may vary in length. */
function describeRequests({ calls, costRange }: PreviewResult): string {
  const requests = calls === 1 ? vscode.l10n.t('1 request') : vscode.l10n.t('{0} requests', calls);
  if (!costRange || costRange.most === 0) return `${requests}.`;
  const [leastCost, mostCost] = [formatCost(costRange.least), formatCost(costRange.most)];
  return costRange.endsAtLimit === true
    ? vscode.l10n.t('{0}: {1} to {2}, capped at your limit.', requests, leastCost, mostCost)
    : vscode.l10n.t('{0}: {1} to {2}.', requests, leastCost, mostCost);
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
  if (keptFacts === allFacts) return vscode.l10n.t('Keeps all {0} facts.', allFacts);
  return lostFacts === 0
    ? vscode.l10n.t('Keeps {0} of {1} facts; {2} recallable.', keptFacts, allFacts, recallableFacts)
    : vscode.l10n.t('Keeps {0} of {1} facts; {2} lost.', keptFacts, allFacts, lostFacts);
}
