export const FEATURE_DESCRIPTIONS = {
  results: 'results that came after it (logarithm)',
  lately: 'how few turns ago it was said: half at 14, a tenth at 46',
  file: 'it is part of a known file',
  touchedLately: 'how few turns ago its file was shown or changed: half at 14',
  changedLately: 'how few turns ago its file was changed: half at 7',
  open: 'its file was shown after it was last changed, or never changed',
  changesAfter: 'changes of its file after it was said (logarithm)',
  shows: 'how often its file was shown (logarithm)',
  stale: 'share of its lines that a later change took out of the file',
  near: 'how near in its text other calls quoted or put in a line, 0 to 1',
  people: 'rare words that it shares with what people wrote (logarithm)',
  prose: 'rare words that it shares with the agent’s latest prose (logarithm)',
  calls: 'rare words that it shares with the latest calls (logarithm)',
  declared: 'rare words of its declarations that latest prose and calls use (logarithm)',
  textProse: 'the mean of what the blocks of its text share with the latest prose',
  named: 'somebody named its file',
  namedLately: 'its file is named in the plan or the latest prose',
  putOut: 'its file is named in what the latest commands put out',
  block: 'tokens of the block (logarithm)',
  document: 'it is of a document',
  unsolved: 'it tells of an error of the last turns, in the output of a command or of a failed call',
  printed: 'a command printed it from a file',
  found: 'a search found it',
  putTurns: 'turns since it was said, for what the agent put into a file (logarithm)',
} as const;

export type FeatureName = keyof typeof FEATURE_DESCRIPTIONS;

export const FEATURE_NAMES = Object.keys(FEATURE_DESCRIPTIONS) as readonly FeatureName[];
