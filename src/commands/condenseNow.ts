import { basename, resolve } from 'node:path';
import { realpath } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { TaskProgress } from '../background/tasks';
import type { CondensedResult, NotCondensedResult } from '../background/taskResults';
import { isBuiltIn } from '../core/condense/types';
import { NoSummarizerError } from '../core/condense/summarizer';
import { errorMessage } from '../core/errors';
import { possibleTarget } from '../giveBack/target';
import { condensationWords, isTargetMissed, namesOfResult } from '../window/condensationWords';
import { agentOf, liveConversations } from '../agent/runtime';
import type { LiveSummary } from '../live/types';
import { isRecord } from '../core/messages/blocks';
import { stored, withProgress } from './conversations/background';
import { giveBackFile } from './conversations/giveBack';
import { inBackground, storeOf, summariesOf, withCancellation } from '../window/background';
import { askProvider, askSummarizingModel, chooseCondensingProfile, wayToProfile } from './chooseProvider';
import { keepMetrics } from '../window/metrics';
import { factsOfModel } from './modelFacts';
import { modelSettings } from '../window/settings/modelSettings';
import { counterOf } from '../window/counter';
import { modelsForEngine, withWarnings } from './native';
import { plain } from '../window/settings/plain';
import { wayAsksModel } from './forecastSetup';
import { nameOfFile, newestConversation } from './conversationIndex';
import { pickConversation } from './pickConversation';
import { configToRun, ownPresets, presetNameOf } from '../window/settings/providerConfig';
import { rememberCondensation } from '../window/lastCondensation';
import type { LastCondensation, Services } from '../window/services';
import { manualSettings, type ManualSettings } from '../window/settings/manualSettings';
import { undoCondensation } from './undo';
import { tellError } from '../window/tellError';
import { showErrorMessage, showInformationMessage, showProgress, showStatus } from '../window/notifications';

/**
 * "Condense Context Now": picks a conversation, condenses it, says what came of it. The agent's file is only read.
 * @param asked a file's path, or `{live: id}` of a conversation of the chat; else the user picks.
 * @param saysWhich whether the result names the conversation: whoever picked it knows.
 */
export async function condenseNow(services: Services, asked?: unknown, saysWhich = false): Promise<void> {
  const picked =
    typeof asked === 'string' ? { path: asked } : (liveAsked(services, asked) ?? (await pickConversation(services)));
  if (!picked) return;
  if ('live' in picked) {
    await agentOf(services).condense(picked.live.id);
    return;
  }
  const file = picked.path;
  const settings = manualSettings();
  const models = modelSettings();
  // With a model to call, the user sees beforehand what each way would take.
  // Passes and steps may name a profile of their own.
  const mayPay = models.profiles.length > 0 && wayAsksModel(settings.provider, configToRun(settings.provider));
  const provider =
    (models.condensing ?? (mayPay && settings.provider !== 'native'))
      ? await askProvider(services, file, settings, models.condensing)
      : settings.provider;
  if (provider !== undefined)
    await condenseFile(services, file, { ...settings, provider }, configToRun(provider), saysWhich);
}

/** The conversation of the chat that a button names; undefined where it names none that is there. */
function liveAsked(services: Services, asked: unknown): { readonly live: LiveSummary } | undefined {
  if (!isRecord(asked)) return undefined;
  const live = liveConversations(services).find(({ id }) => id === asked['live']);
  return live && { live };
}

/** Condenses the newest stored conversation, or the sample where no agent has stored one. */
export async function condenseNewest(services: Services, sample: string): Promise<void> {
  const newest = await showProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Looking for the newest conversation') },
    () => newestConversation(services),
  );
  await condenseNow(services, newest?.path ?? sample, true);
}

/** Condenses one file, with progress and cancel; errors are told in words, with Retry. Ends when what came of it was told and answered. */
export async function condenseFile(...way: Parameters<typeof condenseAndTell>): Promise<void> {
  await (
    await condenseAndTell(...way)
  ).told;
}

/**
 * As {@link condenseFile}, but ends when the file is condensed, or is not. A notification that nobody answers is put away, not closed, by
 * VS Code: what waits for `told` may wait for ever.
 */
export async function condenseAndTell(
  services: Services,
  path: string,
  settings: ManualSettings,
  config: unknown = configToRun(settings.provider),
  saysWhich = false,
): Promise<{ readonly told: Promise<void> }> {
  const tell = (telling: Promise<void>): { readonly told: Promise<void> } => ({
    told: telling.catch((error: unknown) => {
      tellError(services, error);
    }),
  });
  const { log } = services;
  const { condensing } = modelSettings();
  // Where no profile is chosen, a person may have one of VS Code's models write the summary.
  const asked = settings.provider === 'native' && !condensing ? await askSummarizingModel() : undefined;
  if (asked === 'left') return tell(Promise.resolve());
  const progress = {
    location: vscode.ProgressLocation.Notification,
    title: vscode.l10n.t('Condensing “{0}”', nameOfFile(services, path)),
    cancellable: true,
  };
  const task = {
    kind: 'condense',
    path,
    history: settings.history,
    provider: settings.provider,
    config,
    ...(settings.provider === 'smart' && { configName: presetNameOf(config) }),
    targetPercent: settings.targetPercent,
    coherenceFloor: settings.coherenceFloor,
    ...(settings.excluded && { excluded: settings.excluded }),
    store: storeOf(services),
  } as const;
  try {
    const result = await showProgress(progress, (report, token) =>
      withCancellation(token, async (signal) => {
        const onProgress = ({ step }: TaskProgress): void => {
          report.report({ message: step });
        };
        const models = modelSettings();
        const isForeign = !isBuiltIn(settings.provider);
        if (!isForeign && !wayAsksModel(settings.provider, task.config))
          return inBackground(services, task, signal, onProgress);
        if (settings.provider === 'native' && !models.condensing && !asked)
          throw new NoSummarizerError(vscode.l10n.t('No condensing profile is chosen.'));
        const picked = asked && { profile: asked, billing: 'included' as const };
        const { registered } = services;
        const ways = {
          ...task,
          config: plain({ config: task.config }).config,
          paid: { presets: plain(ownPresets()), maxCost: models.maxCost, summaries: summariesOf(services).folder },
          // A strategy may name them, too.
          ...((isForeign || settings.provider === 'strategy') && { registered: registered.describe() }),
        };
        const calls = registered.calls(() => counterOf(services));
        return withWarnings(
          await inBackground(services, ways, signal, onProgress, modelsForEngine(services, picked), calls),
          models,
        );
      }),
    );
    log.info(`${path}\n${result.report}`);
    await keepMetrics(services, result.metrics, settings.provider, config);
    return tell(
      result.kind === 'condensed'
        ? showCondensed(services, result, { provider: settings.provider, config }, saysWhich)
        : showUnchanged(services, result, settings),
    );
  } catch (error) {
    if (error instanceof vscode.CancellationError) {
      log.info(`${path}\nCancelled. Nothing was condensed.`);
      void showStatus(vscode.l10n.t('Cancelled. Nothing was condensed.'), 5_000);
      return tell(Promise.resolve());
    }
    return tell(showError(services, error, () => condenseFile(services, path, settings, config, saysWhich)));
  }
}

/** Says the result in two sentences, with the next actions. */
async function showCondensed(
  services: Services,
  result: CondensedResult,
  way: LastCondensation['way'],
  saysWhich: boolean,
): Promise<void> {
  rememberCondensation(services, {
    conversation: result.conversation.id,
    title: result.conversation.title,
    path: result.conversation.path,
    way,
    tokensAfter: result.tokensAfter,
  });
  const { provider, tokensBefore, tokensAfter, cost } = result;
  const { id } = result.conversation;
  services.condensed.fire({ source: 'command', conversation: id, provider, tokensBefore, tokensAfter, cost });
  const by = namesOfResult(services, result);
  const { title } = result.conversation;
  const summary = condensationWords({ ...result, provider: by, ...(saysWhich && { title }) });
  const { before, after, firstChange } = result;
  let comparison: string | undefined;
  const showDiff = vscode.l10n.t('Show Diff');
  const save = vscode.l10n.t('Save Condensed Copy…');
  const undo = vscode.l10n.t('Undo');
  const details = vscode.l10n.t('Details');
  const giveBack = vscode.l10n.t('Give Back…');
  const { path } = result.conversation;
  const further = vscode.l10n.t('Condense Further…');
  const next = [
    ...(isTargetMissed(result) ? [further] : []),
    showDiff,
    ...(possibleTarget(path) ? [giveBack] : []),
    save,
  ];
  // VS Code cuts the words of more than four buttons short: the others stand there once the details were opened, or not at all.
  let choices = next.length > 3 ? [...next.slice(0, 3), undo] : [...next.slice(0, 2), undo, details];
  for (;;) {
    const choice = await showInformationMessage(summary, ...choices);
    switch (choice) {
      case further:
        await vscode.commands.executeCommand('contextCondenser.condenseFurther');
        return;
      case showDiff:
        // Others were opened since the notification came: the texts are its own.
        if (comparison === undefined || !services.comparisons.has(comparison)) {
          comparison = services.comparisons.add({ title, by, before, after, firstChange });
        }
        await services.comparisons.show(comparison);
        break;
      case save:
        await saveCopy(services, result);
        break;
      case giveBack:
        await giveBackFile(services, path);
        return;
      case undo:
        await undoCondensation(services, result.conversation.id);
        return;
      case details:
        services.log.show();
        choices = [...next.slice(-2), undo];
        break;
      default:
        return;
    }
  }
}

type WayForward = 'retry' | 'otherProfile' | 'otherProvider' | 'truncation';

/** What may help where nothing was condensed; never nothing. */
export function waysForward({ reason, advice }: NotCondensedResult, provider: string): readonly WayForward[] {
  if (reason === 'failed' || reason === 'refused') {
    const { canRetry = true, offerOtherProfile = false } = advice ?? {};
    return [
      ...(canRetry ? ['retry' as const] : []),
      ...(offerOtherProfile ? ['otherProfile' as const] : []),
      'otherProvider',
    ];
  }
  return [provider === 'lossless' || provider === 'native' ? 'truncation' : 'otherProvider'];
}

/** Nothing came of it: why, and what else could be tried. */
async function showUnchanged(services: Services, result: NotCondensedResult, settings: ManualSettings): Promise<void> {
  const { path } = result.conversation;
  const { profiles, condensing } = modelSettings();
  const condenseWith = async (provider: string | undefined): Promise<void> => {
    if (provider !== undefined) await condenseFile(services, path, { ...settings, provider });
  };
  const otherProfile =
    profiles.length > 1
      ? { label: vscode.l10n.t('Use Another Profile'), follow: chooseCondensingProfile }
      : wayToProfile();
  const ways: Readonly<Record<WayForward, { readonly label: string; readonly follow: () => Promise<void> }>> = {
    retry: { label: vscode.l10n.t('Retry'), follow: () => condenseWith(settings.provider) },
    otherProfile: {
      label: otherProfile.label,
      follow: async () => condenseWith((await otherProfile.follow()) ? settings.provider : undefined),
    },
    otherProvider: {
      label: vscode.l10n.t('Use Another Provider…'),
      follow: async () => condenseWith(await askProvider(services, path, settings, condensing)),
    },
    truncation: { label: vscode.l10n.t('Use Truncation'), follow: () => condenseWith('truncation') },
  };
  const details = {
    label: vscode.l10n.t('Details'),
    follow: () => {
      services.log.show();
    },
  };
  const limit = result.reason === 'over-budget' ? [await wayOutOfLimit()] : [];
  const offered = [...limit, ...waysForward(result, settings.provider).map((way) => ways[way]), details];
  const [headline = ''] = result.report.split('\n');
  const choice = await showInformationMessage(headline, ...offered.map(({ label }) => label));
  await offered.find(({ label }) => label === choice)?.follow();
}

/** A price that nobody knows is set in the profile; a limit that is too low is raised in the settings. */
async function wayOutOfLimit(): Promise<{ readonly label: string; readonly follow: () => Thenable<unknown> }> {
  const { condensing } = modelSettings();
  const isUnpriced = condensing && (await factsOfModel(condensing)).inputPrice === undefined;
  return isUnpriced
    ? {
        label: vscode.l10n.t('Set Prices…'),
        follow: () => vscode.commands.executeCommand('contextCondenser.openSettings', 'profiles'),
      }
    : {
        label: vscode.l10n.t('Open Setting'),
        follow: () =>
          vscode.commands.executeCommand(
            'workbench.action.openSettings',
            '@id:contextCondenser.maxCostPerCondensation',
          ),
      };
}

/** An error in words, with Retry; where it was for want of a model, with a way to a profile. */
export async function showError(services: Services, error: unknown, retry: () => Promise<void>): Promise<void> {
  const message = errorMessage(error);
  services.log.error(message);
  const again = vscode.l10n.t('Retry');
  const details = vscode.l10n.t('Details');
  const text = vscode.l10n.t('Nothing was condensed. {0}', message);
  const way = error instanceof NoSummarizerError ? wayToProfile() : undefined;
  const choice = await showErrorMessage(text, way?.label ?? again, details);
  if (choice === again || (way && choice === way.label && (await way.follow()))) await retry();
  if (choice === details) services.log.show();
}

/** Writes the view where the user says; never over the conversation that it was made from. */
async function saveCopy(services: Services, result: CondensedResult): Promise<void> {
  const source = vscode.Uri.file(result.conversation.path);
  const name = `${basename(result.conversation.path).replace(/\.jsonl?$/, '')}.condensed.json`;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.joinPath(source, '..');
  const target = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Save the condensed copy'),
    defaultUri: vscode.Uri.joinPath(folder, name),
    filters: { JSON: ['json'] },
  });
  if (!target) return;
  try {
    if ((await real(target.fsPath)) === (await real(source.fsPath))) {
      throw new Error(
        vscode.l10n.t('This is the conversation’s own file, which is never overwritten. Choose another name.'),
      );
    }
    const { path } = result.conversation;
    const { condensation } = result.metrics;
    if (condensation === undefined) throw new Error(vscode.l10n.t('This condensation is no longer in the history.'));
    const copying = vscode.l10n.t('Saving {0}', basename(target.fsPath));
    const copy = { kind: 'copy', ...stored(services, path), condensation } as const;
    const { text, notes } = await withProgress(services, copying, copy);
    await vscode.workspace.fs.writeFile(target, Buffer.from(text));
    services.log.info([`Condensed copy saved: ${target.fsPath}`, ...notes].join('\n'));
    void showStatus(vscode.l10n.t('Saved {0}', basename(target.fsPath)), 5_000);
  } catch (error) {
    const message = errorMessage(error);
    void showErrorMessage(vscode.l10n.t('The copy was not saved. {0}', message));
  }
}

const real = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));
