import * as vscode from 'vscode';
import type { TaskProgress } from '../background/tasks';
import type { CondensedResult, NotCondensedResult } from '../background/taskResults';
import { isBuiltInProvider } from '../core/condense/types';
import { NoSummarizerError } from '../core/condense/summarizer';
import { getErrorMessage } from '../core/errors';
import { makePricesPlace } from '../core/panelPlaces';
import { formatCondensationMessage, formatProviderNames } from '../window/condensationWords';
import { getAgentRuntime, listLiveConversations } from '../agent/runtime';
import type { LiveSummary } from '../live/types';
import { isRecord } from '../core/messages/blocks';
import { showDetails } from './conversations/details';
import { runInBackground, getLedgerFolder, getSummaries, withCancellation } from '../window/background';
import { askSummarizingModel, chooseCondensingProfile, getProfileAction } from './chooseProvider';
import { recordMetrics } from '../window/metrics';
import { loadModelWindowAndPrices } from './modelFacts';
import { readModelSettings } from '../window/settings/modelSettings';
import { getMessageCounter } from '../window/counter';
import { createEngineHostModels, addConfiguredWarnings } from './native';
import { copyAsPlainData } from '../window/settings/plain';
import { choiceMayCallModel } from './previewSetup';
import { formatRowFill, formatRowFillChange } from '../views/conversations/rowWords';
import { findGiveBackTarget } from '../core/agents/giveBackTarget';
import { isReductionSmall } from '../core/condense/metrics/metrics';
import type { IndexedConversation } from '../background/conversationIndex';
import { readSetting } from '../window/settings/settings';
import { getConversationIndex, getFileName, findNewestConversation } from './conversationIndex';
import { pickConversation } from './pickConversation';
import { resolveProviderConfig, readOwnPresets, getPresetName } from '../window/settings/providerConfig';
import { getSamplePath } from '../window/samplePath';
import { rememberLastCondensation } from '../window/lastCondensation';
import type { LastCondensation, Services } from '../window/services';
import { readManualSettings, type ManualSettings } from '../window/settings/manualSettings';
import { undoLastStoredCondensation } from './undo';
import { showErrorAndLog } from '../window/tellError';
import { showErrorMessage, showInformationMessage, showProgress, showStatusMessage } from '../window/notifications';

/**
 * Condenses without asking; a model costs at most the limit in the settings.
 * @param input a file's path, or `{live: id}` for a chat conversation; default: the user picks
 */
export async function condenseNow(services: Services, input?: unknown): Promise<void> {
  const conversation =
    typeof input === 'string'
      ? { path: input }
      : (findRequestedLiveConversation(services, input) ?? (await pickConversation(services)));
  if (!conversation) return;
  if ('live' in conversation) {
    await getAgentRuntime(services).condense(conversation.live.id);
    return;
  }
  await condenseFileAndWait(services, conversation.path, readManualSettings());
}

/** Returns undefined if the conversation no longer exists. */
function findRequestedLiveConversation(services: Services, input: unknown): { readonly live: LiveSummary } | undefined {
  if (!isRecord(input)) return undefined;
  const liveConversation = listLiveConversations(services).find(({ id }) => id === input['live']);
  return liveConversation && { live: liveConversation };
}

/** Condenses the newest stored conversation, or the sample if there is none. */
export async function condenseNewestConversation(services: Services, sample: string): Promise<void> {
  const newestConversation = await showProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Looking for the newest conversation') },
    () => findNewestConversation(services),
  );
  if (newestConversation) return condenseNow(services, newestConversation.path);
  const reason = vscode.l10n.t('No agent’s conversation was found on this machine.');
  await condenseFileAndWait(services, sample, readManualSettings(), undefined, reason);
}

/** Resolves after the user has answered the notification with the result. */
export async function condenseFileAndWait(...args: Parameters<typeof condenseFileAndReport>): Promise<void> {
  await (
    await condenseFileAndReport(...args)
  ).reported;
}

/**
 * Like {@link condenseFileAndWait}, but resolves after condensing. The result's `reported` may
 * never resolve, because VS Code hides unanswered notifications without closing them.
 * @param reason sentence that precedes the result: why this conversation was condensed
 */
export async function condenseFileAndReport(
  services: Services,
  path: string,
  settings: ManualSettings,
  config: unknown = resolveProviderConfig(settings.provider),
  reason?: string,
): Promise<{ readonly reported: Promise<void> }> {
  const reportErrors = (notification: Promise<void>): { readonly reported: Promise<void> } => ({
    reported: notification.catch((error: unknown) => {
      showErrorAndLog(services, error);
    }),
  });
  const { log } = services;
  const { condensing } = readModelSettings();
  // Without a profile, a model of VS Code can write the summary.
  const pickedModel = settings.provider === 'native' && !condensing ? await askSummarizingModel() : undefined;
  if (pickedModel === 'left') return reportErrors(Promise.resolve());
  const isSample = path === getSamplePath(services.context.extensionPath);
  const progress = {
    location: vscode.ProgressLocation.Notification,
    title: isSample
      ? vscode.l10n.t('Condensing the sample')
      : vscode.l10n.t('Condensing “{0}”', getFileName(services, path)),
    cancellable: true,
  };
  const task = {
    kind: 'condense',
    path,
    agent: getConversationIndex(services).conversations.find((each) => each.path === path)?.agent,
    history: settings.history,
    provider: settings.provider,
    config,
    ...(settings.provider === 'smart' && { configName: getPresetName(config) }),
    targetPercent: settings.targetPercent,
    coherenceFloor: settings.coherenceFloor,
    ...(settings.excluded && { excluded: settings.excluded }),
    store: getLedgerFolder(services),
  } as const;
  try {
    const result = await showProgress(progress, (report, token) =>
      withCancellation(token, async (signal) => {
        const onProgress = ({ step }: TaskProgress): void => {
          report.report({ message: step });
        };
        const models = readModelSettings();
        const isFromExtension = !isBuiltInProvider(settings.provider);
        if (!isFromExtension && !choiceMayCallModel(settings.provider, task.config))
          return addConfiguredWarnings(await runInBackground(services, task, signal, onProgress), models);
        if (settings.provider === 'native' && !models.condensing && !pickedModel)
          throw new NoSummarizerError(vscode.l10n.t('No model for summaries is chosen.'));
        const summarizingModel = pickedModel && { profile: pickedModel, billing: 'included' as const };
        const { registered } = services;
        const engineTask = {
          ...task,
          config: copyAsPlainData({ config: task.config }).config,
          paid: {
            presets: copyAsPlainData(readOwnPresets()),
            maxCost: models.maxCost,
            summaries: getSummaries(services).folder,
          },
          // A strategy may name registered providers too.
          ...((isFromExtension || settings.provider === 'strategy') && { registered: registered.describeProviders() }),
        };
        const calls = registered.createCalls(() => getMessageCounter(services));
        return addConfiguredWarnings(
          await runInBackground(
            services,
            engineTask,
            signal,
            onProgress,
            createEngineHostModels(services, summarizingModel),
            calls,
          ),
          models,
        );
      }),
    );
    log.info(`${path}\n${result.report}`);
    await recordMetrics(services, result.metrics, settings.provider, config);
    return reportErrors(
      result.kind === 'condensed'
        ? showCondensedMessage(services, result, { provider: settings.provider, config }, reason)
        : showUnchangedMessage(services, result, settings),
    );
  } catch (error) {
    if (error instanceof vscode.CancellationError) {
      log.info(`${path}\nCanceled. Nothing was condensed.`);
      void showStatusMessage(vscode.l10n.t('Canceled. Nothing was condensed.'), 5_000);
      return reportErrors(Promise.resolve());
    }
    return reportErrors(
      showErrorWithRetry(services, error, () => condenseFileAndWait(services, path, settings, config)),
    );
  }
}

/** Shows the result. Its actions stay available until one of them closes the notification. */
async function showCondensedMessage(
  services: Services,
  result: CondensedResult,
  choice: LastCondensation['choice'],
  reason: string | undefined,
): Promise<void> {
  const { provider, tokensBefore, tokensAfter, cost, before, after, firstChange } = result;
  const { id, title, path } = result.conversation;
  const lastCondensation = { conversation: id, title, path, choice, tokensAfter, notes: result.notes };
  rememberLastCondensation(services, lastCondensation);
  services.condensed.fire({ source: 'command', conversation: id, provider, tokensBefore, tokensAfter, cost });
  const providerNames = formatProviderNames(services, result);
  const indexedConversation = getConversationIndex(services).conversations.find((each) => each.path === path);
  const isSample = path === getSamplePath(services.context.extensionPath);
  const canGiveBack = !isSample && findGiveBackTarget(path, indexedConversation?.agent) !== undefined;
  const message = formatCondensationMessage({
    ...result,
    provider: providerNames,
    title,
    isSample,
    full: indexedConversation && !isSample ? describeFill(indexedConversation, result, canGiveBack) : undefined,
    isSmall: isReductionSmall(result.metrics, readModelSettings().warnings),
  });
  const summary = reason === undefined ? message : `${reason} ${message}`;
  let comparison: string | undefined;
  const showDiffLabel = vscode.l10n.t('Show Diff');
  const condenseWithLabel = vscode.l10n.t('Condense With…');
  const undoLabel = vscode.l10n.t('Undo');
  const detailsLabel = vscode.l10n.t('Details');
  const giveBackLabel = vscode.l10n.t('Give Back…');
  const exportLabel = vscode.l10n.t('Export…');
  const useLabels = isSample ? [] : [canGiveBack ? giveBackLabel : exportLabel];
  const labels = [showDiffLabel, ...useLabels, condenseWithLabel, undoLabel, detailsLabel];
  for (;;) {
    switch (await showInformationMessage(summary, ...labels)) {
      case showDiffLabel:
        // Later comparisons may have removed this comparison from memory, so add it again.
        if (comparison === undefined || !services.comparisons.hasComparison(comparison)) {
          comparison = services.comparisons.addComparison({
            conversation: id,
            title,
            by: providerNames,
            before,
            after,
            firstChange,
          });
        }
        await services.comparisons.showComparison(comparison);
        break;
      case giveBackLabel:
        await vscode.commands.executeCommand('contextCondenser.conversations.giveBack', path);
        return;
      case exportLabel:
        await vscode.commands.executeCommand('contextCondenser.conversations.export', path);
        return;
      case condenseWithLabel:
        await vscode.commands.executeCommand('contextCondenser.condenseFurther', path);
        return;
      case undoLabel:
        await undoLastStoredCondensation(services, id);
        return;
      case detailsLabel:
        await showDetails(services, path);
        break;
      default:
        return;
    }
  }
}

/** Condensing changes only our own copy, so the agent's window stays as full as it was. */
function describeFill(
  conversation: IndexedConversation,
  result: CondensedResult,
  canGiveBack: boolean,
): string | undefined {
  const window = readSetting('conversations.contextWindow');
  if (canGiveBack) {
    const change = formatRowFillChange(conversation, result, window);
    return change && vscode.l10n.t('{0} once given back', change);
  }
  const fill = formatRowFill(conversation, window);
  return fill && vscode.l10n.t('the session itself stays {0}', fill);
}

type FailureAction = 'retry' | 'otherProfile' | 'otherProvider' | 'truncation';

/** Returns the actions for a failure, at least one. */
export function chooseFailureActions(
  { reason, advice }: NotCondensedResult,
  provider: string,
): readonly FailureAction[] {
  if (reason === 'failed' || reason === 'refused') {
    const { canRetry = true, offerOtherProfile = false } = advice ?? {};
    return [
      ...(canRetry ? ['retry' as const] : []),
      ...(offerOtherProfile ? ['otherProfile' as const] : []),
      'otherProvider',
    ];
  }
  return [provider === 'lossless' || provider === 'native' ? 'truncation' : 'otherProvider'];
}

async function showUnchangedMessage(
  services: Services,
  result: NotCondensedResult,
  settings: ManualSettings,
): Promise<void> {
  const { path } = result.conversation;
  const { profiles } = readModelSettings();
  const condenseWith = async (provider: string | undefined): Promise<void> => {
    if (provider !== undefined) await condenseFileAndWait(services, path, { ...settings, provider });
  };
  const otherProfile =
    profiles.length > 1
      ? { label: vscode.l10n.t('Use Another Model'), follow: chooseCondensingProfile }
      : getProfileAction();
  const actions: Readonly<Record<FailureAction, { readonly label: string; readonly follow: () => Promise<void> }>> = {
    retry: { label: vscode.l10n.t('Retry'), follow: () => condenseWith(settings.provider) },
    otherProfile: {
      label: otherProfile.label,
      follow: async () => condenseWith((await otherProfile.follow()) ? settings.provider : undefined),
    },
    otherProvider: {
      label: vscode.l10n.t('Condense With…'),
      follow: async () => vscode.commands.executeCommand('contextCondenser.condenseFurther', path),
    },
    truncation: { label: vscode.l10n.t('Use Truncation'), follow: () => condenseWith('truncation') },
  };
  const details = {
    label: vscode.l10n.t('Details'),
    follow: () => {
      services.log.show();
    },
  };
  const limitActions = result.reason === 'over-budget' ? [await createLimitAction()] : [];
  const offeredActions = [
    ...limitActions,
    ...chooseFailureActions(result, settings.provider).map((id) => actions[id]),
    details,
  ];
  const [headline = ''] = result.report.split('\n');
  const choice = await showInformationMessage(headline, ...offeredActions.map(({ label }) => label));
  await offeredActions.find(({ label }) => label === choice)?.follow();
}

/**
 * Returns an action that leads to the profiles if the price is unknown, or else to the setting of
 * the limit.
 */
async function createLimitAction(): Promise<{ readonly label: string; readonly follow: () => Thenable<unknown> }> {
  const { condensing } = readModelSettings();
  const isUnpriced = condensing && (await loadModelWindowAndPrices(condensing)).prices === undefined;
  return isUnpriced
    ? {
        label: vscode.l10n.t('Set Prices…'),
        follow: () => vscode.commands.executeCommand('contextCondenser.openSettings', makePricesPlace(condensing.id)),
      }
    : {
        label: vscode.l10n.t('Open Setting'),
        follow: () =>
          vscode.commands.executeCommand(
            'workbench.action.openSettings',
            '@id:contextCondenser.maxCostPerCondensation',
          ),
      };
}

export async function showErrorWithRetry(
  services: Services,
  error: unknown,
  retry: () => Promise<void>,
): Promise<void> {
  const message = getErrorMessage(error);
  services.log.error(message);
  const retryLabel = vscode.l10n.t('Retry');
  const detailsLabel = vscode.l10n.t('Details');
  const text = vscode.l10n.t('Nothing was condensed. {0}', message);
  const action = error instanceof NoSummarizerError ? getProfileAction() : undefined;
  const choice = await showErrorMessage(text, action?.label ?? retryLabel, detailsLabel);
  if (choice === retryLabel || (action && choice === action.label && (await action.follow()))) await retry();
  if (choice === detailsLabel) services.log.show();
}
