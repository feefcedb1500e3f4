import * as vscode from 'vscode';
import { liveStoreOf, withCancellation } from '../window/background';
import { engineOf } from '../window/engine';
import { languageModels } from '../window/languageModels';
import { keepMetrics } from '../window/metrics';
import { modelSettings } from '../window/settings/modelSettings';
import { counterOf } from '../window/counter';
import { configToRun, summaryWishes } from '../window/settings/providerConfig';
import type { Services } from '../window/services';
import type { CondensationOutcome } from '../core/condense';
import { formatReport } from '../core/condense/report/report';
import { errorMessage } from '../core/errors';
import { thresholdOf } from '../settings/profiles';
import { CondensingProvider } from './condensingProvider';
import { Handlers } from './handlers';
import { LiveConversations } from '../live/liveConversations';
import { metricsOfEvent } from '../live/metricsOfEvent';
import type { LiveConversationsApi, LiveSummary } from '../live/types';
import type { LiveId } from '../live/request';
import type { LiveEvent } from '../live/events';
import { showDetails, showOutcome } from './liveDetails';
import { ModelCatalog } from './modelCatalog';
import { ModelGroups } from './modelGroups';
import { showLiveEvent } from './notices';
import type { WrappedModel } from './offeredModels';
import { RecallTool } from './recallTool';
import { setting, watchSettings } from '../window/settings/settings';
import { showLiveDiff } from './liveDetails';
import { LiveStatusBar } from './statusBar';
import { chooseWrappedModels } from './wrappedModels';
import { agentSettings, liveSettings } from './settings';

/** Where the last known models of VS Code are remembered. */
const WRAPPED_KEY = 'contextCondenser.knownModels';

/** The parts of agent mode in one window. */
export class AgentRuntime implements vscode.Disposable {
  readonly catalog: ModelCatalog;
  readonly provider: CondensingProvider;
  readonly recall: RecallTool;
  /** Events of the chat's conversations. */
  readonly liveEvents = new vscode.EventEmitter<LiveEvent>();
  private readonly groups: ModelGroups;
  private readonly statusBar = new LiveStatusBar();
  private readonly subscriptions: { dispose(): unknown }[] = [];
  private starting: Promise<LiveConversationsApi> | undefined;
  private started: LiveConversationsApi | undefined;

  constructor(private readonly services: Services) {
    const { context, log, modelsChanged } = services;
    const changed = (): void => {
      modelsChanged.fire();
    };
    const counter = () => counterOf(services);
    this.catalog = new ModelCatalog({
      models: languageModels,
      profiles: () => modelSettings().profiles,
      wrapped: () => setting('agent.wrappedModels'),
      remembered: {
        get: () => context.globalState.get<readonly WrappedModel[]>(WRAPPED_KEY, []),
        set: (models) => void context.globalState.update(WRAPPED_KEY, models),
      },
      onDidChange: changed,
    });
    this.groups = new ModelGroups(changed);
    this.recall = new RecallTool(() => this.live());
    this.provider = new CondensingProvider({
      catalog: this.catalog,
      groups: this.groups,
      handlers: new Handlers({ secrets: context.secrets, models: languageModels, counter }),
      counter,
      live: () => this.live(),
      settings: agentSettings,
      threshold: (profile) => thresholdOf(profile, modelSettings().threshold),
      summaries: (profile) => ({ ...summaryWishes(profile), mayCost: modelSettings().maxCost > 0 }),
      onCall: (conversation, name, input) => {
        this.recall.calledBy(conversation, name, input);
      },
      log,
    });
    this.subscriptions.push(
      this.liveEvents,
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration('contextCondenser')) return;
        this.showStatus();
        // The models' declared properties may have changed even if the models are the same.
        if (
          event.affectsConfiguration('contextCondenser.automatic') ||
          event.affectsConfiguration('contextCondenser.agent')
        )
          changed();
        this.refreshModels();
      }),
      vscode.lm.onDidChangeChatModels(() => {
        this.refreshModels();
      }),
    );
    watchSettings(services);
  }

  /** The live conversations, if there are any yet. */
  get known(): LiveConversationsApi | undefined {
    return this.started;
  }

  live(): Promise<LiveConversationsApi> {
    this.starting ??= this.start();
    // A failed start is tried anew.
    this.starting.catch(() => (this.starting = undefined));
    return this.starting;
  }

  /** Undoes the last condensation of a conversation, and says so. */
  async undo(conversation: string): Promise<void> {
    const live = await this.live();
    const known = live.list().find(({ id }) => id === conversation);
    if (known) await showOutcome(live.undo(known.id));
  }

  async showDiff(conversation: LiveId): Promise<void> {
    await showLiveDiff(await this.live(), this.services.comparisons, conversation);
  }

  chooseWrappedModels(): Promise<void> {
    return chooseWrappedModels(languageModels, setting('agent.wrappedModels'));
  }

  /** "Show Condensed Chat Conversations". */
  async showDetails(): Promise<void> {
    const { manager } = await engineOf(this.services);
    await showDetails({
      live: await this.live(),
      providerName: (id) => manager.providerName(id),
      condense: (conversation) => this.condense(conversation),
      showDiff: (conversation) => this.showDiff(conversation),
    });
  }

  /** Condenses a conversation at once, with progress and cancel; the next request goes out condensed. */
  async condense(conversation: LiveId, provider = setting('provider'), config = configToRun(provider)): Promise<void> {
    const live = await this.live();
    const progress = {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t('Condensing the conversation of the chat'),
      cancellable: true,
    };
    const targetPercent = setting('manual.targetPercent');
    const options = { provider, config, targetPercent };
    let outcome: CondensationOutcome | undefined;
    try {
      outcome = await vscode.window.withProgress(progress, (_report, token) =>
        withCancellation(token, (signal) => live.condenseNow(conversation, options, signal)),
      );
    } catch (error) {
      if (error instanceof vscode.CancellationError) return;
      const why = errorMessage(error);
      void vscode.window.showErrorMessage(vscode.l10n.t('Nothing was condensed. {0}', why));
      return;
    }
    if (outcome?.kind === 'condensed') return;
    const { manager } = await engineOf(this.services);
    const [headline = ''] = outcome ? formatReport(outcome, (id) => manager.providerName(id)).split('\n') : [];
    const truncate = vscode.l10n.t('Use Truncation');
    const choices = provider === 'truncation' ? [] : [truncate];
    const text = headline || vscode.l10n.t('Nothing was condensed.');
    const choice = await vscode.window.showInformationMessage(text, ...choices);
    if (choice === truncate) await this.condense(conversation, 'truncation');
  }

  dispose(): void {
    this.started?.dispose();
    this.groups.dispose();
    this.statusBar.dispose();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private async start(): Promise<LiveConversationsApi> {
    const { counter, manager } = await engineOf(this.services);
    const root = liveStoreOf(this.services);
    const live = new LiveConversations({ manager, counter, settings: liveSettings, root });
    live.on((event) => {
      this.onEvent(event);
      const parts = {
        manager,
        kind: () => setting('notifications'),
        targetPercent: () => setting('manual.targetPercent'),
        log: this.services.log,
        undo: (conversation: LiveId) => this.undo(conversation),
        showDiff: (conversation: LiveId) => this.showDiff(conversation),
      };
      void showLiveEvent(event, parts);
    });
    this.started = live;
    return live;
  }

  private refreshModels(): void {
    this.catalog.refresh().catch((error: unknown) => {
      this.services.log.warn(`The models of the chat could not be read. ${errorMessage(error)}`);
    });
  }

  private onEvent(event: LiveEvent): void {
    this.liveEvents.fire(event);
    this.showStatus();
    const metrics = metricsOfEvent(event, setting('provider'), new Date());
    if (metrics) void keepMetrics(this.services, metrics, setting('provider'));
    if (event.kind !== 'condensed') return;
    const { provider, tokensBefore, tokensAfter, cost } = event.outcome;
    const { conversation } = event;
    const title = this.started?.list().find(({ id }) => id === conversation)?.title ?? '';
    const way = { provider, config: configToRun(provider) };
    this.services.last = { conversation, title, isLive: true, way };
    this.services.condensed.fire({ source: 'agent', conversation, provider, tokensBefore, tokensAfter, cost });
  }

  private showStatus(): void {
    this.statusBar.show(setting('automatic') ? this.started?.active() : undefined);
  }
}

/** The conversations of the chat, last used first; none while agent mode has not begun. */
export const liveConversations = (services: Services): readonly LiveSummary[] =>
  runtimes.get(services)?.known?.list() ?? [];

const runtimes = new WeakMap<Services, AgentRuntime>();

/** Agent mode of this window; it begins when it is first asked for. */
export function agentOf(services: Services): AgentRuntime {
  const known = runtimes.get(services);
  if (known) return known;
  const runtime = new AgentRuntime(services);
  runtimes.set(services, runtime);
  services.context.subscriptions.push(runtime);
  return runtime;
}
