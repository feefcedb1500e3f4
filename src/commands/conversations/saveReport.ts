import { basename } from 'node:path';
import * as vscode from 'vscode';
import { version } from '../../../package.json';
import type { Services } from '../../window/services';
import { getFileName } from '../conversationIndex';
import { toStoredConversation, runTaskWithProgress } from './background';
import { readReportFacts } from './reportFacts';
import { saveBesideConversation } from './saveBeside';
import { pickOneItem, showInformationMessage } from '../../window/notifications';

/**
 * Saves a report. The user may leave out the conversation's text, so that the report can be
 * attached to an issue.
 */
export async function saveReport(services: Services, path: string): Promise<void> {
  const title = vscode.l10n.t('Report on “{0}”', getFileName(services, path));
  const item = await pickOneItem(createContentItems(), { title });
  if (!item) return;
  const { withoutContent } = item;
  const { isCopy: _isCopy, ...facts } = await readReportFacts(services, path);
  const { page } = await runTaskWithProgress(services, title, {
    kind: 'report',
    ...toStoredConversation(services, path),
    withoutContent,
    version,
    ...facts,
  });
  if (page === undefined) throw new Error(vscode.l10n.t('The conversation is not condensed. Condense it first.'));
  const file = await saveBesideConversation(services, path, vscode.l10n.t('Save the report'), {
    text: page,
    ending: 'report.html',
    filters: { HTML: ['html'] },
  });
  if (!file) return;
  const openLabel = vscode.l10n.t('Open in Browser');
  const choice = await showInformationMessage(vscode.l10n.t('Report saved to {0}.', basename(file.fsPath)), openLabel);
  if (choice === openLabel) await vscode.env.openExternal(file);
}

interface ContentItem extends vscode.QuickPickItem {
  readonly withoutContent: boolean;
}

const createContentItems = (): ContentItem[] => [
  {
    label: vscode.l10n.t('With the Conversation’s Text'),
    description: vscode.l10n.t('includes removed content; keys are masked'),
    withoutContent: false,
  },
  {
    label: vscode.l10n.t('Figures Only'),
    description: vscode.l10n.t('no text and no file names, to attach to an issue'),
    withoutContent: true,
  },
];
