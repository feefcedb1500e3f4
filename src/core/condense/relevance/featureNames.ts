/** The features of relevance by their names: what each says of a block, and which belong together. */

/** The kinds of content, as the model sees them. */
const SORTS = [
  'isRead',
  'isPrinted',
  'isFound',
  'isPatch',
  'isPut',
  'isOld',
  'isWritten',
  'isCommand',
  'isEcho',
  'isListed',
  'isOutput',
  'isFailed',
  'isAsked',
  'isOther',
] as const;
export type Sort = (typeof SORTS)[number];

/** Every feature with what it says; the weights are in weights.ts. */
export const FEATURES = {
  turns: 'turns since it was said (logarithm)',
  results: 'results that came after it (logarithm)',
  textAfter: 'share of the conversation’s text that came after it',
  justNow: 'how few turns ago it was said: half at 3, a tenth at 12',
  lately: 'how few turns ago it was said: half at 14, a tenth at 46',
  newest: 'how few results came after it: half at 3, a tenth at 12',
  newer: 'how few results came after it: half at 14, a tenth at 46',
  file: 'it is part of a known file',
  touched: 'turns since its file was last shown or changed (logarithm)',
  touchedNow: 'how few turns ago its file was shown or changed: half at 3',
  touchedLately: 'how few turns ago its file was shown or changed: half at 14',
  changedLately: 'how few turns ago its file was changed: half at 7',
  open: 'its file was shown after it was last changed, or never changed',
  folder: 'how near its folder is to the files that were changed last, 1 to 0',
  rank: 'files that were touched after its file (logarithm)',
  latest: 'its file is the one that was touched last',
  changes: 'changes of its file (logarithm)',
  changed: 'turns since its file was last changed, if it ever was (logarithm)',
  unchanged: 'its file was never changed',
  changesAfter: 'changes of its file after it was said (logarithm)',
  shows: 'how often its file was shown (logarithm)',
  showsAfter: 'how often its file was shown after it (logarithm)',
  stale: 'share of its lines that a later change took out of the file',
  rewritten: 'its file was written whole after it',
  quoted: 'share of its lines that other calls quoted from the file',
  put: 'share of its lines that other calls put into the file',
  near: 'how near in its text other calls quoted or put in a line, 0 to 1',
  people: 'rare words that it shares with what people wrote (logarithm)',
  plan: 'rare words that it shares with the plan (logarithm)',
  prose: 'rare words that it shares with the agent’s latest prose (logarithm)',
  calls: 'rare words that it shares with the latest calls (logarithm)',
  outputs: 'rare words that it shares with what the latest commands put out (logarithm)',
  declared: 'rare words of its declarations that latest prose and calls use (logarithm)',
  textProse: 'the mean of what the blocks of its text share with the latest prose',
  named: 'somebody named its file',
  namedLately: 'its file is named in the plan or the latest prose',
  putOut: 'its file is named in what the latest commands put out',
  size: 'tokens of the text that it stands in (logarithm)',
  block: 'tokens of the block (logarithm)',
  part: 'the call asked for a part of the file',
  first: 'it begins the file',
  declares: 'it declares something',
  unsolved: 'it tells of an error of the last turns, in the output of a command or of a failed call',
  tests: 'it is of a test',
  prosa: 'it is of a document',
  data: 'it is of a file of data or settings',
  ...(Object.fromEntries(SORTS.map((sort) => [sort, `it is of the sort ${sort.slice(2).toLowerCase()}`])) as Record<
    Sort,
    string
  >),
  oldPut: 'turns since it was said, for what the agent put into a file (logarithm)',
  oldOutput: 'turns since it was said, for what is part of no file (logarithm)',
  workedOn: 'turns since its file was touched, for a file that was changed (logarithm)',
  partTurns: 'turns since it was said, for a part that the call asked for (logarithm)',
} as const;

export type FeatureName = keyof typeof FEATURES;

/** Features that belong together, to tell what a group is worth. */
export const FEATURE_GROUPS = {
  'how long ago': [
    'turns',
    'results',
    'textAfter',
    'justNow',
    'lately',
    'newest',
    'newer',
    'oldPut',
    'oldOutput',
    'partTurns',
  ],
  'the file’s past': [
    'touched',
    'touchedNow',
    'touchedLately',
    'changedLately',
    'open',
    'folder',
    'rank',
    'latest',
    'changes',
    'changed',
    'unchanged',
    'shows',
    'workedOn',
  ],
  'what came after it': ['changesAfter', 'showsAfter', 'stale', 'rewritten'],
  'lines that edits quoted': ['quoted', 'put', 'near'],
  'what is talked about': [
    'people',
    'plan',
    'prose',
    'calls',
    'outputs',
    'declared',
    'textProse',
    'named',
    'namedLately',
    'putOut',
  ],
  'what it is': ['size', 'block', 'part', 'first', 'declares', 'unsolved', 'tests', 'prosa', 'data', 'file', ...SORTS],
} as const satisfies Readonly<Record<string, readonly FeatureName[]>>;

export const FEATURE_NAMES = Object.keys(FEATURES) as readonly FeatureName[];

/**
 * Weights that are not fitted. No line of a file stands in what tells of an error, so a fit to these knows nothing of it; at 2, no project
 * and no agent that the weights never saw loses more of them (docs/decisions/0028-fitted-relevance.md).
 */
export const FIXED: Readonly<Partial<Record<FeatureName, number>>> = { unsolved: 2 };
