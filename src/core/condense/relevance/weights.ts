/**
 * Written by `npm run fit`; do not edit. A weight is what one unit of its feature adds to the logarithm of how likely a token is to be
 * needed, beside all others: what two features say alike is shared between them.
 */
import type { FeatureName } from './featureNames';

export const WEIGHTS: Readonly<Partial<Record<FeatureName, number>>> = {
  /** Less needed: turns since it was said (logarithm). */
  turns: -0.238,
  /** Less needed: results that came after it (logarithm). */
  results: -0.195,
  /** More needed: share of the conversation’s text that came after it. */
  textAfter: 1.7,
  /** Less needed: how few turns ago it was said: half at 3, a tenth at 12. */
  justNow: -0.148,
  /** More needed: how few turns ago it was said: half at 14, a tenth at 46. */
  lately: 0.908,
  /** Less needed: how few results came after it: half at 3, a tenth at 12. */
  newest: -1.5,
  /** More needed: how few results came after it: half at 14, a tenth at 46. */
  newer: 0.678,
  /** More needed: it is part of a known file. */
  file: 0.334,
  /** More needed: turns since its file was last shown or changed (logarithm). */
  touched: 0.0336,
  /** Less needed: how few turns ago its file was shown or changed: half at 3. */
  touchedNow: -0.206,
  /** More needed: how few turns ago its file was shown or changed: half at 14. */
  touchedLately: 1.16,
  /** More needed: how few turns ago its file was changed: half at 7. */
  changedLately: 0.399,
  /** More needed: its file was shown after it was last changed, or never changed. */
  open: 0.874,
  /** More needed: how near its folder is to the files that were changed last, 1 to 0. */
  folder: 0.322,
  /** Less needed: files that were touched after its file (logarithm). */
  rank: -0.0679,
  /** More needed: its file is the one that was touched last. */
  latest: 0.139,
  /** More needed: changes of its file (logarithm). */
  changes: 0.00238,
  /** More needed: turns since its file was last changed, if it ever was (logarithm). */
  changed: 0.0763,
  /** Less needed: its file was never changed. */
  unchanged: -0.102,
  /** Less needed: changes of its file after it was said (logarithm). */
  changesAfter: -0.544,
  /** More needed: how often its file was shown (logarithm). */
  shows: 0.208,
  /** Less needed: how often its file was shown after it (logarithm). */
  showsAfter: -0.2,
  /** Less needed: share of its lines that a later change took out of the file. */
  stale: -2.79,
  /** Less needed: its file was written whole after it. */
  rewritten: -0.478,
  /** More needed: share of its lines that other calls quoted from the file. */
  quoted: 0.536,
  /** More needed: share of its lines that other calls put into the file. */
  put: 0.824,
  /** More needed: how near in its text other calls quoted or put in a line, 0 to 1. */
  near: 0.741,
  /** More needed: rare words that it shares with what people wrote (logarithm). */
  people: 0.25,
  /** Less needed: rare words that it shares with the plan (logarithm). */
  plan: -0.194,
  /** More needed: rare words that it shares with the agent’s latest prose (logarithm). */
  prose: 0.358,
  /** More needed: rare words that it shares with the latest calls (logarithm). */
  calls: 0.327,
  /** More needed: rare words that it shares with what the latest commands put out (logarithm). */
  outputs: 0.0885,
  /** More needed: rare words of its declarations that latest prose and calls use (logarithm). */
  declared: 0.0633,
  /** Less needed: the mean of what the blocks of its text share with the latest prose. */
  textProse: -0.288,
  /** More needed: somebody named its file. */
  named: 0.516,
  /** More needed: its file is named in the plan or the latest prose. */
  namedLately: 0.00147,
  /** More needed: its file is named in what the latest commands put out. */
  putOut: 0.271,
  /** Less needed: tokens of the text that it stands in (logarithm). */
  size: -0.0688,
  /** Less needed: tokens of the block (logarithm). */
  block: -0.589,
  /** More needed: the call asked for a part of the file. */
  part: 0.324,
  /** Less needed: it begins the file. */
  first: -0.0836,
  /** More needed: it declares something. */
  declares: 0.346,
  /** More needed: it tells of an error of the last turns, in the output of a command or of a failed call. */
  unsolved: 2,
  /** More needed: it is of a test. */
  tests: 0.197,
  /** Less needed: it is of a document. */
  prosa: -0.998,
  /** More needed: it is of a file of data or settings. */
  data: 0.133,
  /** More needed: it is of the sort read. */
  isRead: 0.231,
  /** More needed: it is of the sort printed. */
  isPrinted: 0.314,
  /** Less needed: it is of the sort found. */
  isFound: -0.751,
  /** Less needed: it is of the sort patch. */
  isPatch: -0.104,
  /** More needed: it is of the sort put. */
  isPut: 0.498,
  /** Less needed: it is of the sort old. */
  isOld: -1.63,
  /** More needed: it is of the sort written. */
  isWritten: 0.861,
  /** Less needed: it is of the sort command. */
  isCommand: -0.474,
  /** Less needed: it is of the sort echo. */
  isEcho: -0.632,
  /** Less needed: it is of the sort listed. */
  isListed: -0.647,
  /** More needed: it is of the sort output. */
  isOutput: 0.0558,
  /** Less needed: it is of the sort failed. */
  isFailed: -0.877,
  /** Less needed: it is of the sort asked. */
  isAsked: -0.572,
  /** Less needed: it is of the sort other. */
  isOther: -0.821,
  /** More needed: turns since it was said, for what the agent put into a file (logarithm). */
  oldPut: 0.171,
  /** Less needed: turns since it was said, for what is part of no file (logarithm). */
  oldOutput: -0.125,
  /** More needed: turns since its file was touched, for a file that was changed (logarithm). */
  workedOn: 0.0976,
  /** Less needed: turns since it was said, for a part that the call asked for (logarithm). */
  partTurns: -0.12,
};
