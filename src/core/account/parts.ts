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
 * `readAgain`: reads that mostly repeat an earlier one. `fixed`: instructions and tool
 * declarations.
 */
export type PartKind = (typeof PART_KINDS)[number];

export const MIN_SENDS_COUNTED_OFTEN = 10;

export const PART_LABELS: Readonly<Record<PartKind, string>> = {
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
