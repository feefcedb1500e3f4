import * as vscode from 'vscode';
import { getAgentRuntime, listLiveConversations } from '../agent/runtime';
import type { ConversationSource } from '../background/preview/messages';
import { createSmartProvider } from '../core/condense/providers/smart';
import { mayCallModel } from '../core/condense/config';
import { isRecord } from '../core/messages/blocks';
import { getEngineBundle } from '../window/background';
import { PreviewThread } from '../engine/previewThread';
import { getConversationIndex, getFileName } from './conversationIndex';
import type { IndexedConversation } from '../background/conversationIndex';
import { formatRowFillChange } from '../views/conversations/rowWords';
import { readSetting } from '../window/settings/settings';
import { BUILT_IN_PRESETS } from '../core/condense/providers/smart/presets';
import {
  BUILT_IN_PROVIDERS,
  type BuiltInProviderId,
  PROVIDER_CALLS_MODEL,
  PROVIDER_DESCRIPTIONS,
  PROVIDER_NAMES,
} from '../core/condense/types';
import { getErrorMessage } from '../core/errors';
import { resolveProviderConfig, readOwnPresets } from '../window/settings/providerConfig';
import { readManualSettings } from '../window/settings/manualSettings';
import type { LastCondensation, Services } from '../window/services';
import { resolveConversation, loadLiveView } from './chosenConversation';
import { condenseFileAndWait } from './condenseNow';
import { estimateChoices, type EstimateTexts } from './estimateChoices';
import { type PreviewConfiguration, readPreviewSetup } from './previewSetup';
import { pickConversation } from './pickConversation';
import { pickItem } from './pickItem';
import { createPicker, showErrorMessage } from '../window/notifications';
import { shortenText } from '../core/shortened';
import { isEqual } from '../core/isEqual';
import { formatPercent } from '../core/percent';
import { MEASURED_LOSS_BY_PRESET, MEASURED_LOSS_BY_PROVIDER, type MeasuredLoss } from '../core/condense/measured';

/** Longer titles would wrap above VS Code’s list. */
const MAX_TITLE_CHARS = 40;

interface ProviderChoice {
  readonly label: string;
  /** A phrase that says what the provider removes. */
  readonly description: string;
  readonly provider: string;
  readonly config: unknown;
  /** What to preview for this choice; absent if no estimate is possible. */
  readonly configuration?: PreviewConfiguration;
  readonly isFree: boolean;
}

interface ChoiceItem extends vscode.QuickPickItem {
  readonly choice?: ProviderChoice;
}

export type CondensationSubject = Pick<LastCondensation, 'conversation' | 'title' | 'path' | 'isLive'> &
  // The choice with which it was condensed and the resulting size; absent if it isn't condensed.
  Partial<Pick<LastCondensation, 'choice' | 'tokensAfter'>>;

/** @param subject the conversation; default: the one that this window condensed last */
export async function condenseWith(
  services: Services,
  subject: CondensationSubject | undefined = services.last,
): Promise<void> {
  if (!subject) return;
  const conversation = await findSubjectConversation(services, subject);
  if (!conversation) return;
  const choice = await askProviderChoice(services, conversation, subject);
  if (!choice) return;
  const { provider, config } = choice;
  const liveConversation = listLiveConversations(services).find(
    ({ id }) => subject.isLive && id === subject.conversation,
  );
  if (liveConversation) await getAgentRuntime(services).condense(liveConversation.id, provider, config);
  else if (subject.path !== undefined)
    await condenseFileAndWait(services, subject.path, { ...readManualSettings(), provider }, config);
  else
    void showErrorMessage(
      vscode.l10n.t('Nothing was condensed. The conversation is no longer in memory. Continue it in the chat first.'),
    );
}

/** Asks for the conversation too, because this window has condensed none yet. */
async function pickAndCondenseWith(services: Services): Promise<void> {
  const texts = { title: vscode.l10n.t('Condense With…'), open: vscode.l10n.t('Open') };
  const conversation = await pickConversation(services, listLiveConversations(services), texts);
  if (!conversation) return;
  if ('live' in conversation) await condenseNamedConversationWith(services, { live: conversation.live.id });
  else await condenseNamedConversationWith(services, conversation.path);
}

/** @param input path of a stored conversation, or `{live: id}`; default: the one condensed last */
export async function condenseNamedConversationWith(services: Services, input: unknown): Promise<void> {
  if (typeof input === 'string') {
    const { last } = services;
    const title = getFileName(services, input);
    await condenseWith(services, last?.path === input ? last : { conversation: '', title, path: input });
    return;
  }
  const id = isRecord(input) ? input['live'] : undefined;
  const liveConversation = listLiveConversations(services).find((each) => each.id === id);
  if (!liveConversation && !services.last) {
    await pickAndCondenseWith(services);
    return;
  }
  const isLastCondensed = liveConversation === undefined || liveConversation.id === services.last?.conversation;
  await condenseWith(
    services,
    isLastCondensed
      ? services.last
      : { conversation: liveConversation.id, title: liveConversation.title, isLive: true },
  );
}

async function findSubjectConversation(
  services: Services,
  subject: CondensationSubject,
): Promise<ConversationSource | undefined> {
  try {
    if (subject.isLive) {
      const name = { kind: 'live', id: subject.conversation } as const;
      await loadLiveView(services, name);
      return resolveConversation(services, name);
    }
    return subject.path === undefined ? undefined : resolveConversation(services, { kind: 'file', path: subject.path });
  } catch (error) {
    void showErrorMessage(getErrorMessage(error));
    return undefined;
  }
}

/** Returns undefined for choices whose loss was not measured, such as the user's own passes. */
function findMeasuredLossOfChoice({ configuration }: ProviderChoice): MeasuredLoss | undefined {
  if (configuration?.kind === 'preset') return MEASURED_LOSS_BY_PRESET[configuration.id];
  return configuration?.kind === 'provider' ? MEASURED_LOSS_BY_PROVIDER[configuration.id] : undefined;
}

/**
 * True if no facts count as lost, because the agent can recall everything that the choice removes.
 */
const losesNoFacts = (choice: ProviderChoice): boolean => findMeasuredLossOfChoice(choice)?.lost === 0;

/** Short, because VS Code’s list cuts off the end. What the choice does is above the list. */
function formatLoss(
  choice: ProviderChoice,
  { note = '', loss = '', lacksModel = false }: Partial<EstimateTexts> = {},
): string {
  const texts = [note, lacksModel ? '' : formatMeasuredLoss(choice), losesNoFacts(choice) ? '' : loss];
  return texts.filter((text) => text !== '').join(' ') || choice.description;
}

function formatMeasuredLoss(choice: ProviderChoice): string {
  const { lost, isAtMost, projects } = findMeasuredLossOfChoice(choice) ?? {};
  if (lost === undefined) return '';
  if (losesNoFacts(choice)) return vscode.l10n.t('Loses nothing.');
  const lostShare = formatPercent(lost);
  if (projects !== undefined)
    return vscode.l10n.t('In tests: {0} of needed lines lost ({1} projects).', lostShare, projects);
  return isAtMost
    ? vscode.l10n.t('In tests: up to {0} of needed lines lost (1 project).', lostShare)
    : vscode.l10n.t('In tests: {0} of needed lines lost (1 project).', lostShare);
}

/** Lists the choices that lose least first. */
function listProviderChoices({ registered }: Services): ProviderChoice[] {
  const ownPresets = readOwnPresets();
  const ownPresetIds = new Set(ownPresets.map(({ id }) => id));
  const presets = [...ownPresets, ...BUILT_IN_PRESETS.filter(({ id }) => !ownPresetIds.has(id))].map(
    ({ id, name, description, config }): ProviderChoice => ({
      label: name,
      description,
      provider: 'smart',
      config,
      configuration: { kind: 'preset', id },
      isFree: !mayCallModel(createSmartProvider(), config),
    }),
  );
  const ownPasses = resolveProviderConfig('smart');
  const choices = [
    ...presets,
    ...BUILT_IN_PROVIDERS.filter((id) => id !== 'smart' || typeof ownPasses === 'object').map(
      makeChoiceWithOwnSettings,
    ),
    ...registered.listProviders().map(({ id, name, description }): ProviderChoice => ({
      label: name,
      description,
      provider: id,
      config: resolveProviderConfig(id),
      isFree: true,
    })),
  ];
  const getLoss = (choice: ProviderChoice): number => findMeasuredLossOfChoice(choice)?.lost ?? 100;
  return choices.toSorted((a, b) => getLoss(a) - getLoss(b));
}

const makeChoiceWithOwnSettings = (id: BuiltInProviderId): ProviderChoice => ({
  label: PROVIDER_NAMES[id],
  description: id === 'smart' ? vscode.l10n.t('Your own passes.') : PROVIDER_DESCRIPTIONS[id],
  provider: id,
  config: resolveProviderConfig(id),
  configuration: { kind: 'provider', id },
  isFree: PROVIDER_CALLS_MODEL[id] === false,
});

function isSameProviderChoice(
  { provider, config, configuration }: ProviderChoice,
  lastChoice: LastCondensation['choice'] | undefined,
): boolean {
  if (!lastChoice || provider !== lastChoice.provider) return false;
  return (
    provider !== 'smart' ||
    (typeof lastChoice.config === 'string' && isPresetConfiguration(configuration, lastChoice.config)) ||
    isEqual(config, lastChoice.config)
  );
}

const isPresetConfiguration = (configuration: PreviewConfiguration | undefined, id: string): boolean =>
  configuration?.kind === 'preset' && configuration.id === id;

async function askProviderChoice(
  services: Services,
  conversation: ConversationSource,
  subject: CondensationSubject,
): Promise<ProviderChoice | undefined> {
  const picker = createPicker<ChoiceItem>();
  const abortController = new AbortController();
  const { provider } = readManualSettings();
  const currentChoice = { provider, config: resolveProviderConfig(provider) };
  const choices = listProviderChoices(services).toSorted(
    (a, b) => Number(isSameProviderChoice(b, currentChoice)) - Number(isSameProviderChoice(a, currentChoice)),
  );
  const estimates = new Map<ProviderChoice, EstimateTexts>();
  const indexedConversation = getConversationIndex(services).conversations.find(({ path }) => path === subject.path);
  const showItems = (): void => {
    const activeChoice = picker.activeItems[0]?.choice;
    picker.items = createChoiceItems(choices, estimates, currentChoice, subject, indexedConversation);
    picker.activeItems = picker.items.filter(({ choice }) => choice !== undefined && choice === activeChoice);
  };
  const title = shortenText(subject.title, MAX_TITLE_CHARS);
  picker.title =
    subject.tokensAfter === undefined
      ? vscode.l10n.t('Condense “{0}” With…', title)
      : vscode.l10n.t('Condense the Original of “{0}” With…', title);
  picker.onDidChangeActive(() => {
    const description = picker.activeItems[0]?.choice?.description;
    if (description !== undefined) picker.placeholder = description;
  });
  picker.matchOnDescription = true;
  picker.busy = true;
  showItems();
  void estimateChoices(services, conversation, choices, abortController.signal, (choice, figures) => {
    estimates.set(choice, figures);
    showItems();
  }).finally(() => {
    if (!abortController.signal.aborted) picker.busy = false;
  });
  // A preview opens as a diff, and the list stays open above it.
  picker.onDidTriggerItemButton(({ item: { choice } }) => {
    if (choice) void previewProviderChoice(services, conversation, choice);
  });
  return (await pickItem(picker, abortController))?.choice;
}

const createPreviewButton = (): vscode.QuickInputButton => ({
  iconPath: new vscode.ThemeIcon('eye'),
  tooltip: vscode.l10n.t('Preview'),
});

async function previewProviderChoice(
  services: Services,
  conversation: ConversationSource,
  choice: ProviderChoice,
): Promise<void> {
  if (!choice.configuration) return;
  const describeEnd = (reason: string): string => vscode.l10n.t('The estimate’s worker ended ({0}).', reason);
  const thread = new PreviewThread({ bundle: getEngineBundle(services), ended: describeEnd });
  try {
    const setup = await readPreviewSetup(services, choice.configuration);
    const question = { kind: 'texts', conversation, setup, excluded: [] } as const;
    const diffTexts = await thread.askPreviewQuestion(question, new AbortController().signal);
    const { comparisons } = services;
    await comparisons.showComparison(
      comparisons.addComparison({ ...diffTexts, by: choice.label, isPreview: true }),
      true,
    );
  } catch (error) {
    void showErrorMessage(getErrorMessage(error));
  } finally {
    thread.endThread();
  }
}

function createChoiceItems(
  choices: readonly ProviderChoice[],
  estimates: ReadonlyMap<ProviderChoice, EstimateTexts>,
  currentChoice: LastCondensation['choice'],
  { tokensAfter: currentTokens = Infinity, choice: lastChoice }: CondensationSubject,
  indexedConversation: IndexedConversation | undefined,
): ChoiceItem[] {
  const assumedWindow = readSetting('conversations.contextWindow');
  const formatFillChange = ({ tokensBefore, tokensAfter }: EstimateTexts): string[] =>
    indexedConversation === undefined || tokensBefore === undefined || tokensAfter === undefined
      ? []
      : [formatRowFillChange(indexedConversation, { tokensBefore, tokensAfter }, assumedWindow) ?? []].flat();
  const describeChoice = (choice: ProviderChoice): string => {
    const estimate = estimates.get(choice);
    if (!estimate)
      return choice.configuration ? vscode.l10n.t('estimating…') : vscode.l10n.t('not known until it runs');
    const { size, cost, tokensAfter } = estimate;
    const isInUse = isSameProviderChoice(choice, lastChoice);
    return [
      size,
      ...formatFillChange(estimate),
      ...(cost === undefined ? [] : [cost]),
      ...(isInUse ? [vscode.l10n.t('in use now')] : []),
      ...(!isInUse && tokensAfter !== undefined && tokensAfter >= currentTokens ? [vscode.l10n.t('not smaller')] : []),
    ].join(' · ');
  };
  const makeItem = (choice: ProviderChoice): ChoiceItem => ({
    choice,
    label: choice.label,
    description: describeChoice(choice),
    ...(choice.configuration && choice.isFree && { buttons: [createPreviewButton()] }),
    detail: formatLoss(choice, estimates.get(choice)),
  });
  const choiceGroups: readonly [string, (choice: ProviderChoice) => boolean][] = [
    [vscode.l10n.t('chosen in the settings'), (choice) => isSameProviderChoice(choice, currentChoice)],
    [vscode.l10n.t('calls no model'), ({ isFree, configuration }) => isFree && configuration !== undefined],
    [vscode.l10n.t('may call a model'), ({ isFree }) => !isFree],
    [vscode.l10n.t('from other extensions'), () => true],
  ];
  const groups = Map.groupBy(choices, (choice) => choiceGroups.find(([, holds]) => holds(choice))?.[0]);
  return choiceGroups.flatMap(([label]): ChoiceItem[] => {
    const items = groups.get(label)?.map(makeItem) ?? [];
    return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
  });
}
