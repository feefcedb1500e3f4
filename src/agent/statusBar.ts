import * as vscode from 'vscode';
import { formatPercentChange, formatTokens } from '../core/format';
import { formatShare } from '../core/percent';
import { getProviderName, formatProviderName } from '../core/condense/types';
import { countUsesOfRemoved } from '../core/condense/ledger/use';
import { getUseAdvice, formatTokenChange, formatUseOfRemoved } from '../window/condensationWords';
import { makeMarkdown, toMarkdownString } from '../window/markdownText';
import { EscapedStatusBarItem } from '../window/notifications';
import { formatCacheStateAndBasis, formatBreakEven } from './formatCache';
import type { NewResultsSummary, LiveCondensation, LiveSummary } from '../live/types';
import type { ToolWeight } from '../live/toolWeights';

/** If an uncondensed request takes this share of the window, it is shown as a warning. */
const NEARLY_FULL_SHARE = 0.75;

/** Shows how full the model's real window is; VS Code's ring uses the declared one. */
export class LiveStatusBar implements vscode.Disposable {
  private readonly item = new EscapedStatusBarItem('contextCondenser.live', vscode.StatusBarAlignment.Right, 90, {
    name: vscode.l10n.t('Context Condenser'),
    command: 'contextCondenser.showLive',
  });

  show(conversation: LiveSummary | undefined, isOff = false): void {
    if (!conversation) {
      this.item.hide();
      return;
    }
    const { tokens, contextWindow } = conversation;
    // While condensing is off, requests are not counted, so the last figure would be out of date.
    const text = isOff
      ? vscode.l10n.t('Condensing off')
      : `${formatTokensShort(tokens)} / ${formatTokensShort(contextWindow)}`;
    const label = isOff
      ? vscode.l10n.t('Condensing is off')
      : vscode.l10n.t('{0} of {1} tokens of the context window', formatTokens(tokens), formatTokens(contextWindow));
    this.item.show({
      icon: getStatusIcon(conversation, isOff),
      text,
      backgroundColor: isOff ? undefined : getFillColor(conversation),
      tooltip: renderTooltip(conversation, isOff),
      accessibilityInformation: { label, role: 'button' },
    });
  }

  dispose(): void {
    this.item.dispose();
  }
}

function getStatusIcon({ isPaused, isPreparing }: LiveSummary, isOff: boolean): string {
  if (isOff) return 'circle-slash';
  if (isPaused) return 'debug-pause';
  return isPreparing ? 'sync~spin' : 'archive';
}

function getFillColor({ tokens, contextWindow, thresholdTokens, whyNot }: LiveSummary): vscode.ThemeColor | undefined {
  if (tokens > contextWindow) return new vscode.ThemeColor('statusBarItem.errorBackground');
  const isStuck = whyNot !== undefined && tokens >= Math.max(thresholdTokens, contextWindow * NEARLY_FULL_SHARE);
  return isStuck ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
}

export const formatTokensShort = (tokens: number): string =>
  tokens < 1_000
    ? String(Math.round(tokens))
    : tokens < 999_500
      ? `${Math.round(tokens / 1_000)}K`
      : `${Number((tokens / 1_000_000).toFixed(1))}M`;

function renderTooltip(conversation: LiveSummary, isOff: boolean): vscode.MarkdownString {
  const { title, tokens, contextWindow, thresholdTokens, whyNot, exhausted } = conversation;
  const isDue = !isOff && tokens >= thresholdTokens;
  const fillText = vscode.l10n.t(
    '{0} of {1} tokens ({2})',
    formatTokens(tokens),
    formatTokens(contextWindow),
    formatShare(tokens, contextWindow, 0),
  );
  const lines = [
    ...(isOff
      ? [vscode.l10n.t('Condensing is off'), vscode.l10n.t('Before it was turned off: {0}', fillText)]
      : [fillText, formatThreshold(conversation)]),
    ...(whyNot !== undefined && isDue ? [vscode.l10n.t('Not condensed: {0}', whyNot)] : []),
    ...(exhausted !== undefined && isDue ? [exhausted] : []),
    ...(whyNot !== undefined && isDue && conversation.condensations.length === 0
      ? []
      : formatLastCondensation(conversation)),
    ...formatNewResults(conversation),
    ...formatToolTokens(conversation),
  ];
  return toMarkdownString(makeMarkdown`${title}${lines.map((line) => makeMarkdown`\n\n${line}`)}`);
}

export function formatThreshold({ thresholdTokens, condensedBy, isPaused }: LiveSummary): string {
  if (isPaused) return getPausedText();
  return condensedBy === undefined
    ? vscode.l10n.t('Condenses at {0} tokens', formatTokens(thresholdTokens))
    : vscode.l10n.t('Condenses at {0} tokens with {1}', formatTokens(thresholdTokens), condensedBy);
}

const getPausedText = (): string => vscode.l10n.t('Paused: condensed only if a request would not fit into the window');

export const formatCondensedBy = ({ by, provider, configName }: LiveCondensation): string =>
  by ?? formatProviderName(getProviderName(provider), configName);

export const formatSizeChange = ({ request, tokensBefore, tokensAfter }: LiveCondensation): string =>
  request
    ? formatTokenChange(request.tokensBefore, request.tokensAfter)
    : vscode.l10n.t('messages {0}', formatTokenChange(tokensBefore, tokensAfter));

export function describeNextCondensation({
  tokens,
  thresholdTokens,
  coldTokens,
  whyNot,
  isPaused,
}: LiveSummary): string {
  if (isPaused) return getPausedText();
  if (tokens < thresholdTokens)
    return coldTokens === undefined
      ? vscode.l10n.t('Otherwise automatic at {0} tokens', formatTokens(thresholdTokens))
      : vscode.l10n.t(
          'Otherwise automatic at {0} tokens, or at {1} if the prompt cache has expired',
          formatTokens(thresholdTokens),
          formatTokens(coldTokens),
        );
  return whyNot === undefined
    ? vscode.l10n.t(
        'Due with the next request: the threshold of {0} tokens has been reached',
        formatTokens(thresholdTokens),
      )
    : vscode.l10n.t('Not condensed: {0}', whyNot);
}

export function formatLastCondensation({ condensations, lastDecision, isCareful }: LiveSummary): string[] {
  const lastCondensation = condensations.findLast(({ isUndone }) => !isUndone);
  if (!lastCondensation) return [vscode.l10n.t('Not condensed yet')];
  const lines = [
    vscode.l10n.t(
      'Last condensed at {0} with {1}: {2}',
      new Date(lastCondensation.at).toLocaleTimeString(vscode.env.language),
      formatCondensedBy(lastCondensation),
      formatSizeChange(lastCondensation),
    ),
  ];
  if (lastDecision) {
    lines.push(formatCacheStateAndBasis(lastDecision.cache));
    const requests = lastDecision.saving?.breakEvenRequests;
    if (requests !== undefined) lines.push(formatBreakEven(requests));
  }
  if (lastCondensation.use && countUsesOfRemoved(lastCondensation.use) > 0)
    lines.push(formatUseOfRemoved(lastCondensation.use));
  if (isCareful) lines.push(getUseAdvice());
  return lines;
}

export const formatNewResults = ({ newResults }: LiveSummary): string[] =>
  newResults === undefined ? [] : [...formatLeftOutResults(newResults), ...formatRereadResults(newResults.rereads)];

const formatLeftOutResults = ({ results, tokens }: NewResultsSummary): string[] =>
  results === 0
    ? []
    : results === 1
      ? [vscode.l10n.t('Left out of one new result: {0} tokens', formatTokens(tokens))]
      : [vscode.l10n.t('Left out of {0} new results: {1} tokens', results, formatTokens(tokens))];

const formatRereadResults = (rereads: number): string[] =>
  rereads === 0
    ? []
    : rereads === 1
      ? [vscode.l10n.t('Read again right after a reference: once; that file has been sent whole since then')]
      : [
          vscode.l10n.t(
            'Read again right after a reference: {0} times; those files have been sent whole since then',
            rereads,
          ),
        ];

export function formatToolTokens({ tools = [] }: LiveSummary): string[] {
  if (tools.length === 0) return [];
  const unusedTools = tools.filter(isUnusedTool);
  const tokens = formatTokens(sumToolTokens(tools));
  return unusedTools.length === 0
    ? [vscode.l10n.t('Tools: {0} tokens in each request', tokens)]
    : [
        vscode.l10n.t(
          'Tools: {0} tokens in each request; {1} of {2} never called ({3} tokens)',
          tokens,
          unusedTools.length,
          tools.length,
          formatTokens(sumToolTokens(unusedTools)),
        ),
      ];
}

const isUnusedTool = ({ calls, callsElsewhere }: ToolWeight): boolean => calls + callsElsewhere === 0;

export const sumToolTokens = (tools: readonly ToolWeight[]): number =>
  tools.reduce((sum, { tokens }) => sum + tokens, 0);

export function formatCondensationTotals({ condensations }: LiveSummary): string {
  const activeCondensations = condensations.filter(({ isUndone }) => !isUndone);
  const lastCondensation = activeCondensations.at(-1);
  if (!lastCondensation) return vscode.l10n.t('not condensed');
  const { tokensBefore, tokensAfter } = lastCondensation.request ?? lastCondensation;
  const sizeChange = formatPercentChange(tokensBefore, tokensAfter);
  return activeCondensations.length === 1
    ? vscode.l10n.t('condensed once, {0}', sizeChange)
    : vscode.l10n.t('condensed {0} times, last {1}', activeCondensations.length, sizeChange);
}
