import { basename, extname, join } from 'node:path';
import * as vscode from 'vscode';
import { version } from '../../package.json';
import { listLiveConversations } from '../agent/runtime';
import type { AccountResult } from '../background/taskResults';
import type { AccountTask } from '../background/tasks';
import { vscode as chatAgent } from '../core/agents/copilot';
import { formatLocalDay, getPeriodStartMs } from '../core/localDay';
import { CURRENT_CHOICE_ID, JUDGED_CHOICES, listJudgedChoices } from '../core/condense/futureNeed/judgedChoices';
import { needsModelOrExtension } from '../core/condense/types';
import type { ToolWeight } from '../live/toolWeights';
import { runInBackground, withCancellation } from '../window/background';
import type { Services } from '../window/services';
import { readManualSettings } from '../window/settings/manualSettings';
import { readModelSettings } from '../window/settings/modelSettings';
import { resolveProviderConfig } from '../window/settings/providerConfig';
import { createFindOptions } from './conversationIndex';
import { showInformationMessage, showProgress } from '../window/notifications';

export interface AccountPreferences {
  /** Counts only requests of the last days, this many including today. */
  readonly days?: number | undefined;
  /**
   * ID of a provider or preset. If set, the account also says what the sessions would have cost
   * with that.
   */
  readonly choice?: string | undefined;
  readonly file?: AccountTask['file'];
}

/**
 * Shows progress with cancel and logs unreadable sessions.
 * @throws vscode.CancellationError if canceled
 */
export async function computeStoredAccount(
  services: Services,
  { days, choice, file }: AccountPreferences,
): Promise<AccountResult> {
  const provider = choice === undefined ? undefined : parseWhatIfChoice(services, choice);
  const task: AccountTask = {
    kind: 'account',
    find: createFindOptions(services),
    cache: join(services.context.globalStorageUri.fsPath, 'account.json'),
    ...(days !== undefined && { sinceDay: formatLocalDay(getPeriodStartMs(days, Date.now())) }),
    ...(provider && { with: provider }),
    ...(file && { file }),
  };
  const title = vscode.l10n.t('Adding up the session costs of all agents');
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  const result = await showProgress(options, (progress, token) =>
    withCancellation(token, (signal) =>
      runInBackground(services, task, signal, ({ account, whatIf }) => {
        if (account) progress.report({ message: vscode.l10n.t('{0} of {1}', account.done, account.all) });
        if (whatIf) progress.report({ message: vscode.l10n.t('{0} of {1} replayed', whatIf.done, whatIf.all) });
      }),
    ),
  );
  for (const { path, reason } of result.problems) services.log.info(`${path}: ${reason}`);
  return result;
}

/** @throws Error with text for the user if the provider needs a model or another extension */
function parseWhatIfChoice(services: Services, id: string): NonNullable<AccountTask['with']> {
  const configuredProvider = readManualSettings().provider;
  if (id === CURRENT_CHOICE_ID && needsModelOrExtension(configuredProvider)) {
    throw new Error(
      vscode.l10n.t(
        'The current settings call a model or use another extension’s provider. Choose an option that calls no model.',
      ),
    );
  }
  const [currentChoice] = listJudgedChoices({
    provider: configuredProvider,
    config: resolveProviderConfig(configuredProvider),
  });
  const choice = id === CURRENT_CHOICE_ID ? currentChoice : JUDGED_CHOICES.find((each) => each.id === id);
  if (!choice) throw new Error(`there is no choice "${id}"`);
  const { name, provider, config } = choice;
  const cacheFile = join(services.context.globalStorageUri.fsPath, 'whatIf.json');
  return { name, provider, config, threshold: readModelSettings().threshold, cache: cacheFile, version };
}

/** @throws as {@link computeStoredAccount} */
export async function saveAccount(
  services: Services,
  { days, choice }: Pick<AccountPreferences, 'days' | 'choice'> = {},
): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(createFindOptions(services).homedir);
  const file = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Save the session costs of all agents'),
    defaultUri: vscode.Uri.joinPath(folder, 'account.html'),
    filters: { HTML: ['html'], CSV: ['csv'], JSON: ['json'] },
  });
  if (!file) return;
  const fileFormat = FORMAT_BY_EXTENSION[extname(file.fsPath).toLowerCase()] ?? 'html';
  const account = await computeStoredAccount(services, {
    days,
    // CSV and JSON contain only the sessions, so only a page needs the choice.
    ...(fileFormat === 'html' && { choice }),
    file: { path: file.fsPath, form: fileFormat, by: 'session', version, days },
  }).catch((error: unknown) => {
    // VS Code would show a cancellation as an error of the command.
    if (error instanceof vscode.CancellationError) return undefined;
    throw error;
  });
  if (!account) return;
  const { overview, leftOut } = account;
  const sentences = [
    overview.total.sessions === 1
      ? vscode.l10n.t('The costs of one session were saved to {0}.', basename(file.fsPath))
      : vscode.l10n.t('The costs of {0} sessions were saved to {1}.', overview.total.sessions, basename(file.fsPath)),
    ...(leftOut > 0 ? [vscode.l10n.t('{0} could not be read. See the log for details.', leftOut)] : []),
  ];
  // Don't wait until the notification closes: the file is already written.
  void offerToOpenFile(sentences.join(' '), file);
}

async function offerToOpenFile(words: string, file: vscode.Uri): Promise<void> {
  const openLabel = vscode.l10n.t('Open');
  if ((await showInformationMessage(words, openLabel)) === openLabel) await vscode.env.openExternal(file);
}

export interface ConversationToolWeights {
  readonly title: string;
  readonly agent: string;
  readonly tools: readonly ToolWeight[];
}

/** Lists running conversations that declare tools, last used first. */
export const listToolWeights = (services: Services): readonly ConversationToolWeights[] =>
  listLiveConversations(services).flatMap(({ title, agent = chatAgent.name, tools }) =>
    tools ? [{ title, agent, tools }] : [],
  );

const FORMAT_BY_EXTENSION: Readonly<Record<string, 'html' | 'csv' | 'json'>> = {
  '.html': 'html',
  '.csv': 'csv',
  '.json': 'json',
};
