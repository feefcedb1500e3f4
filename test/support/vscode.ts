/**
 * A fake `vscode` module for unit tests: it records in `fake` what is shown, and takes the user's
 * scripted answers from there. End-to-end tests use the real module.
 */
import { COMPARISON_SCHEME } from '../../src/window/schemes';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

type Listener = () => void;

export interface FakeItem {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
}

export interface FakeQuickPick {
  title: string;
  placeholder: string;
  busy: boolean;
  matchOnDetail: boolean;
  ignoreFocusOut: boolean;
  items: readonly FakeItem[];
  activeItems: readonly FakeItem[];
  selectedItems: readonly FakeItem[];
  onDidChangeSelection(listener: (items: readonly FakeItem[]) => void): void;
  onDidAccept(listener: Listener): void;
  onDidHide(listener: Listener): void;
  onDidTriggerItemButton(listener: (event: { item: FakeItem }) => void): void;
  onDidChangeValue(listener: Listener): void;
  onDidChangeActive(listener: Listener): Disposable;
  /** Simulates that the window reports its active row. */
  activate(...items: readonly FakeItem[]): void;
  /** Simulates typing. */
  type(): void;
  show(): void;
  dispose(): void;
  /** Simulates the user's choice of an item. */
  accept(item: FakeItem): void;
  triggerButton(item: FakeItem): void;
  hide(): void;
}

export interface FakeStatusBarItem {
  readonly id: string;
  text: string;
  name: string;
  command: string | undefined;
  tooltip: MarkdownString | undefined;
  backgroundColor: ThemeColor | undefined;
  isShown: boolean;
  show(): void;
  hide(): void;
  dispose(): void;
}

export interface FakeTerminal {
  readonly name: string;
  readonly options: {
    readonly name: string;
    readonly cwd?: string;
    readonly shellArgs: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  readonly processId: Promise<number | undefined>;
  isShown: boolean;
  /** Texts that were sent to the terminal. */
  readonly sent: string[];
  sendText(text: string): void;
  show(): void;
  /** Simulates closing by the user. */
  close(): void;
}

export class TerminalProfile {
  constructor(readonly options: FakeTerminal['options']) {}
}

/** Contains the options of `vscode.TreeView`, among them its data provider. */
export interface FakeTree {
  description: string;
  message: string;
  readonly treeDataProvider: unknown;
  dispose(): void;
}

export interface ShownMessages {
  readonly kind: 'information' | 'error' | 'warning' | 'status';
  readonly message: string;
  readonly choices: readonly string[];
}

/** What was shown, and scripted answers. */
export const fake = {
  shown: [] as ShownMessages[],
  /**
   * Buttons that the user selects, in this order, on the messages that have them; undefined
   * dismisses a message with buttons.
   */
  answers: [] as (string | undefined)[],
  settings: {} as Record<string, unknown>,
  /** Settings of the workspace, and defaults from package.json, by name. */
  workspaceSettings: {} as Record<string, unknown>,
  defaults: {} as Record<string, unknown>,
  /** Makes the next settings update fail. */
  updateError: undefined as Error | undefined,
  /**
   * Texts that the user enters, and list items that the user picks (part of a label), in order;
   * undefined cancels.
   */
  inputs: [] as (string | undefined)[],
  picks: [] as (string | undefined)[],
  /** Items that lists offered, and validation messages. */
  offered: [] as (readonly FakeItem[])[],
  problems: [] as (string | undefined)[],
  secrets: new Map<string, string>(),
  models: [] as unknown[],
  executed: [] as unknown[][],
  openFile: undefined as string | undefined,
  saveFile: undefined as string | undefined,
  progress: [] as string[],
  /** Cancels the next progress at its first report. */
  cancelAtFirstReport: false,
  /** Cancels the visible progress. */
  cancelProgress: (): void => undefined,
  quickPick: undefined as FakeQuickPick | undefined,
  onQuickPick: undefined as ((picker: FakeQuickPick) => void) | undefined,
  /** Gives the window focus, or takes it away. */
  setFocused: (focused: boolean): void => {
    window.state = { focused };
    windowStates.fire(window.state);
  },
  registered: new Map<string, (...args: unknown[]) => unknown>(),
  /** Chat contributions, by vendor or name. */
  chatProviders: new Map<string, unknown>(),
  tools: new Map<string, unknown>(),
  mcpProviders: new Map<string, unknown>(),
  participants: new Map<string, unknown>(),
  statusBar: [] as FakeStatusBarItem[],
  clipboard: '',
  /** Simulates a remote window. */
  remoteName: undefined as string | undefined,
  isWeb: false,
  /** Exports of other extensions, by ID. */
  extensions: new Map<string, unknown>(),
  trees: new Map<string, FakeTree>(),
  /** Listeners of watched folders, by path. */
  watched: new Map<string, Record<'created' | 'changed' | 'deleted', (path: string) => void>>(),
  provider: undefined as { provideTextDocumentContent(uri: Uri): Promise<string> } | undefined,
  reset(): void {
    window.state = { focused: true };
    window.terminals = [];
    Object.assign(this, { workspaceSettings: {}, defaults: {}, updateError: undefined });
    Object.assign(this, { shown: [], answers: [], settings: {}, executed: [], progress: [] });
    Object.assign(this, { openFile: undefined, saveFile: undefined, cancelAtFirstReport: false });
    Object.assign(this, { quickPick: undefined, onQuickPick: undefined, provider: undefined });
    Object.assign(this, { inputs: [], picks: [], offered: [], problems: [], models: [] });
    this.secrets.clear();
    this.registered.clear();
    this.chatProviders.clear();
    this.tools.clear();
    this.mcpProviders.clear();
    this.statusBar = [];
    this.clipboard = '';
    this.remoteName = undefined;
    this.isWeb = false;
    this.extensions.clear();
    this.trees.clear();
    this.watched.clear();
  },
};

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly path: string,
    readonly query = '',
  ) {}
  get fsPath(): string {
    return this.path;
  }
  static file(path: string): Uri {
    return new Uri('file', path);
  }
  static from({ scheme, path, query }: { scheme: string; path: string; query?: string }): Uri {
    return new Uri(scheme, path, query);
  }
  static joinPath(base: Uri, ...parts: string[]): Uri {
    return new Uri(base.scheme, join(base.path, ...parts));
  }
}

export class CancellationError extends Error {}

export class Disposable {
  constructor(readonly dispose: () => void) {}
}

export class EventEmitter<T> {
  private readonly listeners = new Set<(event: T) => void>();
  readonly event = (listener: (event: T) => void): Disposable => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };
  fire(event: T): void {
    for (const listener of this.listeners) listener(event);
  }
  dispose(): void {
    this.listeners.clear();
  }
}

export const ProgressLocation = { Notification: 15, Window: 10 };

export const l10n = {
  bundle: undefined as Record<string, string> | undefined,
  t: (text: string, ...values: unknown[]): string =>
    text.replace(/\{(\d+)\}/g, (_match, index: string) => String(values[Number(index)])),
};

const makeShowMessage =
  (kind: ShownMessages['kind']) =>
  (message: string, ...choices: string[]) => {
    fake.shown.push({ kind, message, choices });
    const [answer] = fake.answers;
    // A user selects a button only on a message that has it.
    const isAnswered = choices.length > 0 && (answer === undefined || choices.includes(answer));
    return Promise.resolve(isAnswered ? fake.answers.shift() : undefined);
  };

const logger = () => {
  const lines: string[] = [];
  const writeLine = (line: string): void => {
    lines.push(line);
  };
  const reveal = (): void => {
    fake.executed.push(['log.show']);
  };
  return { lines, info: writeLine, warn: writeLine, error: writeLine, show: reveal, dispose: () => undefined };
};

interface Token {
  isCancellationRequested: boolean;
  onCancellationRequested(listener: Listener): { dispose(): void };
}

export const ConfigurationTarget = { Global: 1, Workspace: 2 };

export const secretStorage = {
  get: (name: string) => Promise.resolve(fake.secrets.get(name)),
  store: (name: string, value: string) => Promise.resolve(void fake.secrets.set(name, value)),
  delete: (name: string) => Promise.resolve(void fake.secrets.delete(name)),
};

export class CancellationTokenSource {
  private readonly listeners: Listener[] = [];
  readonly token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener: Listener) => {
      this.listeners.push(listener);
      return { dispose: () => undefined };
    },
  };
  cancel(): void {
    this.token.isCancellationRequested = true;
    this.listeners.forEach((listener) => listener());
  }
  dispose(): void {
    this.listeners.length = 0;
  }
}

export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}
export class LanguageModelToolCallPart {
  constructor(
    readonly callId: string,
    readonly name: string,
    readonly input: object,
  ) {}
}
export class LanguageModelToolResultPart {
  constructor(
    readonly callId: string,
    readonly content: unknown[],
  ) {}
}
export class LanguageModelToolResult {
  constructor(readonly content: unknown[]) {}
}
/** VS Code's extension host has this class, but its typings lack it. */
export class LanguageModelThinkingPart {
  constructor(
    readonly value: string | readonly string[],
    readonly id?: string,
    readonly metadata?: object,
  ) {}
}

export class McpStdioServerDefinition {
  constructor(
    readonly label: string,
    readonly command: string,
    readonly args: readonly string[],
    readonly env: Readonly<Record<string, string>>,
    readonly version?: string,
  ) {}
}

export class LanguageModelDataPart {
  constructor(
    readonly data: Uint8Array,
    readonly mimeType: string,
  ) {}

  static image(data: Uint8Array, mimeType: string): LanguageModelDataPart {
    return new LanguageModelDataPart(data, mimeType);
  }
}
export const LanguageModelChatToolMode = { Auto: 1, Required: 2 };
export const LanguageModelChatMessage = {
  User: (content: unknown) => ({ role: 1, content }),
  Assistant: (content: unknown) => ({ role: 2, content }),
};
export const lm = {
  selectChatModels: () => Promise.resolve(fake.models),
  registerLanguageModelChatProvider: (vendor: string, provider: unknown) => {
    fake.chatProviders.set(vendor, provider);
    return new Disposable(() => fake.chatProviders.delete(vendor));
  },
  registerMcpServerDefinitionProvider: (id: string, provider: unknown) => {
    fake.mcpProviders.set(id, provider);
    return new Disposable(() => fake.mcpProviders.delete(id));
  },
  registerTool: (name: string, tool: unknown) => {
    fake.tools.set(name, tool);
    return new Disposable(() => fake.tools.delete(name));
  },
  onDidChangeChatModels: new EventEmitter<void>().event,
};
export const UIKind = { Desktop: 1, Web: 2 };
export const env = {
  language: 'en',
  get uiKind(): number {
    return fake.isWeb ? UIKind.Web : UIKind.Desktop;
  },
  get remoteName(): string | undefined {
    return fake.remoteName;
  },
  clipboard: { writeText: (text: string) => Promise.resolve(void (fake.clipboard = text)) },
  openExternal: (uri: Uri) => {
    fake.executed.push(['openExternal', uri]);
    return Promise.resolve(true);
  },
};

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };

export class ThemeIcon {
  constructor(readonly id: string) {}
}

export class TreeItem {
  constructor(
    readonly label: string,
    readonly collapsibleState: number,
  ) {}
}

export class RelativePattern {
  constructor(
    readonly base: Uri,
    readonly pattern: string,
  ) {}
}

/** Finds other extensions in `fake.extensions`. */
export const extensions = {
  getExtension: (id: string) => {
    const extensionExports = fake.extensions.get(id);
    return extensionExports === undefined
      ? undefined
      : { activate: () => Promise.resolve(extensionExports), packageJSON: {} };
  },
};

/**
 * A webview panel: `sent` contains the posted messages, and `receive` simulates one from the page.
 */
export class FakeWebviewPanel {
  readonly options: { readonly retainContextWhenHidden?: boolean };

  /** @param asked the arguments to VS Code: type, title, place and options. */
  constructor(readonly asked: readonly unknown[] = []) {
    this.options = asked[3] ?? {};
    FakeWebviewPanel.opened.push(this);
  }

  /** All opened panels, newest last. */
  static readonly opened: FakeWebviewPanel[] = [];

  readonly sent: unknown[] = [];
  readonly revealed: unknown[] = [];
  visible = true;
  private readonly received = new EventEmitter<unknown>();
  private readonly disposed = new EventEmitter<void>();
  private readonly viewStateChanged = new EventEmitter<unknown>();
  readonly webview = {
    options: {},
    html: '',
    cspSource: 'vscode-webview:',
    asWebviewUri: (uri: Uri) => uri,
    onDidReceiveMessage: this.received.event,
    postMessage: (message: unknown) => {
      // The message is serialized, as it is between processes.
      this.sent.push(JSON.parse(JSON.stringify(message)));
      return Promise.resolve(true);
    },
  };
  readonly onDidDispose = this.disposed.event;
  readonly onDidChangeViewState = this.viewStateChanged.event;
  /** Simulates a change of the active tab. */
  show(isVisible: boolean): void {
    this.visible = isVisible;
    this.viewStateChanged.fire({ webviewPanel: this });
  }
  reveal(): void {
    this.visible = true;
    this.revealed.push(true);
  }
  receive(message: unknown): void {
    this.received.fire(message);
  }
  dispose(): void {
    this.disposed.fire();
  }
}

export const ViewColumn = { Active: -1 };

export const StatusBarAlignment = { Left: 1, Right: 2 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class MarkdownString {
  constructor(public value = '') {}
  appendText(text: string): this {
    this.value += text;
    return this;
  }
  isTrusted: unknown;
  appendCodeblock(text: string): this {
    return this.appendText(`\n\`\`\`\`\n${text}\n\`\`\`\`\n`);
  }
  appendMarkdown(text: string): this {
    return this.appendText(text);
  }
  /** The text without Markdown escapes. */
  get shown(): string {
    return this.value.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1');
  }
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(...at: readonly [Position, Position] | readonly [number, number, number, number]) {
    const [a, b, c, d] = at;
    this.start = typeof a === 'number' ? new Position(a, b as number) : a;
    this.end = typeof a === 'number' ? new Position(c as number, d as number) : (b as Position);
  }
}

export class FoldingRange {
  constructor(
    readonly start: number,
    readonly end: number,
  ) {}
}

export class TabInputTextDiff {
  constructor(
    readonly original: Uri,
    readonly modified: Uri,
  ) {}
}

export class DocumentLink {
  tooltip: string | undefined;
  constructor(
    readonly range: Range,
    readonly target: Uri,
  ) {}
}

export class Hover {
  constructor(
    readonly contents: MarkdownString,
    readonly range: Range,
  ) {}
}

export const textDocument = (text: string) => ({
  getText: () => text,
  positionAt: (offset: number) => {
    const before = text.slice(0, offset).split('\n');
    return new Position(before.length - 1, before.at(-1)?.length ?? 0);
  },
  lineAt: (line: number) => ({ text: text.split('\n')[line] ?? '' }),
});

export const chat = {
  createChatParticipant: (id: string, handler: unknown) => {
    fake.participants.set(id, handler);
    return new Disposable(() => fake.participants.delete(id));
  },
};

export const languages = {
  registerDocumentLinkProvider: () => new Disposable(() => undefined),
  registerHoverProvider: () => new Disposable(() => undefined),
  registerFoldingRangeProvider: () => new Disposable(() => undefined),
};

const closedTerminals = new EventEmitter<FakeTerminal>();

const windowStates = new EventEmitter<{ readonly focused: boolean }>();

export const window = {
  state: { focused: true },
  onDidChangeWindowState: windowStates.event,
  createStatusBarItem(id: string): FakeStatusBarItem {
    const item: FakeStatusBarItem = {
      id,
      text: '',
      name: '',
      command: undefined,
      tooltip: undefined,
      backgroundColor: undefined,
      isShown: false,
      show: () => void (item.isShown = true),
      hide: () => void (item.isShown = false),
      dispose: () => void (item.isShown = false),
    };
    fake.statusBar.push(item);
    return item;
  },
  createTreeView(id: string, { treeDataProvider }: { treeDataProvider: unknown }): FakeTree {
    const tree: FakeTree = { description: '', message: '', treeDataProvider, dispose: () => fake.trees.delete(id) };
    fake.trees.set(id, tree);
    return tree;
  },
  registerFileDecorationProvider: () => new Disposable(() => undefined),
  registerWebviewPanelSerializer: () => new Disposable(() => undefined),
  tabGroups: {
    all: [] as { tabs: { input: unknown }[] }[],
    activeTabGroup: { activeTab: undefined as { input: unknown } | undefined },
    close(tabs: readonly object[]): Promise<boolean> {
      for (const group of window.tabGroups.all) group.tabs = group.tabs.filter((tab) => !tabs.includes(tab));
      return Promise.resolve(true);
    },
  },
  terminals: [] as FakeTerminal[],
  onDidCloseTerminal: closedTerminals.event,
  createTerminal(options: FakeTerminal['options']): FakeTerminal {
    const terminal: FakeTerminal = {
      name: options.name,
      options,
      processId: Promise.resolve(process.pid),
      isShown: false,
      sent: [],
      sendText: (text) => void terminal.sent.push(text),
      show: () => void (terminal.isShown = true),
      close: () => {
        window.terminals = window.terminals.filter((each) => each !== terminal);
        closedTerminals.fire(terminal);
      },
    };
    window.terminals.push(terminal);
    return terminal;
  },
  registerTerminalProfileProvider: () => new Disposable(() => undefined),
  createWebviewPanel: (...asked: readonly unknown[]) => new FakeWebviewPanel(asked),
  showInformationMessage: makeShowMessage('information'),
  showWarningMessage: (message: string, ...rest: unknown[]) =>
    makeShowMessage('warning')(message, ...rest.filter((choice) => typeof choice === 'string')),
  showTextDocument: (document: unknown) => {
    fake.executed.push(['showTextDocument', document]);
    return Promise.resolve();
  },
  showInputBox: ({ validateInput }: { validateInput?: (value: string) => string | undefined }) => {
    const input = fake.inputs.shift();
    if (validateInput && input !== undefined) fake.problems.push(validateInput(input));
    return Promise.resolve(input);
  },
  showQuickPick: (items: readonly FakeItem[], options: { readonly canPickMany?: boolean } = {}) => {
    fake.offered.push(items);
    const nextPick = fake.picks.shift();
    // In a multi-select list, the pick selects every label that it contains.
    if (options.canPickMany) {
      return Promise.resolve(
        nextPick === undefined ? undefined : items.filter(({ label }) => nextPick.includes(label)),
      );
    }
    return Promise.resolve(nextPick === undefined ? undefined : items.find(({ label }) => label.includes(nextPick)));
  },
  showErrorMessage: makeShowMessage('error'),
  setStatusBarMessage: (message: string) => {
    fake.shown.push({ kind: 'status', message, choices: [] });
    return new Disposable(() => undefined);
  },
  showOpenDialog: () => Promise.resolve(fake.openFile === undefined ? undefined : [Uri.file(fake.openFile)]),
  showSaveDialog: () => Promise.resolve(fake.saveFile === undefined ? undefined : Uri.file(fake.saveFile)),
  createOutputChannel: logger,
  async withProgress<T>(
    _options: unknown,
    task: (progress: { report(value: { message?: string }): void }, token: Token) => Promise<T>,
  ): Promise<T> {
    const listeners: Listener[] = [];
    const token: Token = {
      isCancellationRequested: false,
      onCancellationRequested: (listener) => {
        listeners.push(listener);
        return { dispose: () => listeners.splice(listeners.indexOf(listener), 1) };
      },
    };
    fake.cancelProgress = () => {
      listeners.forEach((listener) => listener());
    };
    const report = ({ message }: { message?: string }): void => {
      if (message !== undefined) fake.progress.push(message);
      if (fake.cancelAtFirstReport) listeners.forEach((listener) => listener());
    };
    return task({ report }, token);
  },
  createQuickPick(): FakeQuickPick {
    const selectionListeners: ((items: readonly FakeItem[]) => void)[] = [];
    const acceptListeners: Listener[] = [];
    const hideListeners: Listener[] = [];
    const valueListeners: Listener[] = [];
    const activeChanges = new EventEmitter<void>();
    const buttons: ((event: { item: FakeItem }) => void)[] = [];
    const picker: FakeQuickPick = {
      title: '',
      placeholder: '',
      busy: false,
      matchOnDetail: false,
      ignoreFocusOut: false,
      items: [],
      activeItems: [],
      selectedItems: [],
      onDidChangeSelection: (listener) => selectionListeners.push(listener),
      onDidAccept: (listener) => acceptListeners.push(listener),
      onDidTriggerItemButton: (listener) => void buttons.push(listener),
      onDidHide: (listener) => hideListeners.push(listener),
      onDidChangeValue: (listener) => void valueListeners.push(listener),
      onDidChangeActive: activeChanges.event,
      activate: (...items) => {
        picker.activeItems = items;
        activeChanges.fire();
      },
      type: () => {
        valueListeners.forEach((listener) => listener());
      },
      show: () => fake.onQuickPick?.(picker),
      dispose: () => undefined,
      accept(item) {
        picker.selectedItems = [item];
        selectionListeners.forEach((listener) => {
          listener(picker.selectedItems);
        });
        acceptListeners.forEach((listener) => listener());
      },
      triggerButton: (item) => {
        buttons.forEach((listener) => {
          listener({ item });
        });
      },
      hide: () => {
        hideListeners.forEach((listener) => listener());
      },
    };
    fake.quickPick = picker;
    return picker;
  },
};

export const commands = {
  executeCommand: (...args: unknown[]) => {
    fake.executed.push(args);
    const [command, original, modified] = args;
    if (command === 'vscode.diff' && original instanceof Uri && modified instanceof Uri)
      window.tabGroups.all = [
        {
          tabs: [
            ...window.tabGroups.all.flatMap(({ tabs }) => tabs),
            { input: new TabInputTextDiff(original, modified) },
          ],
        },
      ];
    return Promise.resolve();
  },
  registerCommand: (name: string, handler: (...args: unknown[]) => unknown) => {
    fake.registered.set(name, handler);
    return { dispose: () => fake.registered.delete(name) };
  },
};

const configurationChanges = new EventEmitter<{ affectsConfiguration(part: string): boolean }>();

export const workspace = {
  isTrusted: true,
  workspaceFolders: undefined as { uri: Uri }[] | undefined,
  name: undefined as string | undefined,
  getConfiguration: (section: string) => ({
    get: (key: string) => {
      const name = `${section}.${key}`;
      return fake.workspaceSettings[name] ?? fake.settings[name] ?? fake.defaults[name];
    },
    inspect: (key: string) => ({
      key,
      defaultValue: fake.defaults[`${section}.${key}`],
      globalValue: fake.settings[`${section}.${key}`],
      workspaceValue: fake.workspaceSettings[`${section}.${key}`],
    }),
    update: async (key: string, value: unknown, target: number = ConfigurationTarget.Global) => {
      if (fake.updateError) throw fake.updateError;
      const values = target === ConfigurationTarget.Workspace ? fake.workspaceSettings : fake.settings;
      if (value === undefined) Reflect.deleteProperty(values, `${section}.${key}`);
      else values[`${section}.${key}`] = value;
      // VS Code notifies the extension only later.
      await Promise.resolve();
      configurationChanges.fire({ affectsConfiguration: (part: string) => `${section}.${key}`.startsWith(part) });
    },
  }),
  onDidChangeConfiguration: configurationChanges.event,
  /** Simulates a change in a setting of VS Code or of another extension. */
  changeExternalSetting: () => {
    configurationChanges.fire({ affectsConfiguration: () => false });
  },
  createFileSystemWatcher({ base }: RelativePattern) {
    const [created, changed, deleted] = [new EventEmitter<Uri>(), new EventEmitter<Uri>(), new EventEmitter<Uri>()];
    fake.watched.set(base.fsPath, {
      created: (path) => {
        created.fire(Uri.file(path));
      },
      changed: (path) => {
        changed.fire(Uri.file(path));
      },
      deleted: (path) => {
        deleted.fire(Uri.file(path));
      },
    });
    const dispose = () => fake.watched.delete(base.fsPath);
    return { onDidCreate: created.event, onDidChange: changed.event, onDidDelete: deleted.event, dispose };
  },
  onDidChangeWorkspaceFolders: new EventEmitter<object>().event,
  onDidGrantWorkspaceTrust: new EventEmitter<undefined>().event,
  openTextDocument: (document: { content: string }) => Promise.resolve(document),
  registerTextDocumentContentProvider: (scheme: string, provider: typeof fake.provider) => {
    if (scheme !== COMPARISON_SCHEME) return new Disposable(() => undefined);
    fake.provider = provider;
    return { dispose: () => undefined };
  },
  fs: {
    writeFile: (uri: Uri, bytes: Uint8Array) => writeFile(uri.fsPath, bytes),
    readFile: (uri: Uri) => readFile(uri.fsPath),
  },
};

/** Resets everything for the next test file, which shares this module with earlier ones. */
export function openNewWindow(): void {
  fake.reset();
  fake.participants.clear();
  fake.cancelProgress = () => undefined;
  for (const events of [closedTerminals, windowStates, configurationChanges]) events.dispose();
  Object.assign(workspace, { isTrusted: true, workspaceFolders: undefined, name: undefined });
  l10n.bundle = undefined;
}
