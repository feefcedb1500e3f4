/**
 * The terminal's program is `context-condenser run`, so agent and gateway start and end together,
 * independent of the extension host.
 */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import * as vscode from 'vscode';
import { getAgentRuntime } from '../agent/runtime';
import { readConversationLimits, readWhenNotEnoughSetting } from '../agent/settings';
import { AGENT_LIST } from '../core/agents';
import { needsModelOrExtension } from '../core/condense/types';
import { getLiveLedgerFolder, getRunningFolder } from '../window/background';
import { SETTINGS } from '../settings/table';
import { nodeFiles } from '../storage/nodeFiles';
import { removeLeftRunFolders } from '../storage/runFolders';
import type { Services } from '../window/services';
import { resolveProviderConfig } from '../window/settings/providerConfig';
import { isSettingConfigured, saveUserSetting, readSetting } from '../window/settings/settings';
import { getSpendingFile } from '../window/spending';
import { pickOneItem, showErrorMessage, showInformationMessage } from '../window/notifications';

interface InstalledAgent {
  readonly name: string;
  readonly command: string;
  readonly path: string;
}

/** Context key of the walkthrough: an agent was opened, not only the list of agents. */
const HAS_OPENED_AGENT_CONTEXT_KEY = 'contextCondenser.hasOpenedAgent';

/**
 * @param command the agent's command; undefined: the user chooses an installed one
 * @param folder working folder; undefined: the workspace's first
 */
export async function openAgent(services: Services, command?: string, folder?: string): Promise<void> {
  const options = await createAgentTerminalOptions(services, command, folder);
  if (!options) return;
  vscode.window.createTerminal(options).show();
  void vscode.commands.executeCommand('setContext', HAS_OPENED_AGENT_CONTEXT_KEY, true);
}

/** Creates the terminal profile "Agent, Condensed". */
export async function createTerminalProfile(services: Services): Promise<vscode.TerminalProfile | undefined> {
  const options = await createAgentTerminalOptions(services, undefined, undefined);
  return options && new vscode.TerminalProfile(options);
}

async function createAgentTerminalOptions(
  services: Services,
  command: string | undefined,
  folder: string | undefined,
): Promise<vscode.TerminalOptions | undefined> {
  if (!(await ensureAutomaticEnabled())) return undefined;
  const agent = await chooseAgent(command);
  if (!agent) return undefined;
  const announcementFolder = getRunningFolder(services);
  mkdirSync(announcementFolder, { recursive: true, mode: 0o700 });
  await getAgentRuntime(services).refreshRunningConversations();
  const cwd = folder !== undefined && existsSync(folder) ? folder : vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return {
    name: vscode.l10n.t('{0}, condensed', agent.name),
    iconPath: new vscode.ThemeIcon('archive'),
    ...(cwd !== undefined && { cwd }),
    // VS Code's executable runs as Node if ELECTRON_RUN_AS_NODE is set.
    shellPath: process.execPath,
    shellArgs: [
      join(services.context.extensionPath, 'dist', 'cli.cjs'),
      'run',
      ...['--announce', announcementFolder, '--store', getLiveLedgerFolder(services), '--hold'],
      ...getSpendingOptions(services),
      ...getCondensingOptions(),
      agent.command,
    ],
    env: { ELECTRON_RUN_AS_NODE: '1' },
    isTransient: false,
  };
}

/** Removes the copies of agents' settings that runs left behind when they were killed. */
export const removeFoldersOfKilledRuns = (services: Services): Promise<void> =>
  removeLeftRunFolders(nodeFiles, getLiveLedgerFolder(services));

/**
 * Returns options of `run` and `gateway`. Leaves out defaults, which depend on what an agent can
 * recall.
 */
export function getCondensingOptions(): string[] {
  const provider = readSetting('provider');
  const [percent, tokens] = [readSetting('threshold'), readSetting('thresholdTokens')];
  const targetPercent = readSetting('agent.targetPercent');
  const config = resolveProviderConfig(provider);
  return [
    ...['--threshold', String(percent)],
    ...(tokens === 0 ? [] : ['--threshold-tokens', String(tokens)]),
    ...(targetPercent === SETTINGS['agent.targetPercent'].default ? [] : ['--target', String(targetPercent)]),
    // Instead of a provider that needs a model or an extension, the gateway uses Lossless.
    ...(provider === 'lossless' || needsModelOrExtension(provider) ? [] : ['--provider', provider]),
    ...(config === undefined || needsModelOrExtension(provider)
      ? []
      : ['--config', typeof config === 'string' ? config : JSON.stringify(config)]),
    ...getFollowUpOptions(provider),
    ...makeNewResultsArguments(),
  ];
}

/**
 * Returns the options for when Lossless misses the target. If Lossless replaces another provider,
 * only what the user has set applies.
 */
function getFollowUpOptions(provider: string): string[] {
  const isFollowUpAsked =
    provider === 'lossless' || (needsModelOrExtension(provider) && isSettingConfigured('agent.whenNotEnough'));
  const choice = isFollowUpAsked ? readWhenNotEnoughSetting().whenNotEnough : undefined;
  return choice === undefined ? [] : ['--when-not-enough', choice === 'fileAware' ? 'file-aware' : 'nothing'];
}

function makeNewResultsArguments(): string[] {
  const largeResultPercent = readSetting('agent.largeResultPercent');
  return [
    ...(readSetting('agent.onArrival') === 'off' ? ['--on-arrival', 'off'] : []),
    ...(readSetting('agent.noiseOnArrival') ? ['--noise-on-arrival'] : []),
    ...(largeResultPercent === SETTINGS['agent.largeResultPercent'].default
      ? []
      : ['--large-result', String(largeResultPercent)]),
  ];
}

/**
 * All windows add up costs in one file, which these options name. The limits in the settings may
 * change while the gateway runs.
 */
export function getSpendingOptions(services: Services): string[] {
  const { perConversation, perDay, stops } = readConversationLimits();
  return [
    ...['--spending', getSpendingFile(services)],
    ...['--max-cost-per-conversation', String(perConversation), '--max-cost-per-day', String(perDay)],
    ...['--at-max-cost', stops ? 'stop' : 'warn'],
  ];
}

/**
 * If the settings forbid gateways, offers to allow them.
 * @returns whether they are allowed
 */
export async function ensureAutomaticEnabled(): Promise<boolean> {
  if (readSetting('automatic')) return true;
  const turnOnLabel = vscode.l10n.t('Turn On');
  const text = vscode.l10n.t(
    'Automatic condensing is off, so no gateway is running. Use the agent as usual, or turn condensing on.',
  );
  if ((await showInformationMessage(text, turnOnLabel)) !== turnOnLabel) return false;
  await saveUserSetting('automatic', true);
  if (readSetting('automatic')) return true;
  void showErrorMessage(
    vscode.l10n.t('The settings of this workspace turn automatic condensing off, so no gateway was started.'),
  );
  return false;
}

async function chooseAgent(command: string | undefined): Promise<InstalledAgent | undefined> {
  const installedAgents = findInstalledAgents();
  if (command !== undefined) {
    const foundAgent = installedAgents.find((agent) => agent.command === command);
    if (!foundAgent) {
      void showErrorMessage(
        vscode.l10n.t(
          'The agent was not started: the command “{0}” is not on PATH. Install it, or add its folder to PATH and restart VS Code.',
          command,
        ),
      );
    }
    return foundAgent;
  }
  if (installedAgents.length === 0) {
    const agents = listGatewayAgents();
    const agentsLabel = vscode.l10n.t('Which Agents…');
    const text = vscode.l10n.t('None of the {0} agents that can run condensed was found on PATH.', agents.length);
    if ((await showInformationMessage(text, agentsLabel)) === agentsLabel)
      await pickOneItem(
        agents.map(({ name, command: one }) => ({ label: name, description: one })),
        { title: vscode.l10n.t('Agents and the commands that were looked for') },
      );
    return undefined;
  }
  const items = installedAgents.map((agent) => ({
    label: `$(terminal) ${agent.name}`,
    description: agent.path,
    agent,
  }));
  const title = vscode.l10n.t('Open an agent, condensed');
  const placeHolder = vscode.l10n.t('It runs in a terminal; its settings and its sign-in stay as they are.');
  return (await pickOneItem(items, { title, placeHolder, matchOnDescription: true }))?.agent;
}

const listGatewayAgents = (): { name: string; command: string }[] =>
  AGENT_LIST.flatMap(({ name, live }) => (live.through === 'gateway' ? [{ name, command: live.command }] : []));

/** Finds agents whose commands are on the path, in the order of the table of agents. */
function findInstalledAgents(): InstalledAgent[] {
  const pathFolders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const fileExtensions = process.platform === 'win32' ? (process.env['PATHEXT'] ?? '.EXE;.CMD').split(';') : [''];
  return listGatewayAgents().flatMap((agent) => {
    const candidatePaths = pathFolders.flatMap((folder) =>
      fileExtensions.map((ending) => join(folder, `${agent.command}${ending}`)),
    );
    const executablePath = candidatePaths.find(isExecutableFile);
    return executablePath === undefined ? [] : [{ ...agent, path: executablePath }];
  });
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
