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
import { OWN_VSCODE_VENDOR } from './core/vendors/ownVendor';
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
  const loadCommandsAndYield = async (): Promise<typeof commands> => {
    const loadedCommands = startWatching(await bundles.loadBundle('commands'));
    // Let other extensions run first: they share the thread, and checking the settings took time.
    await nextTurn();
    return loadedCommands;
  };
  let commandsPromise: Promise<typeof commands> | undefined;
  const loadCommands = (): Promise<typeof commands> =>
    (commandsPromise ??= loadCommandsAndYield().catch((error: unknown) => {
      commandsPromise = undefined;
      throw error;
    }));
  const loadCommandsNow = (): typeof commands => startWatching(bundles.loadBundleNow('commands'));
  // Load the commands together with the panel, which needs them as soon as it is shown.
  const loadPanel = async (): Promise<typeof panel> => {
    await loadCommands();
    return bundles.loadBundle('panel');
  };
  const panelParts = { services, extension: context.extension, commands: loadCommandsNow };
  const samplePath = getSamplePath(context.extensionPath);

  context.subscriptions.push(
    log,
    comparisons,
    condensedEmitter,
    ledgersChangedEmitter,
    settingsChangedEmitter,
    modelsChangedEmitter,
    vscode.commands.registerCommand('contextCondenser.condenseNow', async (conversation?: unknown) =>
      (await loadCommands()).condenseNow(services, conversation),
    ),
    vscode.chat.createChatParticipant(PARTICIPANT_ID, async (request, _context, stream, token) =>
      (await loadCommands()).answerInChat(services, request, stream, token),
    ),
    vscode.commands.registerCommand('contextCondenser.condenseNewest', async () =>
      (await loadCommands()).condenseNewestConversation(services, samplePath),
    ),
    vscode.commands.registerCommand('contextCondenser.condenseSample', async () =>
      (await loadCommands()).condenseNow(services, samplePath),
    ),
    vscode.commands.registerCommand('contextCondenser.condenseFurther', async (conversation?: unknown) =>
      (await loadCommands()).condenseNamedConversationWith(services, conversation),
    ),
    vscode.commands.registerCommand('contextCondenser.openSettings', async (section?: unknown) => {
      (await loadPanel()).openSettings(panelParts, typeof section === 'string' ? section : undefined);
    }),
    vscode.window.registerWebviewPanelSerializer('contextCondenser.settings', {
      deserializeWebviewPanel: async (kept) => {
        (await loadPanel()).restoreSettings(panelParts, kept);
      },
    }),
    vscode.commands.registerCommand('contextCondenser.undo', async () =>
      (await loadCommands()).undoLastCondensation(services),
    ),
    vscode.commands.registerCommand('contextCondenser.saveApiTypes', async () =>
      (await loadCommands()).saveApiTypes(services),
    ),
    vscode.commands.registerCommand('contextCondenser.manageProfiles', async () =>
      (await loadCommands()).manageProfiles(services),
    ),
    vscode.commands.registerCommand('contextCondenser.chooseProvider', async () =>
      (await loadCommands()).chooseProvider(services),
    ),
    vscode.commands.registerCommand('contextCondenser.chooseCondensingProfile', async () =>
      (await loadCommands()).chooseCondensingProfile(),
    ),
    vscode.commands.registerCommand('contextCondenser.previewPrompt', async (path?: unknown) =>
      (await loadCommands()).previewPrompt(services, typeof path === 'string' ? path : undefined),
    ),
    vscode.commands.registerCommand('contextCondenser.importRooSettings', async () =>
      (await loadCommands()).importRooSettings(services),
    ),
    vscode.commands.registerCommand('contextCondenser.showMeasures', async () =>
      (await loadCommands()).showMetrics(services),
    ),
    vscode.commands.registerCommand('contextCondenser.openAgent', async (command?: unknown, folder?: unknown) =>
      (await loadCommands()).openAgent(
        services,
        typeof command === 'string' ? command : undefined,
        typeof folder === 'string' ? folder : undefined,
      ),
    ),
    vscode.commands.registerCommand('contextCondenser.openGateway', async () =>
      (await loadCommands()).openGateway(services),
    ),
    vscode.commands.registerCommand('contextCondenser.connectClaudeCode', async () =>
      (await loadCommands()).connectClaudeCode(services),
    ),
    vscode.window.registerTerminalProfileProvider('contextCondenser.agent', {
      provideTerminalProfile: async () => (await loadCommands()).createTerminalProfile(services),
    }),
    vscode.commands.registerCommand('contextCondenser.saveAccount', async () =>
      (await loadCommands()).saveAccount(services),
    ),
    vscode.commands.registerCommand('contextCondenser.setThreshold', async () =>
      (await loadCommands()).askAndSetThreshold(),
    ),
    vscode.commands.registerCommand('contextCondenser.showLog', () => {
      log.show();
    }),
  );
  registerOriginals(context, services, loadCommands);
  registerConversations(context, services, loadCommands);
  registerChatFeatures(context, modelsChangedEmitter.event, async () =>
    (await loadCommands()).getAgentRuntime(services),
  );
  registerRecall(context, services);
  return { getApi: (version) => loadCommandsNow().getApi(version, services) };
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
  const treeView = vscode.window.createTreeView(CONVERSATIONS_VIEW_ID, { treeDataProvider, showCollapseAll: true });
  // VS Code shows equal titles of the view and its container only once. Two titles would be cut off
  // at the side bar's usual width.
  treeView.title = 'Context Condenser';
  const tree = { view: treeView, changed: treeChangedEmitter };
  subscriptions.push(
    treeChangedEmitter,
    treeView,
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
  const runsFolder = join(storage, 'live', 'runs');
  return existsSync(runsFolder) && readdirSync(runsFolder).length > 0;
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
