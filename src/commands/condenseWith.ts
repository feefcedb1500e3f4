/** "Condense With…": the ways to condense a conversation, those that call no model first, each with the size that it would reach and what it loses. */
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { agentOf, liveConversations } from '../agent/runtime';
import type { ForecastConversation } from '../background/forecast/messages';
import { smartProvider } from '../core/condense/providers/smart';
import { asksModel } from '../core/condense/config';
import { isRecord } from '../core/messages/blocks';
import { engineBundle } from '../window/background';
import { ForecastThread } from '../engine/forecastThread';
import { nameOfFile } from './conversationIndex';
import { BUILT_IN_PRESETS } from '../core/condense/providers/smart/presets';
import { type BuiltInProviderId, PROVIDER_NAMES } from '../core/condense/types';
import { errorMessage } from '../core/errors';
import { configToRun, ownPresets } from '../window/settings/providerConfig';
import { manualSettings } from '../window/settings/manualSettings';
import type { LastCondensation, Services } from '../window/services';
import { forecastConversation, lookAtConversation } from './chosenConversation';
import { condenseFile } from './condenseNow';
import { estimateWays, type EstimatedWords } from './estimateWays';
import { type Configuration, forecastSetup } from './forecastSetup';
import { pickConversation } from './pickConversation';
import { pickedItem } from './pickedItem';
import { createPicker, showErrorMessage } from '../window/notifications';

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

/** A conversation that is condensed in a way that the user picks. */
export type CondensedWith = Pick<LastCondensation, 'conversation' | 'title' | 'path' | 'isLive'> &
  // Absent where it is not condensed: the way that ran, and what it left.
  Partial<Pick<LastCondensation, 'way' | 'tokensAfter'>>;

/**
 * Lets the user look at ways for a conversation and pick one, and condenses that way.
 * @param subject default: the conversation that this window condensed last
 */
export async function condenseWith(
  services: Services,
  subject: CondensedWith | undefined = services.last,
): Promise<void> {
  if (!subject) return;
  const conversation = await conversationOf(services, subject);
  if (!conversation) return;
  const way = await askWay(services, conversation, subject);
  if (!way) return;
  const { provider, config } = way;
  const live = liveConversations(services).find(({ id }) => subject.isLive && id === subject.conversation);
  if (live) await agentOf(services).condense(live.id, provider, config);
  else if (subject.path !== undefined)
    await condenseFile(services, subject.path, { ...manualSettings(), provider }, config);
  else void showErrorMessage(vscode.l10n.t('Nothing was condensed. The conversation is no longer in memory.'));
}

/** Of a window in which nothing was condensed yet. */
async function pickAndCondenseWith(services: Services): Promise<void> {
  const words = { title: vscode.l10n.t('Condense With…'), open: vscode.l10n.t('Open') };
  const picked = await pickConversation(services, liveConversations(services), words);
  if (!picked) return;
  if ('live' in picked) await condenseNamedWith(services, { live: picked.live.id });
  else await condenseNamedWith(services, picked.path);
}

/** As the command gets it: a stored conversation by its path, one that runs as `{live: id}`; else the last one. */
export async function condenseNamedWith(services: Services, asked: unknown): Promise<void> {
  if (typeof asked === 'string') {
    const { last } = services;
    const title = nameOfFile(services, asked);
    await condenseWith(services, last?.path === asked ? last : { conversation: '', title, path: asked });
    return;
  }
  const id = isRecord(asked) ? asked['live'] : undefined;
  const live = liveConversations(services).find((each) => each.id === id);
  if (!live && !services.last) {
    await pickAndCondenseWith(services);
    return;
  }
  const isLast = live === undefined || live.id === services.last?.conversation;
  await condenseWith(services, isLast ? services.last : { conversation: live.id, title: live.title, isLive: true });
}

async function conversationOf(services: Services, subject: CondensedWith): Promise<ForecastConversation | undefined> {
  try {
    if (subject.isLive) {
      const name = { kind: 'live', id: subject.conversation } as const;
      await lookAtConversation(services, name);
      return forecastConversation(services, name);
    }
    return subject.path === undefined
      ? undefined
      : forecastConversation(services, { kind: 'file', path: subject.path });
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
function isSameWay({ provider, config, configuration }: Way, ran: LastCondensation['way'] | undefined): boolean {
  if (!ran || provider !== ran.provider) return false;
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
  subject: CondensedWith,
): Promise<Way | undefined> {
  const picker = createPicker<WayItem>();
  const abort = new AbortController();
  const ways = waysOf(services).filter((way) => !isSameWay(way, subject.way));
  const found = new Map<Way, EstimatedWords>();
  const show = (): void => {
    const active = picker.activeItems[0]?.way;
    picker.items = itemsOf(ways, found, subject);
    picker.activeItems = picker.items.filter(({ way }) => way !== undefined && way === active);
  };
  picker.title = vscode.l10n.t('Condense “{0}” With…', subject.title);
  picker.placeholder = vscode.l10n.t('Always starts from the original. The eye shows what would change.');
  picker.matchOnDescription = true;
  picker.busy = true;
  show();
  void estimateWays(services, conversation, ways, abort.signal, (way, words) => {
    found.set(way, words);
    show();
  }).finally(() => {
    if (!abort.signal.aborted) picker.busy = false;
  });
  // The list stays open above the diff.
  picker.onDidTriggerItemButton(({ item: { way } }) => {
    if (way) void look(services, conversation, way);
  });
  return (await pickedItem(picker, abort))?.way;
}

const lookButton = (): vscode.QuickInputButton => ({
  iconPath: new vscode.ThemeIcon('eye'),
  tooltip: vscode.l10n.t('Preview'),
});

/** Shows what a way would change; nothing is kept. */
async function look(services: Services, conversation: ForecastConversation, way: Way): Promise<void> {
  if (!way.configuration) return;
  const ended = (reason: string): string => vscode.l10n.t('The estimate’s worker ended ({0}).', reason);
  const thread = new ForecastThread({ bundle: engineBundle(services), ended });
  try {
    const setup = await forecastSetup(services, way.configuration);
    const question = { kind: 'texts', conversation, setup, excluded: [] } as const;
    const texts = await thread.ask(question, new AbortController().signal);
    const { comparisons } = services;
    await comparisons.show(comparisons.add({ ...texts, by: way.label, isPreview: true }), true);
  } catch (error) {
    void showErrorMessage(errorMessage(error));
  } finally {
    thread.end();
  }
}

function itemsOf(
  ways: readonly Way[],
  found: ReadonlyMap<Way, EstimatedWords>,
  { tokensAfter: now = Infinity }: CondensedWith,
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
    ...(way.configuration && way.isFree && { buttons: [lookButton()] }),
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
