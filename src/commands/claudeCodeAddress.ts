/**
 * The Claude Code extension starts its agent with the environment variables in its setting
 * `claudeCode.environmentVariables` (its documentation, "Use Claude Code in VS Code";
 * anthropics/claude-code#72261). We never write Claude Code's own files.
 */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import { CLAUDE_CODE_CLOUD_VARIABLES, isVariableTurnedOn } from '../core/agents/claudeCodeClouds';
import { isGatewayAddress, hideSecretInAddress } from '../gateway/announcement';
import { showErrorMessage, showInformationMessage, showWarningMessage } from '../window/notifications';
import { getErrorMessage } from '../core/errors';

export const CLAUDE_CODE_EXTENSION_ID = 'anthropic.claude-code';
const [SECTION, SETTING, ADDRESS] = ['claudeCode', 'environmentVariables', 'ANTHROPIC_BASE_URL'];
const CLAUDE_CODE_VARIABLES_SETTING = `${SECTION}.${SETTING}`;

const environmentVariablesSchema = z.array(z.looseObject({ name: z.string(), value: z.string() }));
type EnvironmentVariables = z.infer<typeof environmentVariablesSchema>;

const claudeSettingsSchema = z.object({ env: z.record(z.string(), z.string()).optional() });

export type ClaudeCodeAddress =
  /** The setting already contains the address of this gateway or an earlier one. */
  | { readonly kind: 'set'; readonly address: string; readonly variables: EnvironmentVariables }
  | { readonly kind: 'free'; readonly variables: EnvironmentVariables }
  /** `why` is shown to the user. */
  | { readonly kind: 'blocked'; readonly why: string };

export async function readClaudeCodeAddress(): Promise<ClaudeCodeAddress> {
  const makeBlockedAddress = (why: string): ClaudeCodeAddress => ({ kind: 'blocked', why });
  const settings = vscode.workspace.getConfiguration(SECTION).inspect<unknown>(SETTING);
  if (settings?.workspaceValue !== undefined || settings?.workspaceFolderValue !== undefined) {
    return makeBlockedAddress(
      vscode.l10n.t(
        'This workspace sets {0}, and that counts instead of your user settings.',
        CLAUDE_CODE_VARIABLES_SETTING,
      ),
    );
  }
  const parsedVariables = environmentVariablesSchema.safeParse(settings?.globalValue ?? []);
  if (!parsedVariables.success) {
    return makeBlockedAddress(
      vscode.l10n.t('{0} in your user settings is not a list of names and values.', CLAUDE_CODE_VARIABLES_SETTING),
    );
  }
  const variables = parsedVariables.data;
  const values = new Map(variables.map(({ name, value }) => [name, value]));
  const address = values.get(ADDRESS);
  if (address !== undefined && isGatewayAddress(address)) return { kind: 'set', address, variables };
  const file = join(process.env['CLAUDE_CONFIG_DIR'] ?? join(homedir(), '.claude'), 'settings.json');
  const variableSources = [
    { where: CLAUDE_CODE_VARIABLES_SETTING, named: values },
    { where: file, named: await readClaudeSettingsVariables(file) },
  ];
  for (const { where, named } of variableSources) {
    const cloudVariable = CLAUDE_CODE_CLOUD_VARIABLES.find((name) => isVariableTurnedOn(named.get(name)));
    if (cloudVariable !== undefined) {
      return makeBlockedAddress(
        vscode.l10n.t(
          '{0} sets {1}: requests to a cloud are signed for its own address, so they can’t go through a gateway.',
          where,
          cloudVariable,
        ),
      );
    }
    if (named.has(ADDRESS)) {
      return makeBlockedAddress(
        vscode.l10n.t(
          '{0} already sets {1}. Start a gateway that leads there, in a terminal: {2}',
          where,
          ADDRESS,
          'context-condenser gateway --upstream anthropic=<address>',
        ),
      );
    }
  }
  return { kind: 'free', variables };
}

/** Claude Code's own settings override its environment. */
async function readClaudeSettingsVariables(file: string): Promise<ReadonlyMap<string, string>> {
  try {
    const { env = {} } = claudeSettingsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    return new Map(Object.entries(env));
  } catch {
    // The file is missing or invalid; Claude Code itself reports that.
    return new Map();
  }
}

/**
 * Explains and writes Claude Code's setting; removes it if it was already set.
 * @param gateway returns the address for Anthropic's API; undefined if no gateway could be started
 */
export async function setClaudeCodeAddress(gateway: () => Promise<string | undefined>): Promise<void> {
  if (!vscode.extensions.getExtension(CLAUDE_CODE_EXTENSION_ID)) {
    void showInformationMessage(
      vscode.l10n.t('The Claude Code extension is not installed here. In a terminal, use “Open an Agent, Condensed…”.'),
    );
    return;
  }
  const currentAddress = await readClaudeCodeAddress();
  if (currentAddress.kind === 'blocked') {
    void showWarningMessage(vscode.l10n.t('The address was not changed. {0}', currentAddress.why));
    return;
  }
  if (currentAddress.kind === 'set') {
    await offerToRemoveAddress(currentAddress, gateway);
    return;
  }
  // In a remote window of the desktop app, user settings belong to the local computer.
  if (vscode.env.remoteName !== undefined && vscode.env.uiKind === vscode.UIKind.Desktop) {
    void showWarningMessage(
      vscode.l10n.t(
        'The address was not changed. In a remote window, user settings also count on your own computer, where nothing answers at the gateway’s address. Set {0} in {1} in this machine’s settings by hand.',
        ADDRESS,
        CLAUDE_CODE_VARIABLES_SETTING,
      ),
    );
    return;
  }
  const address = await gateway();
  if (address === undefined) return;
  const setLabel = vscode.l10n.t('Set');
  const answer = await showWarningMessage(
    vscode.l10n.t('Send the requests of the Claude Code extension through the gateway?'),
    {
      modal: true,
      detail: vscode.l10n.t(
        'This sets {0} to {1} in {2} in your user settings. It counts for new sessions, in all windows. Claude Code’s own files, sign-in and key stay as they are. While the gateway is not running, Claude Code’s requests fail; the same command takes it back.',
        ADDRESS,
        hideSecretInAddress(address),
        CLAUDE_CODE_VARIABLES_SETTING,
      ),
    },
    setLabel,
  );
  if (
    answer !== setLabel ||
    !(await saveEnvironmentVariables([...currentAddress.variables, { name: ADDRESS, value: address }]))
  )
    return;
  void showInformationMessage(
    vscode.l10n.t(
      'New sessions of the Claude Code extension go through the gateway. They can’t recall what was condensed.',
    ),
  );
}

async function offerToRemoveAddress(
  { address, variables }: Extract<ClaudeCodeAddress, { readonly kind: 'set' }>,
  gateway: () => Promise<string | undefined>,
): Promise<void> {
  const [takeBackLabel, startLabel] = [vscode.l10n.t('Take It Back'), vscode.l10n.t('Start the Gateway')];
  const answer = await showWarningMessage(
    vscode.l10n.t('The requests of the Claude Code extension go through the gateway.'),
    {
      modal: true,
      detail: vscode.l10n.t(
        '{0} is {1} in {2}. Taking it back removes that variable and nothing else; sessions that are open keep the address.',
        ADDRESS,
        hideSecretInAddress(address),
        CLAUDE_CODE_VARIABLES_SETTING,
      ),
    },
    takeBackLabel,
    startLabel,
  );
  const otherVariables = variables.filter(({ name }) => name !== ADDRESS);
  if (answer === takeBackLabel && (await saveEnvironmentVariables(otherVariables))) {
    void showInformationMessage(
      vscode.l10n.t('Undone. New sessions of the Claude Code extension go to Anthropic’s own address.'),
    );
  }
  if (answer !== startLabel) return;
  const gatewayAddress = await gateway();
  if (gatewayAddress !== undefined && gatewayAddress !== address)
    await saveEnvironmentVariables([...otherVariables, { name: ADDRESS, value: gatewayAddress }]);
}

/**
 * Shows an error if it fails.
 * @returns whether the setting was written
 */
async function saveEnvironmentVariables(variables: EnvironmentVariables): Promise<boolean> {
  const value = variables.length === 0 ? undefined : variables;
  try {
    await vscode.workspace.getConfiguration(SECTION).update(SETTING, value, vscode.ConfigurationTarget.Global);
    return true;
  } catch (error) {
    void showErrorMessage(vscode.l10n.t('The address was not changed. {0}', getErrorMessage(error)));
    return false;
  }
}
