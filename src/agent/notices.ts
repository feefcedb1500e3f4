import * as vscode from 'vscode';
import type { CondensationManager, CondensationOutcome } from '../core/condense';
import { formatReport, formatTokens } from '../core/condense/report/report';
import { changeWords, condensationWords } from '../window/condensationWords';
import type { CondensationReason, LiveDecision, LiveEvent } from '../live/events';
import type { LiveId } from '../live/request';
import type { Settings } from '../settings/table';

/** How long a condensation is told in the status bar, in milliseconds. */
const STATUS_MS = 8_000;

type Condensed = Extract<LiveEvent, { readonly kind: 'condensed' }>;

export interface NoticeParts {
  readonly manager: CondensationManager;
  readonly kind: () => Settings['notifications'];
  readonly log: Pick<vscode.LogOutputChannel, 'info' | 'warn' | 'show'>;
  readonly undo: (conversation: LiveId) => Promise<void>;
  readonly showDiff: (conversation: LiveId) => Promise<void>;
}

/** Tells what happened to a live conversation: all of it in the log, the rest as the user wants it. */
export async function showLiveEvent(event: LiveEvent, parts: NoticeParts): Promise<void> {
  const { manager, log } = parts;
  const reportOf = (outcome: CondensationOutcome): string =>
    formatReport(outcome, manager.providerName(outcome.provider));
  switch (event.kind) {
    case 'condensed':
      log.info(`${reportOf(event.outcome)}\n${decisionWords(event.decision)}`);
      await showCondensed(event, parts);
      return;
    case 'not-condensed':
      log.info(reportOf(event.outcome));
      return;
    case 'problem':
      log.warn(event.message);
      return;
    case 'changed':
    case 'preparing':
      return;
  }
}

async function showCondensed({ outcome, conversation, decision }: Condensed, parts: NoticeParts): Promise<void> {
  const provider = parts.manager.providerName(outcome.provider);
  // Whoever asked for it wants to know.
  switch (decision.reason === 'by-hand' ? 'notification' : parts.kind()) {
    case 'none':
      return;
    case 'statusBar': {
      const change = changeWords(decision.tokensBefore, decision.tokensAfter);
      void vscode.window.setStatusBarMessage(`$(fold) ${vscode.l10n.t('Condensed: {0}', change)}`, STATUS_MS);
      return;
    }
    case 'notification': {
      const undo = vscode.l10n.t('Undo');
      const showDiff = vscode.l10n.t('Show Diff');
      const details = vscode.l10n.t('Details');
      // The figures of the steps are of the messages alone; the status bar shows the whole request.
      const whole = vscode.l10n.t(
        'the request went from {0} of {1}',
        changeWords(decision.tokensBefore, decision.tokensAfter),
        formatTokens(decision.contextWindow),
      );
      const words = condensationWords({ ...outcome, provider, notes: [whole, ...outcome.notes] });
      const choice = await vscode.window.showInformationMessage(words, undo, showDiff, details);
      if (choice === undo) await parts.undo(conversation);
      if (choice === showDiff) await parts.showDiff(conversation);
      if (choice === details) parts.log.show();
    }
  }
}

const REASONS: Readonly<Record<CondensationReason, string>> = {
  threshold: 'the threshold was reached',
  window: 'the request would not have fitted',
  'cold-cache': 'the vendor’s prompt cache had expired',
  background: 'prepared in the background before',
  'too-long': 'the model refused the request as too long',
  'by-hand': 'asked for by hand',
};

/** Why it was done, and what it is worth. */
function decisionWords({
  reason,
  tokensBefore,
  tokensAfter,
  contextWindow,
  isCacheWarm,
  saving,
}: LiveDecision): string {
  const dollars = (value: number): string => `$${value.toFixed(4)}`;
  const worth = saving
    ? `; each later request saves ${dollars(saving.perRequest)}, the broken cache costs ${dollars(saving.cacheBreak)}, ` +
      (saving.breakEvenRequests === undefined
        ? 'no break-even'
        : `break-even after ${saving.breakEvenRequests} requests`)
    : '';
  return ` - Why: ${REASONS[reason]}; request ${changeWords(tokensBefore, tokensAfter)} of ${formatTokens(contextWindow)}, prompt cache ${isCacheWarm ? 'still held' : 'expired'}${worth}`;
}
