/**
 * Written by `npm run fit`; do not edit. A weight is what one unit of its feature adds to the logarithm of how likely a token is to be
 * needed, beside all others: what two features say alike is shared between them.
 */
import type { FeatureName } from './features';

export const WEIGHTS: Readonly<Partial<Record<FeatureName, number>>> = {
  /** Less needed: turns since it was said (logarithm). */
  turns: -0.271,
  /** Less needed: results that came after it (logarithm). */
  results: -0.208,
  /** More needed: share of the conversation’s text that came after it. */
  textAfter: 1.84,
  /** Less needed: how few turns ago it was said: half at 3, a tenth at 12. */
  justNow: -0.192,
  /** More needed: how few turns ago it was said: half at 14, a tenth at 46. */
  lately: 0.994,
  /** Less needed: how few results came after it: half at 3, a tenth at 12. */
  newest: -1.61,
  /** More needed: how few results came after it: half at 14, a tenth at 46. */
  newer: 0.647,
  /** More needed: it is part of a known file. */
  file: 0.486,
  /** More needed: turns since its file was last shown or changed (logarithm). */
  touched: 0.0558,
  /** Less needed: how few turns ago its file was shown or changed: half at 3. */
  touchedNow: -0.11,
  /** More needed: how few turns ago its file was shown or changed: half at 14. */
  touchedLately: 1.23,
  /** More needed: how few turns ago its file was changed: half at 7. */
  changedLately: 0.448,
  /** More needed: its file was shown after it was last changed, or never changed. */
  open: 0.898,
  /** More needed: how near its folder is to the files that were changed last, 1 to 0. */
  folder: 0.307,
  /** Less needed: files that were touched after its file (logarithm). */
  rank: -0.0671,
  /** More needed: its file is the one that was touched last. */
  latest: 0.14,
  /** More needed: changes of its file (logarithm). */
  changes: 0.0823,
  /** More needed: turns since its file was last changed, if it ever was (logarithm). */
  changed: 0.127,
  /** Less needed: its file was never changed. */
  unchanged: -0.138,
  /** Less needed: changes of its file after it was said (logarithm). */
  changesAfter: -0.45,
  /** More needed: how often its file was shown (logarithm). */
  shows: 0.239,
  /** Less needed: how often its file was shown after it (logarithm). */
  showsAfter: -0.182,
  /** Less needed: share of its lines that a later change took out of the file. */
  stale: -3.01,
  /** Less needed: its file was written whole after it. */
  rewritten: -0.207,
  /** More needed: share of its lines that other calls quoted from the file. */
  quoted: 0.716,
  /** More needed: share of its lines that other calls put into the file. */
  put: 1.23,
  /** Less needed: how near in its text other calls quoted or put in a line, 0 to 1. */
  near: -0.0542,
  /** More needed: rare words that it shares with what people wrote (logarithm). */
  people: 0.327,
  /** Less needed: rare words that it shares with the plan (logarithm). */
  plan: -0.147,
  /** More needed: rare words that it shares with the agent’s latest prose (logarithm). */
  prose: 0.271,
  /** More needed: rare words that it shares with the latest calls (logarithm). */
  calls: 0.3,
  /** More needed: rare words that it shares with what the latest commands put out (logarithm). */
  outputs: 0.0771,
  /** More needed: rare words of its declarations that latest prose and calls use (logarithm). */
  declared: 0.0622,
  /** Less needed: the mean of what the blocks of its text share with the latest prose. */
  textProse: -0.138,
  /** More needed: somebody named its file. */
  named: 0.497,
  /** Less needed: its file is named in the plan or the latest prose. */
  namedLately: -0.0691,
  /** More needed: its file is named in what the latest commands put out. */
  putOut: 0.295,
  /** Less needed: tokens of the text that it stands in (logarithm). */
  size: -0.159,
  /** Less needed: tokens of the block (logarithm). */
  block: -0.503,
  /** More needed: the call asked for a part of the file. */
  part: 0.273,
  /** Less needed: it begins the file. */
  first: -0.614,
  /** More needed: it declares something. */
  declares: 0.103,
  /** More needed: it is of a test. */
  tests: 0.225,
  /** Less needed: it is of a document. */
  prosa: -1.1,
  /** More needed: it is of a file of data or settings. */
  data: 0.168,
  /** More needed: it is of the sort read. */
  isRead: 0.39,
  /** More needed: it is of the sort printed. */
  isPrinted: 0.303,
  /** Less needed: it is of the sort found. */
  isFound: -0.705,
  /** Less needed: it is of the sort patch. */
  isPatch: -0.175,
  /** More needed: it is of the sort put. */
  isPut: 0.707,
  /** Less needed: it is of the sort old. */
  isOld: -1.56,
  /** More needed: it is of the sort written. */
  isWritten: 0.907,
  /** Less needed: it is of the sort command. */
  isCommand: -0.354,
  /** Less needed: it is of the sort echo. */
  isEcho: -0.789,
  /** Less needed: it is of the sort listed. */
  isListed: -0.47,
  /** Less needed: it is of the sort output. */
  isOutput: -0.297,
  /** Less needed: it is of the sort failed. */
  isFailed: -0.708,
  /** Less needed: it is of the sort asked. */
  isAsked: -0.458,
  /** Less needed: it is of the sort other. */
  isOther: -0.668,
  /** More needed: turns since it was said, for what the agent put into a file (logarithm). */
  oldPut: 0.157,
  /** Less needed: turns since it was said, for what is part of no file (logarithm). */
  oldOutput: -0.158,
  /** More needed: turns since its file was touched, for a file that was changed (logarithm). */
  workedOn: 0.117,
  /** Less needed: turns since it was said, for a part that the call asked for (logarithm). */
  partTurns: -0.114,
};
