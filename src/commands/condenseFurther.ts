/** "Condense Further…": the other ways, those that call no model first, each with the size that it would reach and what it loses. */
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { agentOf, liveConversations } from '../agent/runtime';
import type { ForecastConversation } from '../background/forecast/messages';
import { smartProvider } from '../core/condense/providers/smart';
import { asksModel } from '../core/condense/config';
import { BUILT_IN_PRESETS } from '../core/condense/providers/smart/presets';
import { type BuiltInProviderId, PROVIDER_NAMES } from '../core/condense/types';
import { errorMessage } from '../core/errors';
import { configToRun, ownPresets } from '../window/settings/providerConfig';
import { manualSettings } from '../window/settings/manualSettings';
import type { LastCondensation, Services } from '../window/services';
import { forecastConversation, lookAtConversation } from './chosenConversation';
import { condenseFile } from './condenseNow';
import { estimateWays, type EstimatedWords } from './estimateWays';
import type { Configuration } from './forecastSetup';
import { pickedItem } from './pickedItem';
import { createPicker, showErrorMessage, showInformationMessage } from '../window/notifications';

/** A way to condense. */
interface Way {
  readonly label: string;
  /** Its removals, in words. */
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
    void showInformationMessage(vscode.l10n.t('Nothing has been condensed in this window yet.'));
    return;
  }
  const conversation = await conversationOf(services, last);
  if (!conversation) return;
  const way = await askWay(services, conversation, last);
  if (!way) return;
  const { provider, config } = way;
  const live = liveConversations(services).find(({ id }) => last.isLive && id === last.conversation);
  if (live) await agentOf(services).condense(live.id, provider, config);
  else if (last.path !== undefined) await condenseFile(services, last.path, { ...manualSettings(), provider }, config);
  else void showErrorMessage(vscode.l10n.t('Nothing was condensed. The conversation is no longer in memory.'));
}

async function conversationOf(services: Services, last: LastCondensation): Promise<ForecastConversation | undefined> {
  try {
    if (last.isLive) {
      const name = { kind: 'live', id: last.conversation } as const;
      await lookAtConversation(services, name);
      return forecastConversation(services, name);
    }
    return last.path === undefined ? undefined : forecastConversation(services, { kind: 'file', path: last.path });
  } catch (error) {
    void showErrorMessage(errorMessage(error));
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
    settingsWay('native', vscode.l10n.t('A model summarizes everything between the task and the latest messages.')),
    ...presets.filter((way) => !way.isFree),
    ...(typeof ownPasses === 'object' ? [settingsWay('smart', vscode.l10n.t('Your own passes.'))] : []),
    settingsWay('strategy', vscode.l10n.t('Several providers in order, each if its condition is met.')),
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
  last: LastCondensation,
): Promise<Way | undefined> {
  const picker = createPicker<WayItem>();
  const abort = new AbortController();
  const ways = waysOf(services).filter((way) => !isSameWay(way, last.way));
  const found = new Map<Way, EstimatedWords>();
  const show = (): void => {
    const active = picker.activeItems[0]?.way;
    picker.items = itemsOf(ways, found, last);
    picker.activeItems = picker.items.filter(({ way }) => way !== undefined && way === active);
  };
  picker.title = vscode.l10n.t('Condense Further: {0}', last.title);
  picker.placeholder = vscode.l10n.t('Starts again from the original, with another provider.');
  picker.matchOnDescription = true;
  picker.busy = true;
  show();
  void estimateWays(services, conversation, ways, abort.signal, (way, words) => {
    found.set(way, words);
    show();
  }).finally(() => {
    if (!abort.signal.aborted) picker.busy = false;
  });
  return (await pickedItem(picker, abort))?.way;
}

function itemsOf(
  ways: readonly Way[],
  found: ReadonlyMap<Way, EstimatedWords>,
  { tokensAfter: now }: LastCondensation,
): WayItem[] {
  const description = (way: Way): string => {
    const estimated = found.get(way);
    if (!estimated) return way.configuration ? vscode.l10n.t('estimating…') : vscode.l10n.t('not known until it runs');
    const { size, tokensAfter = 0 } = estimated;
    return tokensAfter < now ? size : [size, vscode.l10n.t('no smaller than now')].join(' · ');
  };
  const item = (way: Way): WayItem => ({
    way,
    label: way.label,
    description: description(way),
    // What is lost comes first: the end is cut off in a narrow window.
    detail: [found.get(way)?.loss ?? '', way.does].join(' ').trim(),
  });
  const group = (label: string, wanted: (way: Way) => boolean): WayItem[] => {
    const items = ways.filter(wanted).map(item);
    return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
  };
  return [
    ...group(vscode.l10n.t('calls no model'), ({ isFree, configuration }) => isFree && configuration !== undefined),
    ...group(vscode.l10n.t('may call a model'), ({ isFree }) => !isFree),
    ...group(vscode.l10n.t('from other extensions'), ({ configuration }) => configuration === undefined),
  ];
}
