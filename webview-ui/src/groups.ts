/**
 * What stands where on the page: the groups of the outline, their sections, and the section of every setting. Nothing else says so.
 */
import type { ProviderDescription } from '../../src/panel/protocol';
import { t } from './l10n';

export interface Group {
  readonly id: string;
  readonly title: string;
  /** One sentence below the title. */
  readonly help: string;
  readonly sections: readonly { readonly id: string; readonly title: string }[];
  /** The sections that unfold when the outline leads here. */
  readonly unfolds: readonly string[];
}

/** The id of the group's element on the page. */
export const placeOfGroup = (id: string): string => `group-${id}`;

/** Places inside of sections that the page can go to, with the section that has to be unfolded for them. */
const SECTION_OF_PLACE: Readonly<Record<string, string>> = {
  presets: 'smart',
  'two-configurations': 'comparison',
};

/** The section of a place, by its id; a section is its own. */
export const sectionOf = (place: string): string => SECTION_OF_PLACE[place] ?? place;

/** The free ones first, and of those that lose more the later. A provider of another extension comes last. */
const PROVIDER_ORDER: readonly string[] = ['lossless', 'smart', 'truncation', 'native', 'strategy'];

export function inOrder(providers: readonly ProviderDescription[]): readonly ProviderDescription[] {
  const rank = ({ id }: ProviderDescription): number => {
    const at = PROVIDER_ORDER.indexOf(id);
    return at === -1 ? PROVIDER_ORDER.length : at;
  };
  return providers.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * @param providers all that there are; each has a section.
 * @param inUse the id of the one that condenses.
 */
export function groupsOf(providers: readonly ProviderDescription[], inUse: unknown): readonly Group[] {
  const all = (group: Omit<Group, 'unfolds'>): Group => ({ ...group, unfolds: group.sections.map(({ id }) => id) });
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
      title: t('Methods'),
      help: t('What each provider removes, in detail. The defaults work well.'),
      sections: inOrder(providers).map(({ id, name }) => ({ id, title: t(name) })),
      unfolds: providers.flatMap(({ id }) => (id === inUse ? [id] : [])),
    },
    all({
      id: 'models',
      title: t('Models'),
      help: t('Optional. Only summaries need a model.'),
      sections: [
        { id: 'profiles', title: t('Models for summaries') },
        { id: 'chat', title: t('Models in the chat') },
      ],
    }),
    all({
      id: 'try',
      title: t('Try'),
      help: t('See what condensing would do to your own conversations. Nothing is changed, and no model is called.'),
      sections: [
        { id: 'preview', title: t('Preview') },
        { id: 'comparison', title: t('Compare') },
      ],
    }),
    all({
      id: 'results',
      title: t('Results'),
      help: t('What was condensed, what it saved, and what your agents cost.'),
      sections: [
        { id: 'history', title: t('History and savings') },
        { id: 'account', title: t('Session costs') },
      ],
    }),
    {
      id: 'advanced',
      title: t('Advanced'),
      help: t('Settings that few people change.'),
      sections: [
        { id: 'arrival', title: t('New tool results') },
        { id: 'stored', title: t('Stored conversations') },
        { id: 'more', title: t('Checks and notifications') },
      ],
      unfolds: [],
    },
  ];
}

/** Settings below the slider and the limit of Start. */
export type SettingsPlace = 'when' | 'limits' | 'chat' | 'arrival' | 'stored';

/** The settings of each place, in its order. A setting that is named nowhere, and has no control of its own, is in `more`. */
export const SETTINGS_IN: Readonly<Record<SettingsPlace, readonly string[]>> = {
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

/** Settings that sections show with a control of their own. */
const SHOWN_OTHERWISE: readonly string[] = [
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

/** The settings of `more`: whatever has no other place. @param names of all settings; @param ofProviders those of sections of providers */
export function otherSettings(names: readonly string[], ofProviders: readonly (string | undefined)[]): string[] {
  const placed = new Set([...SHOWN_OTHERWISE, ...Object.values(SETTINGS_IN).flat(), ...ofProviders]);
  return names.filter((name) => !placed.has(name));
}

/** Words that people look for and that stand on the page in other words: by the beginning of a setting's path. */
const SYNONYMS: readonly (readonly [place: RegExp, words: () => string])[] = [
  [/(^|\.)maxCost|^agent\.atMaxCost|^warnings\.cost/, () => t('budget limit spend money price dollars')],
  [/^threshold|Percent$|^automatic/, () => t('when how much automatic trigger threshold percent')],
  [/^thresholdTokens|contextWindow|declaredWindow/, () => t('context window size tokens')],
  [/[dD]eduplicate|repeated|oneViewPerFile/, () => t('dedupe duplicates repeats')],
  [/[nN]oise/, () => t('terminal ansi colors progress bars')],
  [/^condensingPrompt/, () => t('prompt instructions language of summaries')],
  [/^notifications|^warnings/, () => t('notify notification message alert warn')],
  [/^conversations\.offerIdleTasks/, () => t('notify remind offer')],
  [/images$|\.images\./, () => t('images pictures screenshots')],
  [/^agent\.wrappedModels/, () => t('chat agent mode copilot models')],
];

export const synonymsOf = (setting: string): string =>
  SYNONYMS.flatMap(([place, words]) => (place.test(setting) ? [words()] : [])).join(' ');
