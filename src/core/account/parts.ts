/** The parts of what requests are made of; the panel's page knows them, too. */
export const PART_KINDS = [
  'people',
  'prose',
  'thinking',
  'calls',
  'reads',
  'readAgain',
  'commands',
  'search',
  'otherResults',
  'images',
  'summaries',
  'agent',
  'fixed',
] as const;
/**
 * `calls`: parameters of tools. `readAgain`: reads most of whose lines an earlier read of the file had shown. `agent`: what the agent
 * put among a person's words. `fixed`: instructions and declared tools.
 */
export type PartKind = (typeof PART_KINDS)[number];

/** What was sent with more requests than this counts as sent often. */
export const OFTEN = 10;

/** The parts of the context. */
export const PART_WORDS: Readonly<Record<PartKind, string>> = {
  people: 'user messages',
  prose: 'model text',
  thinking: 'thinking',
  calls: 'parameters of tools',
  reads: 'files, first read',
  readAgain: 'files, read again',
  commands: 'output of commands',
  search: 'searches and lists',
  otherResults: 'other results',
  images: 'images',
  summaries: 'summaries',
  agent: 'added to messages by the agent',
  fixed: 'instructions and tools',
};
