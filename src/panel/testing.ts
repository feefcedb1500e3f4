/** Opens a settings panel in a test: the real host side over the test double of VS Code. */
import { readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { memento } from '../../test/support/services';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { EventEmitter, fake, FakeWebviewPanel, secretStorage, Uri } from '../../test/support/vscode';
import type {} from '../../test/support/ranks';
import { RegisteredProviders } from '../window/registeredProviders';
import { getSamplePath } from '../window/samplePath';
import type { Services } from '../window/services';
import { mergeProperties } from './manifest';
import type { PanelDependencies } from './parts';
import {
  messageToWebviewSchema,
  type PanelMethod,
  type MethodParams,
  type PanelState,
  type MessageToWebview,
} from './protocol';
import { SettingsPanel } from './settingsPanel';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  contributes: { configuration: { properties: Record<string, { default?: unknown }> }[] };
};

export interface TestPanel {
  readonly panel: SettingsPanel;
  readonly page: FakeWebviewPanel;
  readonly logged: readonly string[];
  readonly registered: RegisteredProviders;
  /** The state that VS Code keeps for the workspace. */
  readonly workspaceState: ReturnType<typeof memento>;
  /** Announces a condensation. */
  readonly condensed: EventEmitter<unknown>;
  /** Announces an undo or another change. */
  readonly ledgersChanged: EventEmitter<undefined>;
  /** Returns the messages sent to the page, validated like in the webview. */
  posted(): MessageToWebview[];
  state(): PanelState;
  /** @returns the answer to a request */
  ask<M extends PanelMethod>(method: M, params: MethodParams<M>): Promise<MessageToWebview>;
}

export type TestBackend = Partial<Record<keyof ReturnType<PanelDependencies['commands']>, unknown>>;

/**
 * @param backend replaces the commands that call models and read conversations
 * @param providers other extensions' providers
 */
export function openTestPanel(
  backend: TestBackend = {},
  providers: readonly Parameters<RegisteredProviders['addProvider']>[0][] = [],
  workspaceState = memento(),
): TestPanel {
  const registered = new RegisteredProviders();
  for (const provider of providers) registered.addProvider(provider);
  for (const [name, schema] of Object.entries(mergeProperties(manifest.contributes.configuration))) {
    fake.defaults[name] = schema.default;
  }
  const logged: string[] = [];
  const log = (line: string): void => {
    logged.push(line);
  };
  const page = new FakeWebviewPanel();
  const condensed = new EventEmitter<unknown>();
  const ledgersChanged = new EventEmitter<undefined>();
  const settingsChanged = new EventEmitter<undefined>();
  const commands = {
    loadModelWindowAndPrices: () => Promise.resolve({}),
    listEditorModels: () => Promise.resolve([]),
    listToolWeights: () => [],
    ...createPreviewBackend(),
    ...backend,
  };
  const parts = {
    services: {
      context: {
        workspaceState,
        secrets: { ...secretStorage, onDidChange: () => ({ dispose: () => undefined }) },
        extensionUri: Uri.file('/extension'),
        extensionPath: createBuiltExtension(),
      },
      log: { warn: log, info: log, error: log },
      registered,
      condensed,
      ledgersChanged,
      settingsChanged,
    },
    extension: { packageJSON: manifest },
    commands: () => commands,
    // The double has only what the panel uses of these.
  } as unknown as PanelDependencies;
  const panel = new SettingsPanel(page as never, parts);
  // The test double of VS Code outlives the test. Without this, the panel would also react to the
  // events of later tests.
  onTestFinished(() => {
    panel.dispose();
  });
  let id = 0;
  const posted = (): MessageToWebview[] => page.sent.map((message) => messageToWebviewSchema.parse(message));
  return {
    panel,
    page,
    logged,
    condensed,
    ledgersChanged,
    registered,
    workspaceState,
    posted,
    state() {
      const states = posted().flatMap((message) => ('state' in message ? [message.state] : []));
      const lastState = states.at(-1);
      if (!lastState) throw new Error('the page was told no state');
      return lastState;
    },
    async ask(method, params) {
      const requestId = ++id;
      page.receive({ type: 'request', id: requestId, method, params });
      for (;;) {
        const answer = posted().find((message) => 'id' in message && message.id === requestId);
        if (answer) return answer;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

/** Creates a folder with the bundles, like an installed extension's. */
function createBuiltExtension(): string {
  const folder = temporaryFolder();
  symlinkSync(inject('assets'), join(folder, 'dist'), 'junction');
  symlinkSync(resolve('sample'), join(folder, 'sample'), 'junction');
  return folder;
}

/** Previews the sample, condensed losslessly. */
const createPreviewBackend = (): TestBackend => ({
  getDefaultConversation: ({ context }: Pick<Services, 'context'>) => ({
    kind: 'file',
    path: getSamplePath(context.extensionPath),
  }),
  findOwnConversation: () => Promise.resolve(undefined),
  resolveConversation: (_services: unknown, { path }: { readonly path: string }) => ({
    kind: 'file',
    path,
    history: 'active',
    store: join(tmpdir(), 'no-ledgers'),
  }),
  loadLiveView: () => Promise.resolve(),
  subscribeToLiveChanges: () => ({ dispose: () => undefined }),
  findModelPricing: () => Promise.resolve(undefined),
  createPreviewSetupsOfProfiles: () => Promise.resolve([]),
  readPreviewSetup: () =>
    Promise.resolve({
      provider: fake.settings['contextCondenser.provider'] ?? 'lossless',
      config: fake.settings['contextCondenser.smart'],
      presets: [],
      targetPercent: fake.settings['contextCondenser.manual.targetPercent'] ?? 50,
      maxCost: 0.5,
      models: [],
    }),
});
