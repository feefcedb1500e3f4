/**
 * Written by `npm run fit`; do not edit. A weight is what one unit of its feature adds to the logarithm of how likely a token is to be
 * needed, beside all others: what two features say alike is shared between them.
 */
import type { FeatureName } from './featureNames';

export const WEIGHTS: Readonly<Partial<Record<FeatureName, number>>> = {
  /** Less needed: turns since it was said (logarithm). */
  turns: -0.242,
  /** Less needed: results that came after it (logarithm). */
  results: -0.197,
  /** More needed: share of the conversation’s text that came after it. */
  textAfter: 1.76,
  /** Less needed: how few turns ago it was said: half at 3, a tenth at 12. */
  justNow: -0.145,
  /** More needed: how few turns ago it was said: half at 14, a tenth at 46. */
  lately: 0.924,
  /** Less needed: how few results came after it: half at 3, a tenth at 12. */
  newest: -1.53,
  /** More needed: how few results came after it: half at 14, a tenth at 46. */
  newer: 0.692,
  /** More needed: it is part of a known file. */
  file: 0.337,
  /** More needed: turns since its file was last shown or changed (logarithm). */
  touched: 0.0339,
  /** Less needed: how few turns ago its file was shown or changed: half at 3. */
  touchedNow: -0.208,
  /** More needed: how few turns ago its file was shown or changed: half at 14. */
  touchedLately: 1.19,
  /** More needed: how few turns ago its file was changed: half at 7. */
  changedLately: 0.365,
  /** More needed: its file was shown after it was last changed, or never changed. */
  open: 0.872,
  /** More needed: how near its folder is to the files that were changed last, 1 to 0. */
  folder: 0.307,
  /** Less needed: files that were touched after its file (logarithm). */
  rank: -0.0709,
  /** More needed: its file is the one that was touched last. */
  latest: 0.145,
  /** More needed: changes of its file (logarithm). */
  changes: 0.0222,
  /** More needed: turns since its file was last changed, if it ever was (logarithm). */
  changed: 0.0789,
  /** Less needed: its file was never changed. */
  unchanged: -0.0903,
  /** Less needed: changes of its file after it was said (logarithm). */
  changesAfter: -0.545,
  /** More needed: how often its file was shown (logarithm). */
  shows: 0.211,
  /** Less needed: how often its file was shown after it (logarithm). */
  showsAfter: -0.204,
  /** Less needed: share of its lines that a later change took out of the file. */
  stale: -2.81,
  /** Less needed: its file was written whole after it. */
  rewritten: -0.56,
  /** More needed: share of its lines that other calls quoted from the file. */
  quoted: 0.55,
  /** More needed: share of its lines that other calls put into the file. */
  put: 0.831,
  /** More needed: how near in its text other calls quoted or put in a line, 0 to 1. */
  near: 0.736,
  /** More needed: rare words that it shares with what people wrote (logarithm). */
  people: 0.271,
  /** Less needed: rare words that it shares with the plan (logarithm). */
  plan: -0.18,
  /** More needed: rare words that it shares with the agent’s latest prose (logarithm). */
  prose: 0.315,
  /** More needed: rare words that it shares with the latest calls (logarithm). */
  calls: 0.334,
  /** More needed: rare words that it shares with what the latest commands put out (logarithm). */
  outputs: 0.0905,
  /** More needed: rare words of its declarations that latest prose and calls use (logarithm). */
  declared: 0.0789,
  /** Less needed: the mean of what the blocks of its text share with the latest prose. */
  textProse: -0.29,
  /** More needed: somebody named its file. */
  named: 0.476,
  /** Less needed: its file is named in the plan or the latest prose. */
  namedLately: -0.0358,
  /** More needed: its file is named in what the latest commands put out. */
  putOut: 0.262,
  /** Less needed: tokens of the text that it stands in (logarithm). */
  size: -0.0671,
  /** Less needed: tokens of the block (logarithm). */
  block: -0.589,
  /** More needed: the call asked for a part of the file. */
  part: 0.344,
  /** Less needed: it begins the file. */
  first: -0.0895,
  /** More needed: it declares something. */
  declares: 0.329,
  /** More needed: it tells of an error of the last turns, in the output of a command or of a failed call. */
  unsolved: 2,
  /** More needed: it is of a test. */
  tests: 0.193,
  /** Less needed: it is of a document. */
  prosa: -1,
  /** More needed: it is of a file of data or settings. */
  data: 0.136,
  /** More needed: it is of the sort read. */
  isRead: 0.237,
  /** More needed: it is of the sort printed. */
  isPrinted: 0.295,
  /** Less needed: it is of the sort found. */
  isFound: -0.749,
  /** Less needed: it is of the sort patch. */
  isPatch: -0.0905,
  /** More needed: it is of the sort put. */
  isPut: 0.527,
  /** Less needed: it is of the sort old. */
  isOld: -1.62,
  /** More needed: it is of the sort written. */
  isWritten: 0.88,
  /** Less needed: it is of the sort command. */
  isCommand: -0.494,
  /** Less needed: it is of the sort echo. */
  isEcho: -0.596,
  /** Less needed: it is of the sort listed. */
  isListed: -0.642,
  /** More needed: it is of the sort output. */
  isOutput: 0.0503,
  /** Less needed: it is of the sort failed. */
  isFailed: -0.874,
  /** Less needed: it is of the sort asked. */
  isAsked: -0.574,
  /** Less needed: it is of the sort other. */
  isOther: -0.815,
  /** More needed: turns since it was said, for what the agent put into a file (logarithm). */
  oldPut: 0.164,
  /** Less needed: turns since it was said, for what is part of no file (logarithm). */
  oldOutput: -0.125,
  /** More needed: turns since its file was touched, for a file that was changed (logarithm). */
  workedOn: 0.0987,
  /** Less needed: turns since it was said, for a part that the call asked for (logarithm). */
  partTurns: -0.123,
};
