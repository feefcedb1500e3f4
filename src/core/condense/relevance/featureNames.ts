export const FEATURE_DESCRIPTIONS = {
  results: 'number of results after the block (logarithm)',
  lately: 'how recent the block is: half after 14 turns, a tenth after 46',
  file: 'the block is part of a known file',
  touchedLately: 'how recently its file was shown or changed: half after 14 turns',
  changedLately: 'how recently its file was changed: half after 7 turns',
  open: 'its file was shown after its last change, or was never changed',
  changesAfter: 'number of changes to its file after the block (logarithm)',
  shows: 'how often its file was shown (logarithm)',
  stale: 'share of its lines that a later change removed from the file',
  near: 'nearness to a line of its text that other calls quoted or wrote, 0 to 1',
  people: 'rare words that the block shares with what people wrote (logarithm)',
  prose: 'rare words that the block shares with the agent’s latest prose (logarithm)',
  calls: 'rare words that the block shares with the latest calls (logarithm)',
  declared: 'rare words it declares that the latest prose and calls use (logarithm)',
  textProse: 'mean, over the blocks of its text, of words shared with the latest prose',
  named: 'the user, the plan, a search or the agent named its file',
  namedLately: 'its file is named in the plan or the latest prose',
  putOut: 'its file is named in the output of the latest commands',
  block: 'tokens of the block (logarithm)',
  document: 'the block is part of a document',
  unsolved: 'it reports an error of the last turns, from a command or a failed call',
  printed: 'a command printed the block from a file',
  found: 'a search found the block',
  putTurns: 'turns since the agent put the block into a file (logarithm)',
} as const;

export type FeatureName = keyof typeof FEATURE_DESCRIPTIONS;

export const FEATURE_NAMES = Object.keys(FEATURE_DESCRIPTIONS) as readonly FeatureName[];
