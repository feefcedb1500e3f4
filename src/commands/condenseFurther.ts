/** "Condense Further…": the other ways, those that call no model first, each with the size that it would reach and what it loses. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { agentOf, liveConversations } from '../agent/runtime';
import { ForecastThread } from '../background/forecast/forecastThread';
import type { ForecastConversation, ForecastResult } from '../background/forecast/messages';
import { smartProvider } from '../core/condense';
import { asksModel } from '../core/condense/config';
import { BUILT_IN_PRESETS } from '../core/condense/presets';
import type { CoherenceReport } from '../core/condense/report/coherence/coherence';
import { formatChange, formatCost, formatTokens } from '../core/condense/report/report';
import { type BuiltInProviderId, PROVIDER_NAMES } from '../core/condense/types';
import { errorMessage } from '../core/errors';
import { configToRun, ownPresets } from '../window/settings/providerConfig';
import { manualSettings } from '../window/settings/manualSettings';
import type { LastCondensation, Services } from '../window/services';
import { forecastConversation } from './chosenConversation';
import { condenseFile } from './condenseNow';
import { type Configuration, forecastSetup } from './forecastSetup';

/** A way to condense. */
interface Way {
  readonly label: string;
  /** What it takes out, in words. */
  readonly does: string;
  readonly provider: string;
  readonly config: unknown;
  /** How it is asked about beforehand; absent: it can't be told before it runs. */
  readonly configuration?: Configuration;
  readonly isFree: boolean;
}

interface WayItem extends vscode.QuickPickItem {
  readonly way?: Way;
}

/** Lets the user pick another way for the conversation that this window condensed last, and condenses that way. */
export async function condenseFurther(services: Services): Promise<void> {
  const { last } = services;
  if (!last) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Nothing was condensed in this window yet.'));
    return;
  }
  const conversation = conversationOf(services, last);
  if (!conversation) return;
  const way = await askWay(services, conversation, last);
  if (!way) return;
  const { provider, config } = way;
  const live = liveConversations(services).find(({ id }) => last.isLive && id === last.conversation);
  if (live) await agentOf(services).condense(live.id, provider, config);
  else if (last.path !== undefined) await condenseFile(services, last.path, { ...manualSettings(), provider }, config);
}

function conversationOf(services: Services, last: LastCondensation): ForecastConversation | undefined {
  try {
    if (last.isLive) return forecastConversation(services, { kind: 'live', id: last.conversation });
    return last.path === undefined ? undefined : forecastConversation(services, { kind: 'file', path: last.path });
  } catch (error) {
    void vscode.window.showErrorMessage(errorMessage(error));
    return undefined;
  }
}

/** All ways, those that cost nothing and lose least first. */
function waysOf({ registered }: Services): Way[] {
  const own = ownPresets();
  const ids = new Set(own.map(({ id }) => id));
  const presets = [...own, ...BUILT_IN_PRESETS.filter(({ id }) => !ids.has(id))].map(
    ({ id, name, description, config }): Way => ({
      label: name,
      does: description,
      provider: 'smart',
      config,
      configuration: { kind: 'preset', id },
      isFree: !asksModel(smartProvider(), config),
    }),
  );
  const ownPasses = configToRun('smart');
  const fileAware = presets.filter(({ configuration }) => isPreset(configuration, 'file-aware'));
  return [
    settingsWay('lossless', vscode.l10n.t('Removes repeated content; every byte can be restored.')),
    ...fileAware,
    settingsWay('truncation', vscode.l10n.t('Shortens old tool results and parameters.')),
    ...presets.filter((way) => way.isFree && !fileAware.includes(way)),
    settingsWay('native', vscode.l10n.t('A model sums up what lies between the task and the latest messages.')),
    ...presets.filter((way) => !way.isFree),
    ...(typeof ownPasses === 'object' ? [settingsWay('smart', vscode.l10n.t('Your own passes.'))] : []),
    settingsWay('strategy', vscode.l10n.t('Several providers in order, each where its condition holds.')),
    ...registered.list().map(({ id, name, description }): Way => ({
      label: name,
      does: description,
      provider: id,
      config: configToRun(id),
      isFree: true,
    })),
  ];
}

/** A provider as the settings have it. */
const settingsWay = (id: BuiltInProviderId, does: string): Way => ({
  label: PROVIDER_NAMES[id],
  does,
  provider: id,
  config: configToRun(id),
  configuration: { kind: 'provider', id },
  isFree: id === 'lossless' || id === 'truncation',
});

/** Whether a way is the one that ran already. */
function isSameWay({ provider, config, configuration }: Way, ran: LastCondensation['way']): boolean {
  if (provider !== ran.provider) return false;
  return (
    provider !== 'smart' ||
    (typeof ran.config === 'string' && isPreset(configuration, ran.config)) ||
    isDeepStrictEqual(config, ran.config)
  );
}

const isPreset = (configuration: Configuration | undefined, id: string): boolean =>
  configuration?.kind === 'preset' && configuration.id === id;

async function askWay(
  services: Services,
  conversation: ForecastConversation,
  { way: ran }: LastCondensation,
): Promise<Way | undefined> {
  const picker = vscode.window.createQuickPick<WayItem>();
  const abort = new AbortController();
  const ways = waysOf(services).filter((way) => !isSameWay(way, ran));
  const found = new Map<Way, Pick<WayItem, 'description' | 'detail'>>();
  const show = (): void => {
    const active = picker.activeItems[0]?.way;
    picker.items = itemsOf(ways, found);
    picker.activeItems = picker.items.filter(({ way }) => way !== undefined && way === active);
  };
  picker.title = vscode.l10n.t('Condense Further');
  picker.placeholder = vscode.l10n.t(
    'Condenses the original again with another provider. Those that call no model come first.',
  );
  picker.matchOnDescription = true;
  picker.busy = true;
  show();
  void estimateAll(services, conversation, ways, abort.signal, (way, words) => {
    found.set(way, words);
    show();
  }).finally(() => {
    if (!abort.signal.aborted) picker.busy = false;
  });
  try {
    return await new Promise<Way | undefined>((resolve) => {
      picker.onDidAccept(() => {
        resolve(picker.selectedItems[0]?.way);
      });
      picker.onDidHide(() => {
        resolve(undefined);
      });
      picker.show();
    });
  } finally {
    abort.abort(new vscode.CancellationError());
    picker.dispose();
  }
}

function itemsOf(ways: readonly Way[], found: ReadonlyMap<Way, Pick<WayItem, 'description' | 'detail'>>): WayItem[] {
  const item = (way: Way): WayItem => ({
    way,
    label: way.label,
    description: way.configuration ? vscode.l10n.t('estimating…') : vscode.l10n.t('not known before it runs'),
    detail: way.does,
    ...found.get(way),
  });
  const group = (label: string, wanted: (way: Way) => boolean): WayItem[] => {
    const items = ways.filter(wanted).map(item);
    return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
  };
  return [
    ...group(vscode.l10n.t('calls no model'), ({ isFree, configuration }) => isFree && configuration !== undefined),
    ...group(vscode.l10n.t('calls a model where it is needed'), ({ isFree }) => !isFree),
    ...group(vscode.l10n.t('from other extensions'), ({ configuration }) => configuration === undefined),
  ];
}

/** Estimates one way after the other, in a worker that ends with the list. */
async function estimateAll(
  services: Services,
  conversation: ForecastConversation,
  ways: readonly Way[],
  signal: AbortSignal,
  tell: (way: Way, words: Pick<WayItem, 'description' | 'detail'>) => void,
): Promise<void> {
  const workerPath = join(services.context.extensionPath, 'dist', 'forecastWorker.cjs');
  const ended = (reason: string): string => vscode.l10n.t('The estimate’s worker ended ({0}).', reason);
  const thread = new ForecastThread({ workerPath, ended });
  try {
    for (const way of ways) {
      if (!way.configuration) continue;
      try {
        const setup = await forecastSetup(services, way.configuration);
        const question = { conversation, setup, excluded: [] };
        const result = await thread.ask({ kind: 'preview', ...question }, signal);
        tell(way, { description: sizeWords(result) });
        const coherence = await thread.ask({ kind: 'coherence', ...question }, signal);
        tell(way, { description: sizeWords(result), detail: `${way.does} ${lossWords(coherence)}` });
      } catch (error) {
        if (signal.aborted) return;
        tell(way, { description: errorMessage(error) });
      }
    }
  } finally {
    thread.end();
  }
}

function sizeWords({ tokensBefore, tokensAfter, targetTokens, calls, cost }: ForecastResult): string {
  return [
    vscode.l10n.t('{0} tokens', formatTokens(tokensAfter)) + ` (${formatChange(tokensBefore, tokensAfter)})`,
    ...(tokensAfter <= targetTokens ? [vscode.l10n.t('meets the target')] : []),
    ...(calls > 0 ? [cost === undefined ? vscode.l10n.t('cost unknown') : `≈ ${formatCost(cost)}`] : []),
  ].join(' · ');
}

/** The facts of the conversation (files, error lines, instructions, to-dos) that would no longer stand in the view. */
function lossWords(report: CoherenceReport): string {
  const kinds = Object.values(report);
  const sum = (of: (kind: CoherenceReport[keyof CoherenceReport]) => number): number =>
    kinds.reduce((total, kind) => total + of(kind), 0);
  const [kept, recallable, lost] = [sum(({ kept: n }) => n), sum(({ recallable: n }) => n), sum(({ lost: n }) => n)];
  const all = kept + recallable + lost;
  return kept === all
    ? vscode.l10n.t('All {0} facts (files, errors, instructions, to-dos) still stand.', all)
    : vscode.l10n.t('Of {0} facts {1} still stand, {2} can be recalled, {3} are lost.', all, kept, recallable, lost);
}
