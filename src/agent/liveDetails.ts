import * as vscode from 'vscode';
import { formatTokens } from '../core/format';
import { FILE_AWARE_NAME, PROVIDER_NAMES } from '../core/condense/types';
import { getErrorMessage } from '../core/errors';
import { formatUseOfRemoved } from '../window/condensationWords';
import type { CommandResult, LiveControls, LiveSummary } from '../live/types';
import type { LiveDecision } from '../live/events';
import type { LiveId } from '../live/request';
import { chooseEdits, choosePins } from './liveLists';
import { explainCacheState, formatCacheState, formatCondensationSavings } from './formatCache';
import { formatReasonLine } from './notices';
import {
  formatCondensationTotals,
  formatNewResults,
  formatLastCondensation,
  formatCondensedBy,
  formatSizeChange,
  sumToolTokens,
  formatToolTokens,
  describeNextCondensation,
} from './statusBar';
import type { ToolWeight } from '../live/toolWeights';
import type { ComparisonDocuments } from '../window/comparisons';
import { toTabName } from '../window/fileName';
import { pickOneItem, showErrorMessage, showInformationMessage } from '../window/notifications';

export interface DetailsDependencies {
  readonly live: LiveControls;
  readonly condense: (conversation: LiveId, provider?: 'smart', config?: 'file-aware') => Promise<void>;
  readonly showDiff: (conversation: LiveId) => Promise<void>;
  readonly pause: (conversation: LiveId, isPaused: boolean) => Promise<void>;
  readonly openOriginal: (conversation: LiveId) => Promise<void>;
}

interface ActionItem extends vscode.QuickPickItem {
  readonly run?: () => PromiseLike<unknown>;
}

export async function showLiveDetails(dependencies: DetailsDependencies, id?: LiveId): Promise<void> {
  const [firstConversation, ...otherConversations] = dependencies.live
    .list()
    .filter((each) => id === undefined || each.id === id);
  if (!firstConversation) {
    void showInformationMessage(
      vscode.l10n.t(
        'No running conversation is being condensed. Choose a condensed model in the chat’s model picker, or open an agent in a terminal.',
      ),
    );
    return;
  }
  const conversation =
    otherConversations.length === 0
      ? firstConversation
      : await chooseLiveConversation([firstConversation, ...otherConversations]);
  if (conversation) await showConversationActions(conversation, dependencies);
}

export const toConversationItem = (conversation: LiveSummary) => ({
  conversation,
  label: `$(${conversation.agent === undefined ? 'comment-discussion' : 'terminal'}) ${conversation.title}`,
  description: vscode.l10n.t(
    '{0} of {1} tokens',
    formatTokens(conversation.tokens),
    formatTokens(conversation.contextWindow),
  ),
  detail: [
    ...(conversation.agent === undefined ? [] : [conversation.agent]),
    formatCondensationTotals(conversation),
  ].join(' · '),
});

async function chooseLiveConversation(conversations: readonly LiveSummary[]): Promise<LiveSummary | undefined> {
  const title = vscode.l10n.t('Running conversations that are condensed');
  return (await pickOneItem(conversations.map(toConversationItem), { title }))?.conversation;
}

const wouldFileAwareHelp = ({ whyNot, tokens, thresholdTokens, condensedBy }: LiveSummary): boolean =>
  whyNot !== undefined && tokens >= thresholdTokens && condensedBy === PROVIDER_NAMES.lossless;

async function showConversationActions(
  conversation: LiveSummary,
  { live, condense, showDiff, pause, openOriginal }: DetailsDependencies,
): Promise<void> {
  const { id, canUndo, canRedo, pinned, condensations, contextWindow, tokens, lastDecision, isPaused } = conversation;
  const makeSeparator = (label: string): ActionItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const makeAction = (
    label: string,
    run: () => PromiseLike<unknown>,
    description = '',
    detail?: string,
  ): ActionItem => ({
    label,
    description,
    ...(detail !== undefined && { detail }),
    run,
  });
  const appliedCondensations = condensations.filter(({ isUndone }) => !isUndone);
  const isCondensed = appliedCondensations.length > 0 || (conversation.newResults?.results ?? 0) > 0;
  const items: ActionItem[] = [
    makeAction(
      `$(archive) ${vscode.l10n.t('Condense Now')}`,
      () => condenseFromEditor(id, condense),
      vscode.l10n.t('{0} of {1} tokens', formatTokens(tokens), formatTokens(contextWindow)),
      describeNextCondensation(conversation),
    ),
    ...(wouldFileAwareHelp(conversation)
      ? [
          makeAction(
            `$(archive) ${vscode.l10n.t('Use {0}', FILE_AWARE_NAME)}`,
            () => condenseFromEditor(id, () => condense(id, 'smart', 'file-aware')),
            vscode.l10n.t('removes what is least likely to be needed'),
          ),
        ]
      : []),
    isPaused
      ? makeAction(`$(debug-start) ${vscode.l10n.t('Resume Condensing')}`, () => pause(id, false))
      : makeAction(`$(debug-pause) ${vscode.l10n.t('Pause Condensing')}`, () => pause(id, true)),
    ...(isCondensed ? [makeAction(`$(diff) ${vscode.l10n.t('Show Diff')}`, () => showDiff(id))] : []),
    ...(canUndo
      ? [
          makeAction(
            `$(discard) ${appliedCondensations.length > 0 ? vscode.l10n.t('Undo the Last Condensation') : vscode.l10n.t('Send New Results Whole')}`,
            () => showCommandOutcome(live.undo(id)),
            appliedCondensations.length > 0
              ? formatLastCondensation(conversation)[0]
              : formatNewResults(conversation).join(' · '),
          ),
        ]
      : []),
    ...(canRedo ? [makeAction(`$(redo) ${vscode.l10n.t('Redo')}`, () => showCommandOutcome(live.redo(id)))] : []),
    ...(isCondensed
      ? [
          makeAction(`$(list-selection) ${vscode.l10n.t('Choose What Stays Condensed…')}`, () => chooseEdits(live, id)),
          makeAction(`$(link) ${vscode.l10n.t('Open Original…')}`, () => openOriginal(id)),
        ]
      : []),
    makeAction(
      `$(pin) ${vscode.l10n.t('Pin Messages…')}`,
      () => choosePins(live, conversation),
      vscode.l10n.t('{0} pinned', pinned.length),
    ),
    ...(conversation.tools
      ? [
          makeAction(
            `$(tools) ${vscode.l10n.t('Tool Definitions…')}`,
            () => showToolWeights(conversation),
            formatToolTokens(conversation)[0],
          ),
        ]
      : []),
    makeAction(`$(gear) ${vscode.l10n.t('Settings')}`, () =>
      vscode.commands.executeCommand('workbench.action.openSettings', 'contextCondenser'),
    ),
    ...(condensations.length > 0 ? [makeSeparator(vscode.l10n.t('Condensations'))] : []),
    ...condensations
      .toReversed()
      .map((condensation, index) => ({ condensation, index, ...condensation }))
      .flatMap(({ condensation, index, at, isUndone, use }) => [
        {
          label: formatSizeChange(condensation),
          description: [
            formatCondensedBy(condensation),
            new Date(at).toLocaleTimeString(vscode.env.language),
            ...(isUndone ? [vscode.l10n.t('undone')] : []),
          ].join(' · '),
          detail: [
            ...(index === 0 && lastDecision ? [`${formatReasonLine(lastDecision)}.`] : []),
            ...(use && use.turns > 0 ? [formatUseOfRemoved(use)] : []),
          ].join(' '),
        },
        ...(index === 0 && lastDecision ? [toCacheItem(lastDecision)] : []),
      ]),
  ];
  const pickedItem = await pickOneItem(items, { title: conversation.title });
  await pickedItem?.run?.();
}

/** Makes a row about the prompt cache. It is separate, because lists truncate long lines. */
const toCacheItem = (decision: LiveDecision): vscode.QuickPickItem => ({
  label: formatCacheState(decision.cache),
  description: explainCacheState(decision.cache),
  detail: formatCondensationSavings(decision),
});

async function showToolWeights({ tools = [], agent, title }: LiveSummary): Promise<void> {
  const servers = [...new Set(tools.map(({ server }) => server))];
  const configureItems =
    agent === undefined ? [{ label: `$(settings-gear) ${vscode.l10n.t('Choose the Chat’s Tools…')}` }] : [];
  const serversByWeight = servers
    .map((server) => ({ server, own: tools.filter((tool) => tool.server === server) }))
    .toSorted((a, b) => sumToolTokens(b.own) - sumToolTokens(a.own));
  const items: vscode.QuickPickItem[] = [
    ...configureItems,
    ...serversByWeight.flatMap(({ server, own }) => [
      {
        label: vscode.l10n.t(
          '{0}: {1} tokens',
          server ?? vscode.l10n.t('Built in and from extensions'),
          formatTokens(sumToolTokens(own)),
        ),
        kind: vscode.QuickPickItemKind.Separator,
      },
      ...own.map(toToolItem),
    ]),
  ];
  const pickedItem = await pickOneItem(items, {
    title: vscode.l10n.t('{0}: the tokens that its tools take in each request', toTabName(title)),
    matchOnDescription: true,
  });
  if (pickedItem && pickedItem === configureItems[0])
    await vscode.commands.executeCommand('workbench.action.chat.configureTools');
}

const toToolItem = ({ name, tokens, calls, callsElsewhere }: ToolWeight): vscode.QuickPickItem => ({
  label: name,
  description: [
    vscode.l10n.t('{0} tokens', formatTokens(tokens)),
    calls + callsElsewhere === 0
      ? vscode.l10n.t('not called yet')
      : vscode.l10n.t('calls here: {0}, in other conversations: {1}', calls, callsElsewhere),
  ].join(' · '),
});

/**
 * Without this, VS Code would focus the status bar item, whose tooltip covers the progress and its
 * Cancel button (seen in 1.139).
 */
async function condenseFromEditor(id: LiveId, condense: DetailsDependencies['condense']): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
  await condense(id);
}

export async function showCommandOutcome(result: Promise<CommandResult>): Promise<void> {
  try {
    void showInformationMessage((await result).detail);
  } catch (error) {
    void showErrorMessage(getErrorMessage(error));
  }
}

export async function showLiveDiff(live: LiveControls, comparisons: ComparisonDocuments, id: LiveId): Promise<void> {
  const diffTexts = await live.compare(id);
  const { title = '', condensations = [] } = live.list().find((conversation) => conversation.id === id) ?? {};
  if (!diffTexts) {
    void showInformationMessage(vscode.l10n.t('This conversation is no longer in memory.'));
    return;
  }
  const comparison = comparisons.addComparison({
    conversation: id,
    title,
    by: [...new Set(condensations.filter(({ isUndone }) => !isUndone).map(formatCondensedBy))].join(', then '),
    ...diffTexts,
  });
  await comparisons.showComparison(comparison);
}
