import * as vscode from 'vscode';
import { computeContextWindow, listOtherModels, type LanguageModels } from '../api/vscodeLm';
import { saveUserSetting } from '../window/settings/settings';
import { formatTokens } from '../core/format';
import { OWN_VSCODE_VENDOR } from '../core/vendors/ownVendor';
import { getVendorModelName } from './modelCatalog';
import { pickSeveralItems, showInformationMessage } from '../window/notifications';

export async function chooseWrappedModels(models: LanguageModels, wrappedNames: readonly string[]): Promise<void> {
  const items = (await listOtherModels(models, OWN_VSCODE_VENDOR)).flatMap((model) => {
    const contextWindow = computeContextWindow(model);
    if (contextWindow === undefined) return [];
    return {
      name: getVendorModelName(model),
      label: model.name,
      description: vscode.l10n.t('{0} · {1} tokens', model.vendor, formatTokens(contextWindow)),
      picked: wrappedNames.includes(getVendorModelName(model)),
    };
  });
  // A chosen model that is missing may return, so it stays until the user deselects it.
  const missingItems = wrappedNames
    .filter((name) => !items.some((item) => item.name === name))
    .map((name) => ({ name, label: name, description: vscode.l10n.t('currently unavailable'), picked: true }));
  if (items.length + missingItems.length === 0) {
    const manageLabel = getManageModelsLabel();
    const profilesLabel = vscode.l10n.t('Manage Models');
    const text = vscode.l10n.t(
      'VS Code currently has no models from other extensions. Add one, or offer one of your own in the chat.',
    );
    const choice = await showInformationMessage(text, manageLabel, profilesLabel);
    if (choice === manageLabel) await openModelManagement();
    if (choice === profilesLabel) await vscode.commands.executeCommand('contextCondenser.manageProfiles');
    return;
  }
  const pickedItems = await pickSeveralItems([...items, ...missingItems], {
    title: vscode.l10n.t('Offer these models condensed'),
    placeHolder: vscode.l10n.t('Copilot bills each step of an agent.'),
  });
  if (!pickedItems) return;
  const names = pickedItems.map(({ name }) => name);
  await saveUserSetting('agent.wrappedModels', names);
  const addedLabels = pickedItems.filter(({ name }) => !wrappedNames.includes(name)).map(({ label }) => label);
  if (addedLabels.length > 0) await explainModelPicker(addedLabels);
}

/** The picker hides unused models until the user searches for them. */
export async function explainModelPicker(names: readonly string[]): Promise<void> {
  const shownNames = names.map((name) => vscode.l10n.t('“{0} · condensed”', name)).join(', ');
  const text = vscode.l10n.t(
    'Choose {0} in the chat’s model picker; type “condensed” there if it is not listed. Without a GitHub account, first add them: Manage Language Models → Add Models → Context Condenser.',
    shownNames,
  );
  const chatLabel = vscode.l10n.t('Choose in the Chat');
  const manageLabel = getManageModelsLabel();
  const choice = await showInformationMessage(text, chatLabel, manageLabel);
  if (choice === manageLabel) await openModelManagement();
  if (choice !== chatLabel) return;
  await vscode.commands.executeCommand('workbench.action.chat.open');
  await vscode.commands.executeCommand('workbench.action.chat.openModelPicker');
}

const getManageModelsLabel = (): string => vscode.l10n.t('Manage Language Models');

const openModelManagement = (): Thenable<unknown> => vscode.commands.executeCommand('workbench.action.chat.manage');
