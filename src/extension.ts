import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as vscode from 'vscode';
import { PARTICIPANT_ID, RECALL_SERVER_ID, RECALL_TOOL_NAME } from './agent/names';
import type { AgentRuntime } from './agent/runtime';
import type * as commands from './commands';
import type * as panel from './panel';
import type { CondensationEvent, Services } from './window/services';
import type { ContextCondenserExports } from './extensionApi/api';
import { createRecallServers } from './window/recallServer';
import { BundleLoader } from './window/bundles';
import { RegisteredProviders } from './window/registeredProviders';
import { OWN_VSCODE_VENDOR } from './settings/ownVendor';
import { ComparisonDocuments } from './window/comparisons';
import { getSamplePath } from './window/samplePath';
import { COMPARISON_SCHEME, CONVERSATION_LANGUAGE, ORIGINAL_SCHEME } from './window/schemes';
import { CONVERSATION_ACTIONS, CONVERSATIONS_VIEW_ID } from './views/conversations/actions';
import { FillDecorations } from './views/conversations/fillDecoration';
import type { TreeNode } from './views/conversations/nodes';

/** Connects the parts. What a command needs is loaded only when it runs. */
export function activate(context: vscode.ExtensionContext): ContextCondenserExports {
  const log = vscode.window.createOutputChannel('Context Condenser', { log: true });
  const comparisons = new ComparisonDocuments();
  const condensedEmitter = new vscode.EventEmitter<CondensationEvent>();
  const ledgersChangedEmitter = new vscode.EventEmitter<void>();
  const registeredProviders = new RegisteredProviders();
  const settingsChangedEmitter = new vscode.EventEmitter<void>();
  const modelsChangedEmitter = new vscode.EventEmitter<void>();
  const services: Services = {
    context,
    log,
    comparisons,
    condensed: condensedEmitter,
    ledgersChanged: ledgersChangedEmitter,
    registered: registeredProviders,
    settingsChanged: settingsChangedEmitter,
    modelsChanged: modelsChangedEmitter,
    last: undefined,
  };
  const bundles = new BundleLoader<{ readonly commands: typeof commands; readonly panel: typeof panel }>(__dirname);
  const startWatching = (loaded: typeof commands): typeof commands => {
    loaded.watchSettings(services);
    return loaded;
  };
  const loadInTurns = async (): Promise<typeof commands> => {
    const loadedCommands = startWatching(await bundles.loadBundle('commands'));
    // Let other extensions run first: they share the thread, and checking the settings took time.
    await nextTurn();
    return loadedCommands;
  };
  let loading: Promise<typeof commands> | undefined;
  const load = (): Promise<typeof commands> =>
    (loading ??= loadInTurns().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
  const loadNow = (): typeof commands => startWatching(bundles.loadBundleNow('commands'));
  // Load the commands together with the panel, which needs them as soon as it is shown.
  const loadPanel = async (): Promise<typeof panel> => {
    await load();
    return bundles.loadBundle('panel');
  };
  const panelParts = { services, extension: context.extension, commands: loadNow };
  const sample = getSamplePath(context.extensionPath);

  context.subscriptions.push(
    log,
    comparisons,
    condensedEmitter,
    ledgersChangedEmitter,
    settingsChangedEmitter,
    modelsChangedEmitter,
    vscode.commands.registerCommand('contextCondenser.condenseNow', async (conversation?: unknown) =>
      (await load()).condenseNow(services, conversation),
    ),
    vscode.chat.createChatParticipant(PARTICIPANT_ID, async (request, _context, stream, token) =>
      (await load()).answerInChat(services, request, stream, token),
    ),
    vscode.commands.registerCommand('contextCondenser.condenseNewest', async () =>
      (await load()).condenseNewestConversation(services, sample),
    ),
    vscode.commands.registerCommand('contextCondenser.condenseSample', async () =>
      (await load()).condenseNow(services, sample),
    ),
    vscode.commands.registerCommand('contextCondenser.condenseFurther', async (conversation?: unknown) =>
      (await load()).condenseNamedConversationWith(services, conversation),
    ),
    vscode.commands.registerCommand('contextCondenser.openSettings', async (section?: unknown) => {
      (await loadPanel()).openSettings(panelParts, typeof section === 'string' ? section : undefined);
    }),
    vscode.window.registerWebviewPanelSerializer('contextCondenser.settings', {
      deserializeWebviewPanel: async (kept) => {
        (await loadPanel()).restoreSettings(panelParts, kept);
      },
    }),
    vscode.commands.registerCommand('contextCondenser.undo', async () => (await load()).undoLastCondensation(services)),
    vscode.commands.registerCommand('contextCondenser.saveApiTypes', async () => (await load()).saveApiTypes(services)),
    vscode.commands.registerCommand('contextCondenser.manageProfiles', async () =>
      (await load()).manageProfiles(services),
    ),
    vscode.commands.registerCommand('contextCondenser.chooseProvider', async () =>
      (await load()).chooseProvider(services),
    ),
    vscode.commands.registerCommand('contextCondenser.chooseCondensingProfile', async () =>
      (await load()).chooseCondensingProfile(),
    ),
    vscode.commands.registerCommand('contextCondenser.previewPrompt', async (path?: unknown) =>
      (await load()).previewPrompt(services, typeof path === 'string' ? path : undefined),
    ),
    vscode.commands.registerCommand('contextCondenser.importRooSettings', async () =>
      (await load()).importRooSettings(services),
    ),
    vscode.commands.registerCommand('contextCondenser.showMeasures', async () => (await load()).showMetrics(services)),
    vscode.commands.registerCommand('contextCondenser.openAgent', async (command?: unknown, folder?: unknown) =>
      (await load()).openAgent(
        services,
        typeof command === 'string' ? command : undefined,
        typeof folder === 'string' ? folder : undefined,
      ),
    ),
    vscode.commands.registerCommand('contextCondenser.openGateway', async () => (await load()).openGateway(services)),
    vscode.commands.registerCommand('contextCondenser.connectClaudeCode', async () =>
      (await load()).connectClaudeCode(services),
    ),
    vscode.window.registerTerminalProfileProvider('contextCondenser.agent', {
      provideTerminalProfile: async () => (await load()).createTerminalProfile(services),
    }),
    vscode.commands.registerCommand('contextCondenser.saveAccount', async () => (await load()).saveAccount(services)),
    vscode.commands.registerCommand('contextCondenser.setThreshold', async () => (await load()).askAndSetThreshold()),
    vscode.commands.registerCommand('contextCondenser.showLog', () => {
      log.show();
    }),
  );
  registerOriginals(context, services, load);
  registerConversations(context, services, load);
  registerChatFeatures(context, modelsChangedEmitter.event, async () => (await load()).getAgentRuntime(services));
  registerRecall(context, services);
  return { getApi: (version) => loadNow().getApi(version, services) };
}

/**
 * Makes each marker a link to the text that it replaced, in our own documents and in saved copies.
 */
function registerOriginals(
  { subscriptions }: vscode.ExtensionContext,
  services: Services,
  load: () => Promise<typeof commands>,
): void {
  const documentSelectors = [
    { scheme: COMPARISON_SCHEME },
    { scheme: ORIGINAL_SCHEME },
    { scheme: 'file', pattern: '**/*.condensed.*' },
  ];
  const loadOriginals = async () => (await load()).getOriginalDocuments(services);
  subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(ORIGINAL_SCHEME, {
      provideTextDocumentContent: async (uri) => (await loadOriginals()).provideTextDocumentContent(uri),
    }),
    vscode.languages.registerDocumentLinkProvider(documentSelectors, {
      provideDocumentLinks: async (document) => (await loadOriginals()).provideDocumentLinks(document),
    }),
    vscode.languages.registerHoverProvider(documentSelectors, {
      provideHover: async (document, position) => (await loadOriginals()).provideHover(document, position),
    }),
    vscode.languages.registerFoldingRangeProvider(
      { language: CONVERSATION_LANGUAGE },
      {
        provideFoldingRanges: async (document) => (await load()).conversationFolding.provideFoldingRanges(document),
      },
    ),
    vscode.commands.registerCommand('contextCondenser.openOriginal', async (reference?: unknown) =>
      (await loadOriginals()).openOriginal(typeof reference === 'string' ? reference : undefined),
    ),
  );
}

/** The view's content is loaded when the user looks at it. */
function registerConversations(
  { subscriptions, globalStorageUri, storageUri }: vscode.ExtensionContext,
  services: Services,
  load: () => Promise<typeof commands>,
): void {
  const treeChangedEmitter = new vscode.EventEmitter<TreeNode[] | undefined>();
  const treeDataProvider: vscode.TreeDataProvider<TreeNode> = {
    onDidChangeTreeData: treeChangedEmitter.event,
    getTreeItem: async (node) => (await load()).getConversationsView(services, tree).getTreeItem(node),
    getChildren: async (node) => [...(await load()).getConversationsView(services, tree).getChildren(node)],
  };
  const view = vscode.window.createTreeView(CONVERSATIONS_VIEW_ID, { treeDataProvider, showCollapseAll: true });
  // If the titles of the view and its container are equal, VS Code shows only one; two titles would
  // be cut off at the side bar's usual width.
  view.title = 'Context Condenser';
  const tree = { view, changed: treeChangedEmitter };
  subscriptions.push(
    treeChangedEmitter,
    view,
    vscode.window.registerFileDecorationProvider(new FillDecorations()),
    ...CONVERSATION_ACTIONS.map((action) =>
      vscode.commands.registerCommand(`${CONVERSATIONS_VIEW_ID}.${action}`, async (subject?: unknown) =>
        (await load()).runConversationAction(services, tree, action, subject),
      ),
    ),
  );
  if (existsSync(join(globalStorageUri.fsPath, 'replacements')))
    void load().then(({ recoverGivenBack }) => recoverGivenBack(services));
  if (hasRunFolders((storageUri ?? globalStorageUri).fsPath))
    void load().then(({ removeFoldersOfKilledRuns }) => removeFoldersOfKilledRuns(services));
  const offerIdleTasks = (): void => {
    // `readSetting` would load the table of settings at activation.
    const settings = vscode.workspace.getConfiguration('contextCondenser', null);
    if (settings.get<unknown>('conversations.offerIdleTasks') === true)
      void load().then(({ watchIdleTasks }) => {
        watchIdleTasks(services);
      });
  };
  subscriptions.push(vscode.workspace.onDidChangeConfiguration(offerIdleTasks));
  offerIdleTasks();
}

/** A killed run leaves a copy of its agent's settings in this folder. */
function hasRunFolders(storage: string): boolean {
  const runs = join(storage, 'live', 'runs');
  return existsSync(runs) && readdirSync(runs).length > 0;
}

/** Offers the recall server to agents once something was condensed. */
function registerRecall({ subscriptions }: vscode.ExtensionContext, services: Services): void {
  const serversChangedEmitter = new vscode.EventEmitter<void>();
  subscriptions.push(
    serversChangedEmitter,
    services.condensed.event(() => {
      serversChangedEmitter.fire();
    }),
    vscode.lm.registerMcpServerDefinitionProvider(RECALL_SERVER_ID, {
      onDidChangeMcpServerDefinitions: serversChangedEmitter.event,
      // VS Code calls this at activation, so it must not load the commands.
      provideMcpServerDefinitions: () => createRecallServers(services),
    }),
  );
}

function registerChatFeatures(
  { subscriptions }: vscode.ExtensionContext,
  onDidChangeLanguageModelChatInformation: vscode.Event<void>,
  agent: () => Promise<AgentRuntime>,
): void {
  subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider(OWN_VSCODE_VENDOR, {
      onDidChangeLanguageModelChatInformation,
      provideLanguageModelChatInformation: async (options) => (await agent()).provider.provideInformation(options),
      provideLanguageModelChatResponse: async (...request) => (await agent()).provider.provideResponse(...request),
      provideTokenCount: async (model, content) => (await agent()).provider.countTokens(model, content),
    }),
    vscode.lm.registerTool(RECALL_TOOL_NAME, {
      prepareInvocation: () => ({ invocationMessage: vscode.l10n.t('Recalling condensed content') }),
      invoke: async ({ input }) => (await agent()).recall.invokeTool(input),
    }),
    vscode.commands.registerCommand('contextCondenser.showLive', async () => (await agent()).showDetails()),
    vscode.commands.registerCommand('contextCondenser.chooseWrappedModels', async () =>
      (await agent()).chooseWrappedModels(),
    ),
  );
}
