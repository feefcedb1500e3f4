import * as vscode from 'vscode';
import type { OutcomeSummary } from '../core/condense';
import { formatCost, formatTokens } from '../core/format';
import { formatOutcomeReport, listProviderNames } from '../core/condense/report/report';
import {
  getUseAdvice,
  formatTokenChange,
  formatCondensationMessage,
  formatUseOfRemoved,
} from '../window/condensationWords';
import { formatCacheStateAndBasis, formatCondensationSavings } from './formatCache';
import type { CondensationReason, LiveDecision, LiveEvent } from '../live/events';
import type { LiveId } from '../live/request';
import type { Settings } from '../settings/table';
import { showInformationMessage, showStatusMessage, showWarningMessage } from '../window/notifications';

const STATUS_MESSAGE_MS = 8_000;

type CondensedEvent = Extract<LiveEvent, { readonly kind: 'condensed' }>;

export interface NoticeDependencies {
  readonly providerName: (id: string) => string;
  readonly kind: () => Settings['notifications'];
  /** Share of the messages' tokens, in percent, to which manual condensing condenses. */
  readonly targetPercent: () => number;
  readonly log: Pick<vscode.LogOutputChannel, 'info' | 'warn' | 'show'>;
  readonly undo: (conversation: LiveId) => Promise<void>;
  readonly showDiff: (conversation: LiveId) => Promise<void>;
  readonly showDetails: (conversation: LiveId) => Promise<void>;
  readonly getTitle: (conversation: LiveId) => string | undefined;
}

export async function showLiveEvent(event: LiveEvent, dependencies: NoticeDependencies): Promise<void> {
  const { providerName, log } = dependencies;
  const formatReport = (outcome: OutcomeSummary): string => formatOutcomeReport(outcome, providerName);
  switch (event.kind) {
    case 'condensed':
      log.info(
        `${formatOutcomeReport(event.outcome, providerName, { request: event.decision })}\n${formatDecision(event.decision)}`,
      );
      await showCondensedNotice(event, dependencies);
      return;
    case 'not-condensed':
      log.info(formatReport(event.outcome));
      showAbandonedCondensation(event, dependencies.kind());
      return;
    case 'problem':
      log.warn(event.message);
      return;
    case 'pruned':
      log.info(event.message);
      if (dependencies.kind() === 'notification') void showInformationMessage(event.message);
      if (dependencies.kind() === 'statusBar') void showStatusMessage(event.message, STATUS_MESSAGE_MS, 'archive');
      return;
    case 'careful': {
      const text = `${formatUseOfRemoved(event.use)} ${getUseAdvice()}`;
      log.warn(text);
      if (dependencies.kind() !== 'none') void showInformationMessage(text);
      return;
    }
    case 'exhausted':
      log.warn(event.message);
      if (dependencies.kind() !== 'none') void showWarningMessage(event.message);
      return;
    case 'changed':
    case 'preparing':
      return;
  }
}

async function showCondensedNotice(
  { outcome, conversation, decision }: CondensedEvent,
  dependencies: NoticeDependencies,
): Promise<void> {
  const providerNames = listProviderNames(outcome, dependencies.providerName);
  const isByHand = decision.reason === 'by-hand';
  // Always shows the result of a manual condensation, for which the user waits.
  switch (isByHand ? 'notification' : dependencies.kind()) {
    case 'none':
      return;
    case 'statusBar': {
      const tokenChange = formatTokenChange(decision.tokensBefore, decision.tokensAfter);
      void showStatusMessage(
        vscode.l10n.t('Condensed with {0}: {1}', providerNames, tokenChange),
        STATUS_MESSAGE_MS,
        'archive',
      );
      return;
    }
    case 'notification': {
      const undoLabel = vscode.l10n.t('Undo');
      const showDiffLabel = vscode.l10n.t('Show Diff');
      const detailsLabel = vscode.l10n.t('Details');
      const condenseWithLabel = vscode.l10n.t('Condense With…');
      const { tokensBefore, tokensAfter } = decision;
      const targetIfByHand = isByHand
        ? { targetTokens: computeTargetWithOverhead(outcome, decision, dependencies.targetPercent()) }
        : {};
      const title = dependencies.getTitle(conversation);
      const messageFigures = {
        cost: outcome.cost,
        provider: providerNames,
        tokensBefore,
        tokensAfter,
        ...targetIfByHand,
        title,
      };
      // Shows the notification again after the diff. All other actions end it.
      for (;;) {
        const text = formatCondensationMessage(messageFigures);
        switch (await showInformationMessage(text, showDiffLabel, condenseWithLabel, undoLabel, detailsLabel)) {
          case showDiffLabel:
            await dependencies.showDiff(conversation);
            break;
          case condenseWithLabel:
            await vscode.commands.executeCommand('contextCondenser.condenseFurther', { live: conversation });
            return;
          case undoLabel:
            await dependencies.undo(conversation);
            return;
          case detailsLabel:
            await dependencies.showDetails(conversation);
            return;
          default:
            return;
        }
      }
    }
  }
}

/**
 * Returns the target size of the request in the model's tokens. The target percentage is of the
 * messages only.
 */
function computeTargetWithOverhead(
  messages: Pick<CondensedEvent['outcome'], 'tokensBefore' | 'tokensAfter'>,
  request: LiveDecision,
  targetPercent: number,
): number {
  const requestFactor = (request.tokensBefore - request.tokensAfter) / (messages.tokensBefore - messages.tokensAfter);
  const tokensAboveTarget = messages.tokensAfter - Math.ceil((messages.tokensBefore * targetPercent) / 100);
  return Math.ceil(request.tokensAfter - tokensAboveTarget * requestFactor);
}

function showAbandonedCondensation(
  { outcome: { kind, cost, calls }, reason, givenUp }: Extract<LiveEvent, { readonly kind: 'not-condensed' }>,
  notificationMode: Settings['notifications'],
): void {
  if (kind !== 'cancelled' || calls === undefined) return;
  // The user canceled, or the command itself reports the result, so only a cost is worth a notice.
  if (reason === 'by-hand' && cost === 0) return;
  const text =
    givenUp === undefined
      ? vscode.l10n.t('A summary was abandoned. Cost: {0}.', formatCost(cost))
      : vscode.l10n.t('A summary was abandoned: {0}. Cost: {1}.', vscode.l10n.t(givenUp), formatCost(cost));
  if (notificationMode === 'statusBar') void showStatusMessage(text, STATUS_MESSAGE_MS, 'archive');
  if (notificationMode === 'notification') void showInformationMessage(text);
}

export async function showAgentCondensedNotice(
  text: string,
  parts: {
    readonly kind: Settings['notifications'];
    readonly undo: () => Promise<void>;
    readonly showDiff: () => Promise<void>;
  },
): Promise<void> {
  if (parts.kind === 'statusBar') void showStatusMessage(text, STATUS_MESSAGE_MS, 'archive');
  if (parts.kind !== 'notification') return;
  const undoLabel = vscode.l10n.t('Undo');
  const showDiffLabel = vscode.l10n.t('Show Diff');
  const choice = await showInformationMessage(text, undoLabel, showDiffLabel);
  if (choice === undoLabel) await parts.undo();
  if (choice === showDiffLabel) await parts.showDiff();
}

/** @param name the setting's name without the prefix */
export async function showLimitWarning(text: string, name: string): Promise<void> {
  const openLabel = vscode.l10n.t('Open Setting');
  if ((await showWarningMessage(text, openLabel)) !== openLabel) return;
  await vscode.commands.executeCommand('workbench.action.openSettings', `@id:contextCondenser.${name}`);
}

const CONDENSATION_REASON_TEXTS: Readonly<Record<CondensationReason, () => string>> = {
  threshold: () => vscode.l10n.t('the threshold was reached'),
  window: () => vscode.l10n.t('the request would not have fit'),
  'cold-cache': () => vscode.l10n.t('the prompt cache was cold'),
  background: () => vscode.l10n.t('it had been prepared in the background'),
  'too-long': () => vscode.l10n.t('the model refused the request as too long'),
  bytes: () => vscode.l10n.t('its images were larger than the vendor accepts'),
  'by-hand': () => vscode.l10n.t('asked for by hand'),
};

function formatReason({ reason, dearerAbove }: LiveDecision): string {
  if (dearerAbove === undefined) return CONDENSATION_REASON_TEXTS[reason]();
  const priceTierText = vscode.l10n.t(
    'requests of more than {0} tokens cost more per token',
    formatTokens(dearerAbove),
  );
  return `${CONDENSATION_REASON_TEXTS[reason]()}; ${priceTierText}`;
}

export const formatReasonLine = (decision: LiveDecision): string => vscode.l10n.t('Why: {0}', formatReason(decision));

export const explainDecision = (decision: LiveDecision): string =>
  `${formatReasonLine(decision)}. ${formatCondensationSavings(decision)} ${formatCacheStateAndBasis(decision.cache)}.`;

function formatDecision(decision: LiveDecision): string {
  return ` - Window: ${formatTokens(decision.contextWindow)} tokens. ${explainDecision(decision)}`;
}
