/** What users look for by words of their own, and the places that answer it. */
import { t } from './l10n';

/** Names of all agents; a test compares them with the table, which is too large for this page. */
const AGENT_NAMES =
  'Claude Code, Cline, Codex, Continue, Copilot CLI, Cursor, Gemini CLI, Kilo Code, Oh My Pi, OpenCode, Pi, Qwen Code, Roo Code, VS Code, Zoo Code';

interface SearchTopic {
  /** Separated by commas; a query may be the beginning of one. */
  readonly words: () => string;
  /** Settings, and sections and other places as `#ID`, best first. */
  readonly places: readonly string[];
}

const SEARCH_TOPICS: readonly SearchTopic[] = [
  { words: () => t('copilot'), places: ['#chat'] },
  { words: () => `${AGENT_NAMES}, ${t('agents')}`, places: ['#answers.agents', 'automatic'] },
  {
    words: () => t('undo, restore, revert, roll back, backup, back up, give back, original'),
    places: ['#answers.undo', '#history'],
  },
  { words: () => t('delete, clear, diff, export'), places: ['#history'] },
  { words: () => t('summary, summaries, summarize'), places: ['#profiles', '#native'] },
  { words: () => t('models, api'), places: ['#profiles.keys', '#profiles', '#chat'] },
  {
    words: () => t('costs, budget, limit, money, spend, dollars'),
    places: ['maxCostPerCondensation', '#account'],
  },
  { words: () => t('prices'), places: ['#profiles', 'maxCostPerCondensation', '#account'] },
  { words: () => t('when'), places: ['threshold', 'automatic'] },
  {
    words: () => t('percent, how much'),
    places: ['threshold', 'manual.targetPercent', 'maxCostPerCondensation'],
  },
];

const isAbout = (query: string, { words }: SearchTopic): boolean =>
  query.length > 2 &&
  words()
    .toLowerCase()
    .split(', ')
    .some((word) => word.startsWith(query) || query.startsWith(`${word} `));

/** Lists the places that answer a query, best first. */
export const listAnsweringPlaces = (query: string): readonly string[] =>
  SEARCH_TOPICS.flatMap((topic) => (isAbout(query, topic) ? topic.places : []));

/** Returns the words of all topics that a place answers. */
export const getTopicWords = (place: string): string =>
  SEARCH_TOPICS.flatMap(({ words, places }) => (places.includes(place) ? [words()] : [])).join(' ');
