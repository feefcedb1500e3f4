import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { CondensationProvider } from '../core/condense';
import { errorMessage } from '../core/errors';
import { pageFor, resourceRoots } from './html';
import { isSettingName } from '../settings/table';
import { settingSchemas, type Manifest } from './manifest';
import { PanelSettings } from './panelSettings';
import type { PanelParts } from './parts';
import { ProfileFacts } from './profileFacts';
import { PreviewHandlers } from './preview/previewHandlers';
import {
  isMethod,
  methods,
  toHostSchema,
  type PanelState,
  type ProviderDescription,
  type ToHost,
  type ToWebview,
} from './protocol';
import { presetStates } from './presets';
import { requestHandlers } from './requests';
import { type RequestHandlers } from './requestHandlers';
import { builtInProviders, SettingRules } from '../window/settings/settingRules';
import { setting } from '../window/settings/settings';
import { rememberAnswersIn } from '../window/settings/workspaceAnswers';

/** Where the workspace keeps what the page remembers: VS Code drops a webview's own state with its tab. */
const KEPT = 'contextCondenser.panel';

/** One open settings panel: answers its webview and tells it what changes. */
export class SettingsPanel implements vscode.Disposable {
  private readonly settings: PanelSettings;
  private readonly facts: ProfileFacts;
  private readonly handlers: RequestHandlers;
  private readonly providers = builtInProviders(() => setting('presets'));
  private readonly schemas: ReturnType<typeof settingSchemas>;
  private readonly running = new Map<number, AbortController>();
  private readonly subscriptions: { dispose(): unknown }[] = [];
  private revision = 0;
  private historyRevision = 0;
  private isReady = false;
  private isDisposed = false;
  /** The page is to ask for its preview anew once it is seen. */
  private isPreviewOld = false;
  private sentSettings = '';
  /** The section to show once the webview is there. */
  private pendingSection: string | undefined;

  constructor(
    readonly panel: vscode.WebviewPanel,
    private readonly parts: PanelParts,
  ) {
    const { services, extension } = parts;
    rememberAnswersIn(services.context.workspaceState);
    this.schemas = settingSchemas(extension.packageJSON as Manifest);
    this.settings = new PanelSettings(new SettingRules(this.providers, () => services.registered.list()));
    this.facts = new ProfileFacts(parts, () => {
      this.sendState();
    });
    const preview = new PreviewHandlers(parts, this.settings, () => {
      this.isPreviewOld = true;
      this.sendIfPreviewOld();
    });
    this.handlers = requestHandlers(parts, this.settings, preview);
    this.subscriptions.push(
      preview,
      this.facts,
      panel.webview.onDidReceiveMessage((message: unknown) => {
        this.receive(message);
      }),
      panel.onDidChangeViewState(() => {
        this.sendIfPreviewOld();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        // VS Code drops what doesn't count in a remote window without naming it in an event: it is gone at the next one.
        if (!event.affectsConfiguration('contextCondenser') && !this.hasOtherSettings()) return;
        // At once, so that an answer to the change that was asked for comes after what it changed.
        this.sendState();
        this.facts.refresh();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.sendState();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        this.sendState();
      }),
      services.settingsChanged.event(() => {
        this.sendState();
      }),
      {
        dispose: services.registered.onDidChange(() => {
          // Providers come with the welcome; what is wrong with a setting may hang on them.
          this.settings.forget();
          if (this.isReady) this.welcome();
        }),
      },
      ...[services.condensed, services.ledgersChanged].map(({ event }) =>
        event(() => {
          this.historyRevision++;
          this.sendState();
        }),
      ),
      services.context.secrets.onDidChange(() => {
        this.facts.refresh();
      }),
      vscode.lm.onDidChangeChatModels(() => {
        this.facts.refresh();
      }),
    );
    panel.webview.options = { enableScripts: true, localResourceRoots: resourceRoots(services.context.extensionUri) };
    panel.webview.html = pageFor(panel.webview, services.context.extensionUri, vscode.env.language);
    void this.prepare();
    this.facts.refresh();
  }

  /** Makes what the page asks for first, while it loads, and gives the thread back in between: it belongs to all extensions. */
  private async prepare(): Promise<void> {
    for (const provider of this.providers) {
      provider.getConfigSchema();
      await setImmediate();
    }
    await this.settings.judge();
  }

  dispose(): void {
    this.isDisposed = true;
    this.endRunning();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** Brings the panel to the front, at a section where one is named. */
  reveal(section?: string): void {
    // A panel that an earlier version opened has no page behind another tab: a new one says when it is ready.
    if (!this.panel.visible && this.panel.options.retainContextWhenHidden !== true) this.isReady = false;
    this.panel.reveal();
    if (section === undefined) return;
    if (this.isReady) this.send({ type: 'reveal', section });
    else this.pendingSection = section;
  }

  /** Takes a message from the webview. What isn't one is dropped. */
  receive(raw: unknown): void {
    const parsed = toHostSchema.safeParse(raw);
    if (parsed.success) this.handle(parsed.data);
    else this.parts.services.log.warn('The settings panel sent an invalid message; it was dropped.');
  }

  private handle(message: ToHost): void {
    switch (message.type) {
      case 'ready':
        // The page before is gone, and this one counts its requests from the beginning.
        this.endRunning();
        this.welcome();
        return;
      case 'request':
        void this.answer(message.id, message.method, message.params);
        return;
      case 'cancel':
        this.running.get(message.id)?.abort();
        return;
      case 'keep':
        void this.parts.services.context.workspaceState.update(KEPT, message.kept);
        return;
      case 'log':
        this.parts.services.log.warn(`Settings panel: ${message.message}`);
        return;
    }
  }

  private welcome(): void {
    this.isReady = true;
    this.send({
      type: 'welcome',
      texts: textsOf(vscode.l10n.bundle),
      language: vscode.env.language,
      schemas: this.schemas,
      providers: [...this.providers, ...this.parts.services.registered.list()].map(describeProvider),
      state: this.state(),
      kept: this.parts.services.context.workspaceState.get(KEPT),
    });
    if (this.pendingSection !== undefined) this.send({ type: 'reveal', section: this.pendingSection });
    this.pendingSection = undefined;
  }

  private state(): PanelState {
    const { name: workspace } = vscode.workspace;
    const settings = this.settings.states();
    this.sentSettings = JSON.stringify(settings);
    return {
      revision: this.revision++,
      settings,
      ...this.facts.now(),
      presets: presetStates(),
      historyRevision: this.historyRevision,
      ...(workspace !== undefined && vscode.workspace.isTrusted && { workspace }),
      isRemote: vscode.env.remoteName !== undefined,
    };
  }

  /** Whether the settings are no longer what the page was told. */
  private hasOtherSettings(): boolean {
    return this.isReady && JSON.stringify(this.settings.states()) !== this.sentSettings;
  }

  private sendState(): void {
    if (this.isReady) this.send({ type: 'state', state: this.state() });
  }

  /** Nobody waits for these answers any more. */
  private endRunning(): void {
    for (const abort of this.running.values()) abort.abort();
    this.running.clear();
  }

  /** Nobody sees a preview behind another tab: it is made anew when the panel is looked at. */
  private sendIfPreviewOld(): void {
    if (!this.isPreviewOld || !this.panel.visible) return;
    this.isPreviewOld = false;
    this.send({ type: 'previewChanged', revision: this.revision++ });
  }

  private async answer(id: number, method: string, params: unknown): Promise<void> {
    const { log } = this.parts.services;
    if (!isMethod(method) || this.running.has(id)) {
      log.warn(`The settings panel sent an unknown request: ${method.slice(0, 100)}`);
      return;
    }
    const checked = methods[method].params.safeParse(params);
    if (!checked.success) {
      log.warn(`The settings panel sent an invalid request for ${method}; nothing was done.`);
      this.send({ type: 'failed', id, message: vscode.l10n.t('The panel sent an invalid request. Nothing was done.') });
      return;
    }
    const abort = new AbortController();
    this.running.set(id, abort);
    const reply = (message: ToWebview): void => {
      if (this.running.get(id) !== abort) return;
      this.running.delete(id);
      this.send(message);
    };
    try {
      // The schema of this very method has just said that these are its parameters.
      const handler = this.handlers[method] as (params: unknown, signal: AbortSignal) => Promise<unknown>;
      reply({ type: 'reply', id, result: await handler(checked.data, abort.signal) });
    } catch (error) {
      const message = errorMessage(error);
      if (!abort.signal.aborted) log.warn(`Settings panel, ${method}: ${message}`);
      reply({ type: 'failed', id, message });
    }
  }

  private send(message: ToWebview): void {
    // An answer may come when the panel has been closed; VS Code throws where its webview is asked for then.
    if (this.isDisposed) return;
    // False where there is no page: it is told all once there is one.
    void this.panel.webview.postMessage(message);
  }
}

/** The bundle of VS Code's language by English text; a text with a comment is found by its text alone. */
const textsOf = (bundle: typeof vscode.l10n.bundle): Record<string, string> => ({ ...bundle });

/** A provider as the page shows it: a form is made from its schema. */
const describeProvider = (provider: CondensationProvider): ProviderDescription => ({
  id: provider.id,
  name: provider.name,
  description: provider.description,
  schema: provider.getConfigSchema(),
  ...(isSettingName(provider.id) && { setting: provider.id }),
});
