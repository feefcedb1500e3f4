import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { PARTICIPANT, RECALL_SERVER, RECALL_TOOL } from './agent/names';
import type { AgentRuntime } from './agent/runtime';
import type * as commands from './commands';
import type { Condensed, Services } from './window/services';
import type { ContextCondenserExports } from './extensionApi/api';
import { recallServers } from './window/recallServer';
import { RegisteredProviders } from './window/registered';
import type * as panel from './panel';
import { OWN_VENDOR } from './settings/ownVendor';
import { Comparisons } from './window/comparisons';
import { COMPARISON_SCHEME, ORIGINAL_SCHEME } from './window/schemes';
import { CONVERSATION_ACTIONS, VIEW_ID } from './views/conversations/actions';
import type { Node } from './views/conversations/nodes';

/** Builds the parts and wires them, nothing else. What a command needs is loaded when it runs. */
export function activate(context: vscode.ExtensionContext): ContextCondenserExports {
  const log = vscode.window.createOutputChannel('Context Condenser', { log: true });
  const comparisons = new Comparisons();
  const condensed = new vscode.EventEmitter<Condensed>();
  const registered = new RegisteredProviders();
  const settingsChanged = new vscode.EventEmitter<void>();
  const modelsChanged = new vscode.EventEmitter<void>();
  const services: Services = {
    context,
    log,
    comparisons,
    condensed,
    registered,
    settingsChanged,
    modelsChanged,
    last: undefined,
  };
  const load = (): typeof commands => {
    // A bundle of its own beside this one, loaded at the first use; its exports are those of src/commands/index.ts.
    // oxlint-disable-next-line typescript/no-require-imports -- VS Code gives `vscode` to what is required only
    const loaded = require(join(__dirname, 'commands.cjs')) as typeof commands;
    loaded.watchSettings(services);
    return loaded;
  };
  const loadPanel = (): typeof panel =>
    // oxlint-disable-next-line typescript/no-require-imports -- as above
    require(join(__dirname, 'panel.cjs')) as typeof panel;
  const panelParts = { services, extension: context.extension, commands: load };
  const sample = join(context.extensionPath, 'sample', 'conversation.jsonl');

  context.subscriptions.push(
    log,
    comparisons,
    condensed,
    settingsChanged,
    modelsChanged,
    vscode.commands.registerCommand('contextCondenser.condenseNow', (conversation?: unknown) =>
      load().condenseNow(services, conversation),
    ),
    vscode.chat.createChatParticipant(PARTICIPANT, (request, _context, stream, token) =>
      load().answerInChat(services, request, stream, token),
    ),
    vscode.commands.registerCommand('contextCondenser.condenseNewest', () => load().condenseNewest(services, sample)),
    vscode.commands.registerCommand('contextCondenser.condenseSample', () => load().condenseNow(services, sample)),
    vscode.commands.registerCommand('contextCondenser.condenseFurther', () => load().condenseFurther(services)),
    vscode.commands.registerCommand('contextCondenser.openSettings', (section?: unknown) => {
      loadPanel().openSettings(panelParts, typeof section === 'string' ? section : undefined);
    }),
    vscode.window.registerWebviewPanelSerializer('contextCondenser.settings', {
      deserializeWebviewPanel: (kept) => {
        loadPanel().restoreSettings(panelParts, kept);
        return Promise.resolve();
      },
    }),
    vscode.commands.registerCommand('contextCondenser.undo', () => load().undoLast(services)),
    vscode.commands.registerCommand('contextCondenser.manageProfiles', () => load().manageProfiles(services)),
    vscode.commands.registerCommand('contextCondenser.chooseProvider', () => load().chooseProvider(services)),
    vscode.commands.registerCommand('contextCondenser.chooseCondensingProfile', () => load().chooseCondensingProfile()),
    vscode.commands.registerCommand('contextCondenser.previewPrompt', (path?: unknown) =>
      load().previewPrompt(services, typeof path === 'string' ? path : undefined),
    ),
    vscode.commands.registerCommand('contextCondenser.importRooSettings', () => load().importRooSettings(services)),
    vscode.commands.registerCommand('contextCondenser.showMeasures', () => load().showMetrics(services)),
    vscode.commands.registerCommand('contextCondenser.openAgent', (command?: unknown, folder?: unknown) =>
      load().openAgent(
        services,
        typeof command === 'string' ? command : undefined,
        typeof folder === 'string' ? folder : undefined,
      ),
    ),
    vscode.commands.registerCommand('contextCondenser.openGateway', () => load().openGateway(services)),
    vscode.window.registerTerminalProfileProvider('contextCondenser.agent', {
      provideTerminalProfile: () => load().agentProfile(services),
    }),
    vscode.commands.registerCommand('contextCondenser.saveAccount', () => load().saveAccount(services)),
    vscode.commands.registerCommand('contextCondenser.setThreshold', () => load().setThreshold()),
    vscode.commands.registerCommand('contextCondenser.showLog', () => {
      log.show();
    }),
  );
  contributeOriginals(context, services, load);
  contributeConversations(context, services, load);
  contributeToChat(context, modelsChanged.event, () => load().agentOf(services));
  contributeRecall(context, services);
  return { getApi: (version) => load().getApi(version, services) };
}

/** Markers are links to what stood there: in our own documents, and in copies that were saved. */
function contributeOriginals(
  { subscriptions }: vscode.ExtensionContext,
  services: Services,
  load: () => typeof commands,
): void {
  const documents = [
    { scheme: COMPARISON_SCHEME },
    { scheme: ORIGINAL_SCHEME },
    { scheme: 'file', pattern: '**/*.condensed.*' },
  ];
  const originals = () => load().originalsOf(services);
  subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(ORIGINAL_SCHEME, {
      provideTextDocumentContent: (uri) => originals().provideTextDocumentContent(uri),
    }),
    vscode.languages.registerDocumentLinkProvider(documents, {
      provideDocumentLinks: (document) => originals().provideDocumentLinks(document),
    }),
    vscode.languages.registerHoverProvider(documents, {
      provideHover: (document, position) => originals().provideHover(document, position),
    }),
    vscode.commands.registerCommand('contextCondenser.openOriginal', (reference?: unknown) =>
      originals().open(typeof reference === 'string' ? reference : undefined),
    ),
  );
}

/** The conversations view; what fills it is loaded when somebody looks at it. */
function contributeConversations(
  { subscriptions, globalStorageUri }: vscode.ExtensionContext,
  services: Services,
  load: () => typeof commands,
): void {
  const changed = new vscode.EventEmitter<undefined>();
  const treeDataProvider: vscode.TreeDataProvider<Node> = {
    onDidChangeTreeData: changed.event,
    getTreeItem: (node) => load().conversationsOf(services, tree).getTreeItem(node),
    getChildren: (node) => [...load().conversationsOf(services, tree).getChildren(node)],
  };
  const view = vscode.window.createTreeView(VIEW_ID, { treeDataProvider, showCollapseAll: true });
  const tree = { view, changed };
  subscriptions.push(
    changed,
    view,
    ...CONVERSATION_ACTIONS.map((action) =>
      vscode.commands.registerCommand(`${VIEW_ID}.${action}`, (subject?: unknown) =>
        load().runConversationAction(services, tree, action, subject),
      ),
    ),
  );
  if (existsSync(join(globalStorageUri.fsPath, 'replacements'))) void load().recoverGivenBack(services);
  const offerIdleTasks = (): void => {
    const settings = vscode.workspace.getConfiguration('contextCondenser');
    if (settings.get<unknown>('conversations.offerIdleTasks') === true) load().watchIdleTasks(services);
  };
  subscriptions.push(vscode.workspace.onDidChangeConfiguration(offerIdleTasks));
  offerIdleTasks();
}

/** The MCP server for agents that take VS Code's; a condensation may be the first of which there is something to recall. */
function contributeRecall({ subscriptions }: vscode.ExtensionContext, services: Services): void {
  const changed = new vscode.EventEmitter<void>();
  subscriptions.push(
    changed,
    services.condensed.event(() => {
      changed.fire();
    }),
    vscode.lm.registerMcpServerDefinitionProvider(RECALL_SERVER, {
      onDidChangeMcpServerDefinitions: changed.event,
      // VS Code asks as soon as the extension is active: the commands are not loaded for that.
      provideMcpServerDefinitions: () => recallServers(services),
    }),
  );
}

/** The models and the tool that VS Code's agent mode uses, and the commands about them. */
function contributeToChat(
  { subscriptions }: vscode.ExtensionContext,
  onDidChangeLanguageModelChatInformation: vscode.Event<void>,
  agent: () => AgentRuntime,
): void {
  subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider(OWN_VENDOR, {
      onDidChangeLanguageModelChatInformation,
      provideLanguageModelChatInformation: (options) => agent().provider.information(options),
      provideLanguageModelChatResponse: (...request) => agent().provider.respond(...request),
      provideTokenCount: (model, content) => agent().provider.countTokens(model, content),
    }),
    vscode.lm.registerTool(RECALL_TOOL, {
      prepareInvocation: () => ({ invocationMessage: vscode.l10n.t('Recalling condensed content') }),
      invoke: ({ input }) => agent().recall.invoke(input),
    }),
    vscode.commands.registerCommand('contextCondenser.showLive', () => agent().showDetails()),
    vscode.commands.registerCommand('contextCondenser.chooseWrappedModels', () => agent().chooseWrappedModels()),
  );
}
