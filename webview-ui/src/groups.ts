/** The only place that says which groups, sections and settings are where on the page. */
import type { ProviderDescription } from '../../src/panel/protocol';
import { t } from './l10n';
import { getTopicWords } from './searchTopics';

export interface NavigationGroup {
  readonly id: string;
  readonly title: string;
  /** One sentence below the title. */
  readonly help: string;
  readonly sections: readonly { readonly id: string; readonly title: string }[];
  /** Sections that expand when the user chooses the group in the outline. */
  readonly unfolds: readonly string[];
}

export const makeGroupPlace = (id: string): string => `group-${id}`;

const SECTION_BY_PLACE: Readonly<Record<string, string>> = {
  presets: 'smart',
  'two-configurations': 'comparison',
};

export const getSectionOfPlace = (place: string): string =>
  SECTION_BY_PLACE[place] ?? (place.startsWith('profiles.') ? 'profiles' : place);

/** @param inUse ID of the provider in use */
export function listNavigationGroups(
  providers: readonly ProviderDescription[],
  inUse: unknown,
): readonly NavigationGroup[] {
  const unfoldAllSections = (group: Omit<NavigationGroup, 'unfolds'>): NavigationGroup => ({
    ...group,
    unfolds: group.sections.map(({ id }) => id),
  });
  return [
    {
      id: 'start',
      title: t('Start'),
      help: t(
        'Agents fill the context window of their model, and then forget. Context Condenser makes conversations smaller. The original is always kept.',
      ),
      sections: [{ id: 'start', title: t('Start') }],
      unfolds: [],
    },
    {
      id: 'methods',
      title: t('Providers'),
      help: t('A provider is a way to make conversations smaller. The defaults work well.'),
      sections: providers.map(({ id, name }) => ({ id, title: t(name) })),
      unfolds: providers.flatMap(({ id }) => (id === inUse ? [id] : [])),
    },
    unfoldAllSections({
      id: 'models',
      title: t('Models'),
      help: t('Optional. Only summaries need a model.'),
      sections: [
        { id: 'profiles', title: t('Models for summaries') },
        { id: 'chat', title: t('Models in the chat') },
      ],
    }),
    unfoldAllSections({
      id: 'try',
      title: t('Try'),
      help: t('See what condensing would do to your own conversations. Nothing is changed, and no model is called.'),
      sections: [
        { id: 'preview', title: t('Preview') },
        { id: 'comparison', title: t('Compare') },
      ],
    }),
    unfoldAllSections({
      id: 'results',
      title: t('Results'),
      help: t('What was condensed, what it saved, and what your agents cost.'),
      sections: [
        { id: 'history', title: t('History and savings') },
        { id: 'account', title: t('Session costs') },
      ],
    }),
    unfoldAllSections({
      id: 'advanced',
      title: t('Advanced'),
      help: t('Settings that few people change.'),
      sections: [
        { id: 'arrival', title: t('New tool results') },
        { id: 'stored', title: t('Stored conversations') },
        { id: 'more', title: t('Checks and notifications') },
      ],
    }),
  ];
}

export type SettingsPlaceId = 'when' | 'limits' | 'chat' | 'arrival' | 'stored';

/** Lists settings in display order. Settings without a place are in `more`. */
export const SETTINGS_BY_PLACE: Readonly<Record<SettingsPlaceId, readonly string[]>> = {
  when: [
    'thresholdTokens',
    'agent.targetPercent',
    'agent.whenNotEnough',
    'agent.coldPercent',
    'agent.backgroundPercent',
    'agent.summaryWaitSeconds',
    'manual.targetPercent',
  ],
  limits: [
    'maxCostPerConversation',
    'maxCostPerDay',
    'agent.maxCostPerConversation',
    'agent.maxCostPerDay',
    'agent.atMaxCost',
    'warnings.cost',
  ],
  chat: ['agent.declaredWindow'],
  arrival: ['agent.onArrival', 'agent.noiseOnArrival', 'agent.largeResultPercent'],
  stored: ['history', 'conversations.contextWindow', 'conversations.offerIdleTasks'],
};

/** Settings with a control of their own. */
const SETTINGS_SHOWN_ELSEWHERE: readonly string[] = [
  'provider',
  'automatic',
  'threshold',
  'maxCostPerCondensation',
  'profiles',
  'condensingProfile',
  'condensingPrompt',
  'presets',
  'providers',
  'agent.wrappedModels',
];

export function listOtherSettings(names: readonly string[], ofProviders: readonly (string | undefined)[]): string[] {
  const placedSettings = new Set([
    ...SETTINGS_SHOWN_ELSEWHERE,
    ...Object.values(SETTINGS_BY_PLACE).flat(),
    ...ofProviders,
  ]);
  return names.filter((name) => !placedSettings.has(name));
}

/** Other words that users search for, by setting. */
const SEARCH_SYNONYMS: readonly (readonly [place: RegExp, words: () => string])[] = [
  [/(^|\.)maxCost|^agent\.atMaxCost|^warnings\.cost/, () => t('budget limit spend money price dollars')],
  [/^threshold|Percent$|^automatic/, () => t('when how much automatic trigger threshold percent')],
  [/^thresholdTokens|contextWindow|declaredWindow/, () => t('context window size tokens limit')],
  [/[dD]eduplicate|repeated|oneViewPerFile/, () => t('dedupe duplicates repeats')],
  [/[nN]oise/, () => t('terminal ansi colors progress bars')],
  [/^condensingPrompt/, () => t('prompt instructions language of summaries')],
  [/^notifications|^warnings/, () => t('notify notification message alert warn log')],
  [/^conversations\.offerIdleTasks/, () => t('notify remind offer')],
  [/images$|\.images\./, () => t('images pictures screenshots')],
  [/^agent\.wrappedModels/, () => t('chat agent mode copilot models')],
  [/^automatic/, () => t('gateway proxy enable disable turn on/off pause auto-compact compaction')],
  [/^truncation\.preserve|\.protect/, () => t('ignore exclude skip keep last recent messages')],
  [/failedCalls/, () => t('retry retries')],
  [/maskSecrets/, () => t('privacy secrets telemetry')],
  [/[sS]econds$/, () => t('timeout time limit')],
  [/^agent\.onArrival|^agent\.largeResultPercent/, () => t('mcp tool results')],
];

export const getSearchSynonyms = (setting: string): string =>
  [...SEARCH_SYNONYMS.flatMap(([place, words]) => (place.test(setting) ? [words()] : [])), getTopicWords(setting)].join(
    ' ',
  );
