import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { CondensationProvider } from '../core/condense';
import { getErrorMessage } from '../core/errors';
import { renderPanelPage, listResourceRoots } from './html';
import { isSettingName } from '../settings/table';
import { createSettingSchemas, type ExtensionManifest } from './manifest';
import { PanelSettings } from './panelSettings';
import type { PanelDependencies } from './parts';
import { ProfileStatesReader } from './profileFacts';
import { PreviewHandlers } from './preview/previewHandlers';
import {
  isPanelMethod,
  panelMethods,
  messageToHostSchema,
  type PanelState,
  type ProviderDescription,
  type MessageToHost,
  type MessageToWebview,
} from './protocol';
import { listPresetStates } from './presets';
import { createRequestHandlers } from './requests';
import type { ReportProgress, RequestHandlers } from './requestHandlers';
import { createBuiltInProviders, SettingRules } from '../window/settings/settingRules';
import { readSetting } from '../window/settings/settings';
import { setAnswerStore } from '../window/settings/workspaceAnswers';

/** VS Code drops a webview's own state with its tab, so the workspace keeps it under this key. */
const PANEL_STATE_KEY = 'contextCondenser.panel';

export class SettingsPanel implements vscode.Disposable {
  private readonly settings: PanelSettings;
  private readonly profileStatesReader: ProfileStatesReader;
  private readonly handlers: RequestHandlers;
  private readonly providers = createBuiltInProviders(() => readSetting('presets'));
  private readonly schemas: ReturnType<typeof createSettingSchemas>;
  private readonly controllerByRequest = new Map<number, AbortController>();
  private readonly subscriptions: { dispose(): unknown }[] = [];
  private revision = 0;
  private historyRevision = 0;
  private isReady = false;
  private isDisposed = false;
  /**
   * True if the preview became outdated while the panel was hidden, so the page must request it
   * again.
   */
  private isPreviewOld = false;
  private sentSettings = '';
  /** The section to show when the webview is ready. */
  private pendingSection: string | undefined;

  constructor(
    readonly panel: vscode.WebviewPanel,
    private readonly dependencies: PanelDependencies,
  ) {
    const { services, extension } = dependencies;
    setAnswerStore(services.context.workspaceState);
    this.schemas = createSettingSchemas(extension.packageJSON as ExtensionManifest);
    this.settings = new PanelSettings(new SettingRules(this.providers, () => services.registered.listProviders()));
    this.profileStatesReader = new ProfileStatesReader(dependencies, () => {
      this.sendPanelState();
    });
    const preview = new PreviewHandlers(dependencies, this.settings, () => {
      this.isPreviewOld = true;
      this.sendPreviewOutdated();
    });
    this.handlers = createRequestHandlers(dependencies, this.settings, preview);
    this.subscriptions.push(
      preview,
      this.profileStatesReader,
      panel.webview.onDidReceiveMessage((message: unknown) => {
        this.receiveMessage(message);
      }),
      panel.onDidChangeViewState(() => {
        this.sendPreviewOutdated();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        // In a remote window, VS Code drops values that don't apply there without naming them in an
        // event. So also compare the settings.
        if (!event.affectsConfiguration('contextCondenser') && !this.haveSettingsChanged()) return;
        // Send immediately, so that the answer to a change follows its result.
        this.sendPanelState();
        this.profileStatesReader.refreshStates();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.sendPanelState();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        this.sendPanelState();
      }),
      services.settingsChanged.event(() => {
        this.sendPanelState();
      }),
      {
        dispose: services.registered.onDidChange(() => {
          // Validation depends on the providers, and `welcome` contains them.
          this.settings.clearVerdicts();
          if (this.isReady) this.sendWelcomeMessage();
        }),
      },
      ...[services.condensed, services.ledgersChanged].map(({ event }) =>
        event(() => {
          this.historyRevision++;
          this.sendPanelState();
        }),
      ),
      services.context.secrets.onDidChange(() => {
        this.profileStatesReader.refreshStates();
      }),
      vscode.lm.onDidChangeChatModels(() => {
        this.profileStatesReader.refreshStates();
      }),
    );
    panel.webview.options = {
      enableScripts: true,
      localResourceRoots: listResourceRoots(services.context.extensionUri),
    };
    panel.webview.html = renderPanelPage(panel.webview, services.context.extensionUri, vscode.env.language);
    void this.loadProviders();
    this.profileStatesReader.refreshStates();
  }

  /**
   * Prepares the page's first answers, yielding in between because all extensions share the thread.
   */
  private async loadProviders(): Promise<void> {
    for (const provider of this.providers) {
      provider.getConfigSchema();
      await setImmediate();
    }
    await this.settings.validateAll();
  }

  dispose(): void {
    this.isDisposed = true;
    this.abortRunningRequests();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  revealPanel(section?: string): void {
    // A hidden panel that an earlier version of the extension opened has no page any more. A new
    // page reports when ready.
    if (!this.panel.visible && this.panel.options.retainContextWhenHidden !== true) this.isReady = false;
    this.panel.reveal();
    if (section === undefined) return;
    if (this.isReady) this.sendMessage({ type: 'reveal', section });
    else this.pendingSection = section;
  }

  /** Drops invalid messages from the webview. */
  receiveMessage(raw: unknown): void {
    const parsed = messageToHostSchema.safeParse(raw);
    if (parsed.success) this.handleMessage(parsed.data);
    else this.dependencies.services.log.warn('The settings panel sent an invalid message; it was dropped.');
  }

  private handleMessage(message: MessageToHost): void {
    switch (message.type) {
      case 'ready':
        // This is a new page, and it numbers its requests from the start. Nobody waits for the old
        // page's answers.
        this.abortRunningRequests();
        this.sendWelcomeMessage();
        return;
      case 'request':
        void this.answerRequest(message.id, message.method, message.params);
        return;
      case 'cancel':
        this.controllerByRequest.get(message.id)?.abort();
        return;
      case 'keep':
        void this.dependencies.services.context.workspaceState.update(PANEL_STATE_KEY, message.kept);
        return;
      case 'log':
        this.dependencies.services.log.warn(`Settings panel: ${message.message}`);
        return;
    }
  }

  private sendWelcomeMessage(): void {
    this.isReady = true;
    this.sendMessage({
      type: 'welcome',
      texts: copyTranslations(vscode.l10n.bundle),
      language: vscode.env.language,
      schemas: this.schemas,
      providers: [...this.providers, ...this.dependencies.services.registered.listProviders()].map(describeProvider),
      state: this.makePanelState(),
      kept: this.dependencies.services.context.workspaceState.get(PANEL_STATE_KEY),
    });
    if (this.pendingSection !== undefined) this.sendMessage({ type: 'reveal', section: this.pendingSection });
    this.pendingSection = undefined;
  }

  private makePanelState(): PanelState {
    const { name: workspace } = vscode.workspace;
    const settings = this.settings.listStates();
    this.sentSettings = JSON.stringify(settings);
    return {
      revision: this.revision++,
      settings,
      ...this.profileStatesReader.getStates(),
      presets: listPresetStates(),
      historyRevision: this.historyRevision,
      ...(workspace !== undefined && vscode.workspace.isTrusted && { workspace }),
      // A browser's window is always remote, and has no settings file of another machine.
      isRemote: vscode.env.remoteName !== undefined && vscode.env.uiKind === vscode.UIKind.Desktop,
    };
  }

  /** True if the settings differ from those that the page has. */
  private haveSettingsChanged(): boolean {
    return this.isReady && JSON.stringify(this.settings.listStates()) !== this.sentSettings;
  }

  private sendPanelState(): void {
    if (this.isReady) this.sendMessage({ type: 'state', state: this.makePanelState() });
  }

  private abortRunningRequests(): void {
    for (const abort of this.controllerByRequest.values()) abort.abort();
    this.controllerByRequest.clear();
  }

  /**
   * Tells the page that its preview is outdated; if the panel is hidden, only when it becomes
   * visible.
   */
  private sendPreviewOutdated(): void {
    if (!this.isPreviewOld || !this.panel.visible) return;
    this.isPreviewOld = false;
    this.sendMessage({ type: 'previewChanged', revision: this.revision++ });
  }

  private async answerRequest(id: number, method: string, params: unknown): Promise<void> {
    const { log } = this.dependencies.services;
    if (!isPanelMethod(method) || this.controllerByRequest.has(id)) {
      log.warn(`The settings panel sent an unknown request: ${method.slice(0, 100)}`);
      return;
    }
    const checkedParams = panelMethods[method].params.safeParse(params);
    if (!checkedParams.success) {
      log.warn(`The settings panel sent an invalid request for ${method}; nothing was done.`);
      this.sendMessage({
        type: 'failed',
        id,
        message: vscode.l10n.t('The panel sent an invalid request. Nothing was done.'),
      });
      return;
    }
    const abortController = new AbortController();
    this.controllerByRequest.set(id, abortController);
    const replyOnce = (message: MessageToWebview): void => {
      if (this.controllerByRequest.get(id) !== abortController) return;
      this.controllerByRequest.delete(id);
      this.sendMessage(message);
    };
    try {
      // The method's schema has just validated these parameters.
      const handler = this.handlers[method] as (
        params: unknown,
        signal: AbortSignal,
        report: ReportProgress,
      ) => Promise<unknown>;
      const report: ReportProgress = (done, of) => {
        if (this.controllerByRequest.get(id) === abortController) this.sendMessage({ type: 'progress', id, done, of });
      };
      replyOnce({ type: 'reply', id, result: await handler(checkedParams.data, abortController.signal, report) });
    } catch (error) {
      const message = getErrorMessage(error);
      if (!abortController.signal.aborted) log.warn(`Settings panel, ${method}: ${message}`);
      replyOnce({ type: 'failed', id, message });
    }
  }

  private sendMessage(message: MessageToWebview): void {
    // The panel may be closed before an answer; accessing its webview would then throw.
    if (this.isDisposed) return;
    // `postMessage` returns false if there is no page; a page gets everything when it is ready.
    void this.panel.webview.postMessage(message);
  }
}

/** VS Code's translations by English text. Texts with a comment are found by their text alone. */
const copyTranslations = (bundle: typeof vscode.l10n.bundle): Record<string, string> => ({ ...bundle });

const describeProvider = (provider: CondensationProvider): ProviderDescription => ({
  id: provider.id,
  name: provider.name,
  description: provider.description,
  schema: provider.getConfigSchema(),
  ...(isSettingName(provider.id) && { setting: provider.id }),
});
