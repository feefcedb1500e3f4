import * as vscode from 'vscode';
import { getLiveLedgerFolder, getRunningFolder, getSummaries, withCancellation } from '../window/background';
import { getChatThread } from '../window/engineThread';
import { createHostModels } from '../window/hostModels';
import { createWindowModels } from '../window/models';
import { copyAsPlainData } from '../window/settings/plain';
import { languageModels } from '../window/languageModels';
import { getOriginalDocuments } from '../window/originals';
import { recordMetrics, openMetricsStore } from '../window/metrics';
import { readModelSettings } from '../window/settings/modelSettings';
import { getMessageCounter } from '../window/counter';
import { resolveProviderConfig, readOwnPresets, readSummaryPreferences } from '../window/settings/providerConfig';
import type { Services } from '../window/services';
import { formatOutcomeReport } from '../core/condense/report/report';
import { getErrorMessage } from '../core/errors';
import { chooseThreshold } from '../settings/profiles';
import { ChatSpending, getSettingNameForLimit } from './chatSpending';
import { CondensingProvider } from './condensingProvider';
import { ApiHandlerCache } from './handlers';
import { LiveClient } from '../engine/live/client';
import { createMetricsOfEvent } from '../live/metricsOfEvent';
import type { GatewayAnnouncement } from '../gateway/announcement';
import { RunningConversations } from '../gateway/runningConversations';
import type { ManualCondensationResult, LiveControls, LiveSummary, LiveView, WindowEngine } from '../live/types';
import type { LiveId } from '../live/request';
import type { LiveEvent } from '../live/events';
import { showLiveDetails, showCommandOutcome, type DetailsDependencies } from './liveDetails';
import { ModelCatalog } from './modelCatalog';
import { GATEWAY_TERMINAL_NAME } from './names';
import { ModelGroups } from './modelGroups';
import { showAgentCondensedNotice, showLimitWarning, showLiveEvent } from './notices';
import type { WrappedModel } from './offeredModels';
import { RecallTool } from './recallTool';
import { openSpending } from '../window/spending';
import { FILE_AWARE_NAME, getProviderName } from '../core/condense/types';
import { readSetting, watchSettings } from '../window/settings/settings';
import { showLiveDiff } from './liveDetails';
import { rememberLastCondensation } from '../window/lastCondensation';
import { LiveStatusBar, formatCondensedBy, formatSizeChange } from './statusBar';
import { chooseWrappedModels } from './wrappedModels';
import { readAgentSettings, readConversationLimits, readLiveSettings } from './settings';
import { showErrorMessage, showInformationMessage, showProgress, showWarningMessage } from '../window/notifications';

const WRAPPED_MODELS_STATE_KEY = 'contextCondenser.knownModels';

export class AgentRuntime implements vscode.Disposable {
  readonly catalog: ModelCatalog;
  readonly provider: CondensingProvider;
  readonly recall: RecallTool;
  /**
   * Events of the chat's conversations; `elsewhere` if a gateway's conversation may have changed.
   */
  readonly liveEvents = new vscode.EventEmitter<LiveEvent | { readonly kind: 'elsewhere' }>();
  private readonly modelGroups: ModelGroups;
  private readonly statusBar = new LiveStatusBar();
  private readonly runningConversations: RunningConversations;
  private readonly subscriptions: { dispose(): unknown }[] = [];
  private startedClient: LiveClient | undefined;
  private isPaused = false;

  constructor(private readonly services: Services) {
    const { context, log, modelsChanged } = services;
    const fireModelsChanged = (): void => {
      modelsChanged.fire();
    };
    const loadCounter = () => getMessageCounter(services);
    this.catalog = new ModelCatalog({
      models: languageModels,
      profiles: () => readModelSettings().profiles,
      wrapped: () => readSetting('agent.wrappedModels'),
      remembered: {
        get: () => context.globalState.get<readonly WrappedModel[]>(WRAPPED_MODELS_STATE_KEY, []),
        set: (models) => void context.globalState.update(WRAPPED_MODELS_STATE_KEY, models),
      },
      onDidChange: fireModelsChanged,
    });
    this.runningConversations = new RunningConversations({
      folder: getRunningFolder(services),
      onChange: () => {
        this.liveEvents.fire({ kind: 'elsewhere' });
        this.updateStatusBar();
      },
      onCondensed: (conversation) => {
        this.recordCondensed(conversation);
      },
      onExhausted: (text) => {
        log.warn(text);
        if (readSetting('notifications') !== 'none') void showWarningMessage(text);
      },
      onNotice: ({ words: text, about }) => void showLimitWarning(text, getSettingNameForLimit(about)),
      onGone: () => void this.offerGateway(),
      onUnwatched: (reason) => {
        log.warn(`The folder of the gateways can’t be watched, so it is read every few seconds. ${reason}`);
      },
    });
    void this.refreshRunningConversations().then(() => this.endGatewayIfOff());
    this.modelGroups = new ModelGroups(fireModelsChanged);
    this.recall = new RecallTool(() => Promise.resolve(this.chat));
    this.provider = new CondensingProvider({
      catalog: this.catalog,
      groups: this.modelGroups,
      handlers: new ApiHandlerCache({ secrets: context.secrets, models: languageModels, counter: loadCounter }),
      counter: loadCounter,
      live: () => Promise.resolve(this.chat),
      settings: readAgentSettings,
      threshold: (profile) => chooseThreshold(profile, readModelSettings().threshold),
      summaries: (profile) => ({ ...readSummaryPreferences(profile), mayCost: readModelSettings().maxCost > 0 }),
      spending: new ChatSpending({
        spending: openSpending(services),
        limits: readConversationLimits,
        tell: (text, name) => void showLimitWarning(text, name),
        log,
      }),
      onCall: (conversation, name, input) => {
        this.recall.recordCaller(conversation, name, input);
      },
      log,
    });
    this.subscriptions.push(
      this.liveEvents,
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration('contextCondenser')) return;
        this.startedClient?.configure();
        this.updateStatusBar();
        void this.endGatewayIfOff();
        if (event.affectsConfiguration('contextCondenser.agent'))
          void this.runningConversations.setLimits(readConversationLimits());
        // These settings change properties that models declare to VS Code.
        if (
          event.affectsConfiguration('contextCondenser.automatic') ||
          event.affectsConfiguration('contextCondenser.agent')
        )
          fireModelsChanged();
        this.refreshModels();
      }),
      vscode.lm.onDidChangeChatModels(() => {
        this.refreshModels();
      }),
    );
    watchSettings(services);
  }

  /** Conversations of VS Code's chat. They run in an engine thread, which starts on first use. */
  get chat(): LiveClient {
    return (this.startedClient ??= this.startLiveEngine());
  }

  private get engines(): readonly WindowEngine[] {
    return this.startedClient ? [this.startedClient, this.runningConversations] : [this.runningConversations];
  }

  private findEngine(conversation: LiveId): WindowEngine {
    return this.engines.find((engine) => engine.has(conversation)) ?? this.chat;
  }

  /** Most recently used first. */
  listConversations(): LiveSummary[] {
    return this.engines.flatMap((engine) => engine.list()).toSorted((a, b) => b.lastUsed - a.lastUsed);
  }

  /** Reads which gateways run. Call this before starting one. */
  refreshRunningConversations(): Promise<void> {
    return this.runningConversations.refresh();
  }

  /** The gateway that other extensions share, whichever window runs it; undefined if none runs. */
  get sharedGateway(): GatewayAnnouncement | undefined {
    return this.runningConversations.shared;
  }

  /** @throws Error with text for the user if the gateway does not answer */
  endSharedGateway(): Promise<void> {
    return this.runningConversations.endSharedGateway();
  }

  /** Returns undefined until {@link loadView} has loaded the view. */
  getCachedView(conversation: LiveId): LiveView | undefined {
    return this.engines.map((engine) => engine.getCachedView(conversation)).find((view) => view !== undefined);
  }

  /**
   * Loads a conversation's view and keeps it current.
   * @throws Error with text for the user if its engine does not answer
   */
  loadView(conversation: LiveId): Promise<LiveView | undefined> {
    return this.findEngine(conversation).view(conversation);
  }

  createLiveControls(): LiveControls {
    return {
      list: () => this.listConversations(),
      view: (id) => this.loadView(id),
      compare: (id) => this.findEngine(id).compare(id),
      outline: (id) => this.findEngine(id).outline(id),
      undo: (id) => this.findEngine(id).undo(id),
      redo: (id) => this.findEngine(id).redo(id),
      toggleEdit: (id, edit) => this.findEngine(id).toggleEdit(id, edit),
      pin: (id, message) => this.findEngine(id).pin(id, message),
      unpin: (id, message) => this.findEngine(id).unpin(id, message),
    };
  }

  async undo(conversation: string): Promise<void> {
    const liveConversation = this.listConversations().find(({ id }) => id === conversation);
    if (liveConversation) {
      await showCommandOutcome(this.createLiveControls().undo(liveConversation.id));
      await this.services.comparisons.closeComparisons(conversation);
    } else void showErrorMessage(vscode.l10n.t('Nothing was undone. The conversation is no longer in memory.'));
  }

  async showDiff(conversation: LiveId): Promise<void> {
    const { comparisons } = this.services;
    await showLiveDiff(this.createLiveControls(), comparisons, conversation);
  }

  chooseWrappedModels(): Promise<void> {
    return chooseWrappedModels(languageModels, readSetting('agent.wrappedModels'));
  }

  /** @param conversation default: the only one, or the user's choice */
  async showDetails(conversation?: LiveId): Promise<void> {
    const dependencies: DetailsDependencies = {
      live: this.createLiveControls(),
      condense: (id, provider, config) => this.condense(id, provider, config),
      showDiff: (id) => this.showDiff(id),
      pause: (id, isPaused) => this.setPaused(id, isPaused),
      openOriginal: (id) => getOriginalDocuments(this.services).chooseOriginal(id, getLiveLedgerFolder(this.services)),
    };
    await showLiveDetails(dependencies, conversation);
  }

  private async setPaused(conversation: LiveId, isPaused: boolean): Promise<void> {
    if (this.runningConversations.has(conversation)) {
      await this.runningConversations.pause(conversation, isPaused).catch((error: unknown) => {
        void showErrorMessage(getErrorMessage(error));
      });
      return;
    }
    this.isPaused = isPaused;
    this.startedClient?.configure();
    this.updateStatusBar();
  }

  /** Condenses with progress and cancel. The next request is sent condensed. */
  async condense(
    conversation: LiveId,
    provider = readSetting('provider'),
    config = resolveProviderConfig(provider),
  ): Promise<void> {
    const agent = this.listConversations().find(({ id }) => id === conversation)?.agent;
    const progress = {
      location: vscode.ProgressLocation.Notification,
      title:
        agent === undefined
          ? vscode.l10n.t('Condensing the conversation of the chat')
          : vscode.l10n.t('Condensing the conversation of {0}', agent),
      cancellable: true,
    };
    const targetPercent = readSetting('manual.targetPercent');
    const options = { provider, config, targetPercent };
    let result: ManualCondensationResult;
    try {
      result = await showProgress(progress, (_report, token) =>
        withCancellation(token, (signal) => this.findEngine(conversation).condenseNow(conversation, options, signal)),
      );
    } catch (error) {
      if (error instanceof vscode.CancellationError) return;
      const reason = getErrorMessage(error);
      void showErrorMessage(vscode.l10n.t('Nothing was condensed. {0}', reason));
      return;
    }
    if (result.kind === 'condensed') return;
    this.offerStrongerProviders(conversation, provider, result.words || vscode.l10n.t('Nothing was condensed.'));
  }

  private offerStrongerProviders(conversation: LiveId, provider: string, text: string): void {
    const fileAwareLabel = vscode.l10n.t('Use {0}', FILE_AWARE_NAME);
    const truncationLabel = vscode.l10n.t('Use Truncation');
    const choices = [
      ...(provider === 'lossless' ? [fileAwareLabel] : []),
      ...(provider === 'truncation' ? [] : [truncationLabel]),
    ];
    // Not awaited: the command is done before the notification closes.
    void showInformationMessage(text, ...choices).then((choice) => {
      if (choice === fileAwareLabel) return this.condense(conversation, 'smart', 'file-aware');
      return choice === truncationLabel ? this.condense(conversation, 'truncation') : undefined;
    });
  }

  dispose(): void {
    void this.startedClient?.close();
    this.runningConversations.dispose();
    this.modelGroups.dispose();
    this.statusBar.dispose();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private readonly providerName = (id: string): string => getProviderName(id, this.services.registered.listProviders());

  private startLiveEngine(): LiveClient {
    const { services } = this;
    const { registered, log } = services;
    const chatThread = getChatThread(services);
    const loadWindowModels = async () =>
      createWindowModels(services, await getMessageCounter(services), openMetricsStore(services));
    const liveClient = new LiveClient({
      engine: () => chatThread.engine,
      root: getLiveLedgerFolder(services),
      summaries: getSummaries(services).folder,
      headline: (outcome) => formatOutcomeReport(outcome, this.providerName).split('\n')[0] ?? '',
      setup: () => ({
        settings: copyAsPlainData({ ...readLiveSettings(), isPaused: this.isPaused }),
        presets: copyAsPlainData(readOwnPresets()),
        registered: registered.describeProviders(),
      }),
      models: (loadOwnModel) =>
        createHostModels({
          models: loadWindowModels,
          getOwnModelLoader: loadOwnModel,
          warn: (text) => {
            log.warn(text);
          },
        }),
      providers: registered.createCalls(() => getMessageCounter(services)),
    });
    liveClient.on((event) => {
      this.handleLiveEvent(event);
      const noticeDependencies = {
        providerName: this.providerName,
        kind: () => readSetting('notifications'),
        targetPercent: () => readSetting('manual.targetPercent'),
        log,
        undo: (conversation: LiveId) => this.undo(conversation),
        showDiff: (conversation: LiveId) => this.showDiff(conversation),
        showDetails: (conversation: LiveId) => this.showDetails(conversation),
        getTitle: (conversation: LiveId) => this.listConversations().find(({ id }) => id === conversation)?.title,
      };
      void showLiveEvent(event, noticeDependencies);
    });
    return liveClient;
  }

  /** Ends this window's gateway if the user turned the feature off. */
  private async endGatewayIfOff(): Promise<void> {
    const gateway = this.sharedGateway;
    if (!gateway || readSetting('automatic')) return;
    for (const { name, processId } of vscode.window.terminals) {
      if (name !== GATEWAY_TERMINAL_NAME || (await processId) !== gateway.pid) continue;
      await this.endSharedGateway().catch((error: unknown) => {
        this.services.log.warn(getErrorMessage(error));
      });
    }
  }

  /** Offers a new gateway after the shared one has ended, since its clients' requests will fail. */
  private async offerGateway(): Promise<void> {
    if (!readSetting('automatic')) return;
    const startLabel = vscode.l10n.t('Start It Here');
    const text = vscode.l10n.t(
      'The gateway for agent extensions has ended with the window or terminal that it ran in. Requests from extensions that use its address fail until it runs again; the address stays the same.',
    );
    if ((await showWarningMessage(text, startLabel)) !== startLabel) return;
    await vscode.commands.executeCommand('contextCondenser.openGateway');
  }

  private refreshModels(): void {
    this.catalog.refreshModels().catch((error: unknown) => {
      this.services.log.warn(`The models of the chat could not be read. ${getErrorMessage(error)}`);
    });
  }

  private handleLiveEvent(event: LiveEvent): void {
    this.liveEvents.fire(event);
    this.updateStatusBar();
    const metrics = createMetricsOfEvent(event, readSetting('provider'), new Date());
    if (metrics) void recordMetrics(this.services, metrics, readSetting('provider'));
    if (event.kind !== 'condensed') return;
    const { provider, tokensBefore, tokensAfter, cost } = event.outcome;
    const { conversation } = event;
    const title = this.startedClient?.list().find(({ id }) => id === conversation)?.title ?? '';
    const choice = { provider, config: resolveProviderConfig(provider) };
    rememberLastCondensation(this.services, { conversation, title, isLive: true, choice, tokensAfter });
    this.services.condensed.fire({ source: 'agent', conversation, provider, tokensBefore, tokensAfter, cost });
  }

  private updateStatusBar(): void {
    this.statusBar.show(this.listConversations()[0], !readSetting('automatic'));
  }

  private recordCondensed(conversation: LiveSummary): void {
    const { id, title, agent = '' } = conversation;
    const lastCondensation = conversation.condensations.findLast(({ isUndone }) => !isUndone);
    if (!lastCondensation) return;
    const { provider, tokensBefore, tokensAfter, cost } = lastCondensation;
    const text = vscode.l10n.t(
      '{0}: condensed with {1}, {2}',
      agent,
      formatCondensedBy(lastCondensation),
      formatSizeChange(lastCondensation),
    );
    this.services.log.info(`${text}\n - ${title}`);
    const choice = { provider, config: resolveProviderConfig(provider) };
    rememberLastCondensation(this.services, { conversation: id, title, isLive: true, choice, tokensAfter });
    this.services.condensed.fire({ source: 'agent', conversation: id, provider, tokensBefore, tokensAfter, cost });
    void showAgentCondensedNotice(text, {
      kind: readSetting('notifications'),
      undo: () => this.undo(id),
      showDiff: () => this.showDiff(id),
    });
  }
}

/** Returns undefined before agent mode has started. */
export const getSharedGateway = (services: Services): GatewayAnnouncement | undefined =>
  runtimeByServices.get(services)?.sharedGateway;

/** Most recently used first. */
export const listLiveConversations = (services: Services): readonly LiveSummary[] =>
  runtimeByServices.get(services)?.listConversations() ?? [];

const runtimeByServices = new WeakMap<Services, AgentRuntime>();

export function getAgentRuntime(services: Services): AgentRuntime {
  const existingRuntime = runtimeByServices.get(services);
  if (existingRuntime) return existingRuntime;
  const runtime = new AgentRuntime(services);
  runtimeByServices.set(services, runtime);
  services.context.subscriptions.push(runtime);
  return runtime;
}
