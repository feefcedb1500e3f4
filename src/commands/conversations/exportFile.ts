import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { ExportTarget } from '../../conversations/export';
import type { Services } from '../../window/services';
import { getFileName } from '../conversationIndex';
import { toStoredConversation, runTaskWithProgress } from './background';
import { saveBesideConversation } from './saveBeside';
import { pickOneItem, showInformationMessage } from '../../window/notifications';

interface TargetItem extends vscode.QuickPickItem {
  readonly target: ExportTarget;
  readonly isCondensed: boolean;
}

/** @param hasCondensation whether to offer the condensed form too */
export async function exportConversationFile(services: Services, path: string, hasCondensation = true): Promise<void> {
  const title = vscode.l10n.t('Export “{0}”', getFileName(services, path));
  const item = await pickOneItem(createTargetItems(hasCondensation), { title });
  if (!item || !('target' in item)) return;
  const { target, isCondensed } = item;
  const task = { kind: 'export', ...toStoredConversation(services, path), target, isCondensed } as const;
  const { text, extension, notes } = await runTaskWithProgress(services, title, task);
  const file =
    target === 'handover'
      ? undefined
      : await saveBesideConversation(services, path, vscode.l10n.t('Export the conversation'), {
          text,
          ending: `${isCondensed ? 'condensed' : 'original'}.${extension}`,
        });
  if (target === 'handover') await vscode.env.clipboard.writeText(text);
  else if (!file) return;
  for (const note of notes) services.log.info(`${path}: ${note}`);
  const savedText = file
    ? vscode.l10n.t('Exported to {0}.', basename(file.fsPath))
    : vscode.l10n.t('The handover prompt is on the clipboard.');
  const leftOutText = notes.length === 0 ? '' : vscode.l10n.t('Note: {0}', notes.join(' '));
  const openLabel = vscode.l10n.t('Open');
  const pickedLabel = await showInformationMessage(`${savedText} ${leftOutText}`.trim(), ...(file ? [openLabel] : []));
  if (pickedLabel === openLabel && file) await vscode.commands.executeCommand('vscode.open', file);
}

function createTargetItems(isCondensed: boolean): (TargetItem | vscode.QuickPickItem)[] {
  const targetTexts: readonly [ExportTarget, string, string][] = [
    ['handover', vscode.l10n.t('Handover Prompt'), vscode.l10n.t('to the clipboard, to continue in a new session')],
    ['anthropic', vscode.l10n.t('Anthropic Messages'), vscode.l10n.t('JSON for the Messages API')],
    ['openai', vscode.l10n.t('OpenAI Messages'), vscode.l10n.t('JSON for Chat Completions')],
    ['markdown', vscode.l10n.t('Markdown'), vscode.l10n.t('for people to read')],
  ];
  const makeItems = (isItemCondensed: boolean): TargetItem[] =>
    targetTexts.map(([target, label, description]) => ({
      label: isItemCondensed ? vscode.l10n.t('{0} (condensed)', label) : label,
      description,
      target,
      isCondensed: isItemCondensed,
    }));
  if (!isCondensed) return makeItems(false);
  const makeSeparator = (label: string): vscode.QuickPickItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  return [
    makeSeparator(vscode.l10n.t('The condensed conversation')),
    ...makeItems(true),
    makeSeparator(vscode.l10n.t('The original conversation')),
    ...makeItems(false),
  ];
}
