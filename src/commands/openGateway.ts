/**
 * One gateway serves all windows at a fixed address. Its terminal survives reloads and ends with
 * the window that opened it; then another window can take over.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { getAgentRuntime } from '../agent/runtime';
import { GATEWAY_TERMINAL_NAME } from '../agent/names';
import { getErrorMessage } from '../core/errors';
import { hideSecretInAddress, type GatewayAnnouncement } from '../gateway/announcement';
import { getLiveLedgerFolder, getRunningFolder } from '../window/background';
import type { Services } from '../window/services';
import { CLAUDE_CODE_EXTENSION_ID, readClaudeCodeAddress, setClaudeCodeAddress } from './claudeCodeAddress';
import { getCondensingOptions, ensureAutomaticEnabled, openAgent, getSpendingOptions } from './openAgent';
import { pickOneItem, showErrorMessage, showInformationMessage } from '../window/notifications';

export async function openGateway(services: Services): Promise<void> {
  const gateway = await ensureGateway(services);
  if (gateway) await showAddresses(services, gateway);
}

export const connectClaudeCode = (services: Services): Promise<void> =>
  setClaudeCodeAddress(async () => (await ensureGateway(services))?.addresses?.['anthropic']);

async function ensureGateway(services: Services): Promise<GatewayAnnouncement | undefined> {
  const agent = getAgentRuntime(services);
  await agent.refreshRunningConversations();
  return agent.sharedGateway ?? startGatewayOnce(services);
}

let startingGateway: Promise<GatewayAnnouncement | undefined> | undefined;

/** If a gateway is already being started, returns the result of that start. */
const startGatewayOnce = (services: Services): Promise<GatewayAnnouncement | undefined> =>
  (startingGateway ??= startGateway(services).finally(() => {
    startingGateway = undefined;
  }));

/** @returns undefined if the gateway did not start; its terminal says why */
async function startGateway(services: Services): Promise<GatewayAnnouncement | undefined> {
  if (!(await ensureAutomaticEnabled())) return undefined;
  const announcementFolder = getRunningFolder(services);
  mkdirSync(announcementFolder, { recursive: true, mode: 0o700 });
  const agent = getAgentRuntime(services);
  await agent.refreshRunningConversations();
  const terminal = vscode.window.createTerminal({
    name: GATEWAY_TERMINAL_NAME,
    iconPath: new vscode.ThemeIcon('radio-tower'),
    // VS Code's executable runs as Node if ELECTRON_RUN_AS_NODE is set.
    shellPath: process.execPath,
    shellArgs: [
      join(services.context.extensionPath, 'dist', 'cli.cjs'),
      'gateway',
      ...['--announce', announcementFolder, '--store', getLiveLedgerFolder(services)],
      ...['--address-file', join(services.context.globalStorageUri.fsPath, 'gateway.json')],
      ...getSpendingOptions(services),
      ...getCondensingOptions(),
    ],
    env: { ELECTRON_RUN_AS_NODE: '1' },
    isTransient: false,
  });
  terminal.show(true);
  return new Promise((resolve) => {
    const subscriptions = [
      agent.liveEvents.event(() => {
        if (agent.sharedGateway) stopWaiting(agent.sharedGateway);
      }),
      vscode.window.onDidCloseTerminal((closed) => {
        if (closed === terminal) stopWaiting(undefined);
      }),
    ];
    const stopWaiting = (gateway: GatewayAnnouncement | undefined): void => {
      for (const subscription of subscriptions) subscription.dispose();
      resolve(gateway);
    };
  });
}

interface AddressItem extends vscode.QuickPickItem {
  readonly run: () => PromiseLike<unknown>;
}

const ROUTE_LABELS: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  gemini: 'Gemini',
  openrouter: 'OpenRouter',
};

async function showAddresses(services: Services, { addresses = {}, folder }: GatewayAnnouncement): Promise<void> {
  const items: AddressItem[] = [
    ...Object.entries(addresses).map(([route, address]) => ({
      label: `$(copy) ${ROUTE_LABELS[route] ?? route}`,
      description: hideSecretInAddress(address),
      run: () => copyAddress(ROUTE_LABELS[route] ?? route, address),
    })),
    ...createExtensionItems(services),
    { label: `$(debug-stop) ${vscode.l10n.t('End the Gateway')}`, run: () => endGateway(services) },
  ];
  const title = vscode.l10n.t('Gateway for agent extensions, in the window of {0}', folder);
  const placeHolder = vscode.l10n.t('Copy a base URL. It stays the same, and works while that window is open.');
  await (await pickOneItem(items, { title, placeHolder }))?.run();
}

function createExtensionItems(services: Services): AddressItem[] {
  const isInstalled = (id: string): boolean => vscode.extensions.getExtension(id) !== undefined;
  return [
    ...(isInstalled(CLAUDE_CODE_EXTENSION_ID)
      ? [
          {
            label: `$(plug) ${vscode.l10n.t('Claude Code…')}`,
            description: vscode.l10n.t('sends its requests through the gateway by a setting, or takes that back'),
            run: () => connectClaudeCode(services),
          },
        ]
      : []),
    // Codex's extension has no setting for an address (developers.openai.com/codex/ide/settings).
    ...(isInstalled('openai.chatgpt')
      ? [
          {
            label: `$(terminal) ${vscode.l10n.t('Codex…')}`,
            description: vscode.l10n.t(
              'its extension takes no address from VS Code; opens Codex in a terminal, condensed',
            ),
            run: () => openAgent(services, 'codex'),
          },
        ]
      : []),
  ];
}

async function copyAddress(name: string, address: string): Promise<void> {
  await vscode.env.clipboard.writeText(address);
  void showInformationMessage(
    vscode.l10n.t(
      'Copied. Paste it into the extension’s settings as the base URL of {0}, and leave the key and model as they are. Requests fail while the gateway is not running.',
      name,
    ),
  );
}

async function endGateway(services: Services): Promise<void> {
  try {
    await getAgentRuntime(services).endSharedGateway();
  } catch (error) {
    void showErrorMessage(getErrorMessage(error));
    return;
  }
  if (vscode.extensions.getExtension(CLAUDE_CODE_EXTENSION_ID) && (await readClaudeCodeAddress()).kind === 'set')
    await connectClaudeCode(services);
}
