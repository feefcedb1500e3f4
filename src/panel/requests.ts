import * as vscode from 'vscode';
import { getSamplePath } from '../window/samplePath';
import { computeAccountForPanel, saveAccountForPanel } from './account/accountForPanel';
import { judgeForPanel } from './judge/judgeForPanel';
import { createHistoryHandlers } from './history/requests';
import type { PanelSettings } from './panelSettings';
import type { PanelDependencies } from './parts';
import { createPresetComparisonHandlers } from './presetComparison/requests';
import type { PreviewHandlers } from './preview/previewHandlers';
import { compareProfiles } from './profileCosts/compareProfiles';
import { exportPreset, importPreset, openPreset } from './presets';
import { createProfileHandlers } from './profileRequests';
import type { RequestHandlers } from './requestHandlers';

export function createRequestHandlers(
  dependencies: PanelDependencies,
  settings: PanelSettings,
  { handlers: preview, comparisons }: PreviewHandlers,
): RequestHandlers {
  const { services } = dependencies;
  return {
    checkSetting: (change) => {
      const { problems, ...rest } = settings.checkChange(change);
      return Promise.resolve({ ...rest, problems: [...problems] });
    },
    changeList: async (change) => {
      const { problems, ...rest } = await settings.changeList(change);
      return { ...rest, problems: [...problems] };
    },
    updateSetting: async (change) => ({ problems: [...(await settings.updateSetting(change))] }),
    openSettingsFile: async ({ scope, name }) => {
      const revealSetting = { key: `contextCondenser.${name}`, edit: true };
      await vscode.commands.executeCommand(settings.getFileCommand(name, scope), { revealSetting });
      return null;
    },
    ...createProfileHandlers(dependencies, settings),
    previewPrompt: async ({ prompt }, signal) => {
      return dependencies
        .commands()
        .createPrompt(services, getSamplePath(services.context.extensionPath), prompt, signal);
    },
    openPreset: async ({ id }) => {
      await openPreset(id);
      return null;
    },
    exportPreset: async ({ id }) => ({ written: await exportPreset(id) }),
    importPreset: async ({ scope }) => {
      const { id, problems, undo } = await importPreset(settings, scope);
      return { ...(id !== undefined && { id }), problems: [...problems], undo: [...undo] };
    },
    ...createPresetComparisonHandlers(settings),
    ...preview,
    ...createHistoryHandlers(dependencies),
    judgeSessions: (_params, signal, report) => judgeForPanel(dependencies, signal, report),
    account: (asked) => computeAccountForPanel(dependencies, asked),
    saveAccount: (asked) => saveAccountForPanel(dependencies, asked),
    toolWeights: () => Promise.resolve(dependencies.commands().listToolWeights(services)),
    compareProfiles: ({ conversation }, signal) => compareProfiles(dependencies, comparisons, conversation, signal),
    runCommand: async ({ command }) => {
      await vscode.commands.executeCommand(`contextCondenser.${command}`);
      return null;
    },
  };
}
