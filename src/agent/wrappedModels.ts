import * as vscode from 'vscode';
import { otherModels, type LanguageModels } from '../api/vscodeLm';
import { saveUserSetting } from '../commands/modelSettings';
import { formatTokens } from '../core/condense/report';
import { OWN_VENDOR } from '../settings/ownVendor';
import { nameOf } from './modelCatalog';

/** "Choose Models to Condense for": which of VS Code's models are offered a second time, condensed. */
export async function chooseWrappedModels(models: LanguageModels, chosen: readonly string[]): Promise<void> {
  const offered = await otherModels(models, OWN_VENDOR);
  const known = offered.map((model) => ({
    name: nameOf(model),
    label: model.name,
    description: vscode.l10n.t('{0} · {1} tokens', model.vendor, formatTokens(model.maxInputTokens)),
    picked: chosen.includes(nameOf(model)),
  }));
  // One that VS Code doesn't have now may come back: it stays until it is taken out.
  const gone = chosen
    .filter((name) => !known.some((item) => item.name === name))
    .map((name) => ({ name, label: name, description: vscode.l10n.t('not there now'), picked: true }));
  if (known.length + gone.length === 0) {
    const manage = vscode.l10n.t('Manage Language Models');
    const profiles = vscode.l10n.t('Manage API Profiles');
    const words = vscode.l10n.t(
      'VS Code has no model of another extension now. Add one, or offer an API profile in the chat.',
    );
    const choice = await vscode.window.showInformationMessage(words, manage, profiles);
    if (choice === manage) await vscode.commands.executeCommand('workbench.action.chat.manage');
    if (choice === profiles) await vscode.commands.executeCommand('contextCondenser.manageProfiles');
    return;
  }
  const picked = await vscode.window.showQuickPick([...known, ...gone], {
    canPickMany: true,
    title: vscode.l10n.t('Models that are offered in the chat a second time, condensed'),
  });
  if (picked)
    await saveUserSetting(
      'agent.wrappedModels',
      picked.map(({ name }) => name),
    );
}
