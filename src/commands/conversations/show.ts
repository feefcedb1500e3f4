import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { splitLocation } from '../../conversations/location';
import type { ShownConversation } from '../../background/taskResults';
import { listCondensationNames } from '../../core/condense/report/report';
import { isBuiltInProvider, getProviderName } from '../../core/condense/types';
import { formatProviderNames, formatPreviewMessage } from '../../window/condensationWords';
import { readModelSettings } from '../../window/settings/modelSettings';
import { condenseNow } from '../condenseNow';
import { previewPrompt } from '../previewPrompt';
import { resolveProviderConfig, getPresetName } from '../../window/settings/providerConfig';
import type { Services } from '../../window/services';
import { readManualSettings } from '../../window/settings/manualSettings';
import { formatSizeLine } from '../../views/conversations/rowWords';
import { readSetting } from '../../window/settings/settings';
import { getConversationIndex, getFileName } from '../conversationIndex';
import { toStoredConversation, runTaskWithProgress } from './background';
import { keepPageUpdated } from './pageUpdates';
import { showInformationMessage } from '../../window/notifications';

/** Opens the conversation as text, which begins with its size in tokens. */
export async function showConversationText(services: Services, path: string): Promise<void> {
  const { title, text, notes } = await runTaskWithProgress(
    services,
    vscode.l10n.t('Opening “{0}”', getFileName(services, path)),
    {
      kind: 'text',
      ...toStoredConversation(services, path),
    },
  );
  const foundConversation = getConversationIndex(services).conversations.find((each) => each.path === path);
  const sizeLines = foundConversation
    ? [formatSizeLine(foundConversation, readSetting('conversations.contextWindow'))]
    : [];
  const headerLines = [...sizeLines, ...notes];
  await services.comparisons.openConversationText(
    path,
    title,
    (headerLines.length === 0 ? '' : `${headerLines.join('\n')}\n\n`) + text,
  );
}

/** Shows the conversation as a page on which removed content is folded at its place. */
export async function showReadingPage(services: Services, path: string): Promise<void> {
  const nonce = randomBytes(16).toString('base64');
  const task = { kind: 'read', ...toStoredConversation(services, path), nonce } as const;
  const progressTitle = vscode.l10n.t('Opening “{0}”', getFileName(services, path));
  const { conversation, page } = await runTaskWithProgress(services, progressTitle, task);
  if (page === undefined) throw new Error(vscode.l10n.t('The conversation is not condensed. Condense it first.'));
  const panel = vscode.window.createWebviewPanel(
    'contextCondenser.reading',
    vscode.l10n.t('What Was Condensed: {0}', conversation.title),
    vscode.ViewColumn.Active,
    {
      enableScripts: false,
      enableFindWidget: true,
      localResourceRoots: [],
      // Keeps folds open while the tab is hidden.
      retainContextWhenHidden: true,
    },
  );
  panel.webview.html = page;
  keepPageUpdated(services, panel, conversation.id, () => task);
}

/** Shows a database in its folder, because no editor reads it. */
export async function openRawFile(path: string): Promise<void> {
  const { file, part } = splitLocation(path);
  const uri = vscode.Uri.file(file);
  if (part !== undefined && !/\.jsonl?$/.test(file)) {
    await vscode.commands.executeCommand('revealFileInOS', uri);
    return;
  }
  await vscode.commands.executeCommand('vscode.open', uri);
}

export async function showFileDiff(services: Services, path: string): Promise<void> {
  const conversation = await runTaskWithProgress(
    services,
    vscode.l10n.t('Opening “{0}”', getFileName(services, path)),
    {
      kind: 'show',
      ...toStoredConversation(services, path),
    },
  );
  await services.comparisons.showComparison(
    services.comparisons.addComparison(createDiffDocuments(services, conversation)),
  );
}

export const createDiffDocuments = (
  { registered }: Pick<Services, 'registered'>,
  { conversation, condensations, before, after, firstChange }: ShownConversation,
) => ({
  conversation: conversation.id,
  title: conversation.title,
  by: listCondensationNames(condensations, (id) => getProviderName(id, registered.listProviders())),
  before,
  after,
  firstChange,
});

/**
 * Shows what a condensation would change. Model calls cost money, so Summary shows its prompt, and
 * passes that call a model are skipped.
 */
export async function previewCondensation(services: Services, path: string): Promise<void> {
  const { provider, targetPercent } = readManualSettings();
  if (!isBuiltInProvider(provider)) {
    const text = vscode.l10n.t(
      '{0} comes from another extension, so it can’t be previewed. What it condenses can be undone.',
      getProviderName(provider, services.registered.listProviders()),
    );
    void showInformationMessage(text);
    return;
  }
  if (provider === 'native' && readModelSettings().condensing) {
    await previewPrompt(services, path);
    return;
  }
  const result = await runTaskWithProgress(services, vscode.l10n.t('Previewing “{0}”', getFileName(services, path)), {
    kind: 'condense',
    ...toStoredConversation(services, path),
    // Summary can do nothing without a model.
    provider: provider === 'native' ? 'lossless' : provider,
    config: provider === 'native' ? undefined : resolveProviderConfig(provider),
    ...(provider === 'smart' && { configName: getPresetName(resolveProviderConfig(provider)) }),
    targetPercent,
    isPreview: true,
  });
  if (result.kind === 'not-condensed') {
    const [headline = ''] = result.report.split('\n');
    void showInformationMessage(headline);
    return;
  }
  const names = formatProviderNames(services, result);
  const { id, title } = result.conversation;
  const { before, after, firstChange, originals = {} } = result;
  const comparison = { conversation: id, title, by: names, before, after, firstChange, isPreview: true, originals };
  await services.comparisons.showComparison(services.comparisons.addComparison(comparison));
  // VS Code shows only the first line of a message without a button.
  const condenseLabel = vscode.l10n.t('Condense');
  const answer = showInformationMessage(formatPreviewMessage({ ...result, provider: names }), condenseLabel);
  void answer.then((choice) => (choice === condenseLabel ? condenseNow(services, path) : undefined));
}
