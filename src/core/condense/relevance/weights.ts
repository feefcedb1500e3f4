/**
 * Written by `npm run fit`; do not edit. A weight is what one unit of its feature adds to the logarithm of how likely a token is to be
 * needed, beside all others: what two features say alike is shared between them.
 */
import type { FeatureName } from './featureNames';

export const FEATURE_WEIGHTS: Readonly<Partial<Record<FeatureName, number>>> = {
  /** More needed: results that came after it (logarithm). */
  results: 0.0313,
  /** More needed: how few turns ago it was said: half at 14, a tenth at 46. */
  lately: 0.72,
  /** More needed: it is part of a known file. */
  file: 0.831,
  /** More needed: how few turns ago its file was shown or changed: half at 14. */
  touchedLately: 0.936,
  /** More needed: how few turns ago its file was changed: half at 7. */
  changedLately: 0.524,
  /** More needed: its file was shown after it was last changed, or never changed. */
  open: 0.993,
  /** Less needed: changes of its file after it was said (logarithm). */
  changesAfter: -0.682,
  /** More needed: how often its file was shown (logarithm). */
  shows: 0.187,
  /** Less needed: share of its lines that a later change took out of the file. */
  stale: -2.51,
  /** More needed: how near in its text other calls quoted or put in a line, 0 to 1. */
  near: 1.31,
  /** More needed: rare words that it shares with what people wrote (logarithm). */
  people: 0.234,
  /** More needed: rare words that it shares with the agent’s latest prose (logarithm). */
  prose: 0.37,
  /** More needed: rare words that it shares with the latest calls (logarithm). */
  calls: 0.298,
  /** More needed: rare words of its declarations that latest prose and calls use (logarithm). */
  declared: 0.296,
  /** Less needed: the mean of what the blocks of its text share with the latest prose. */
  textProse: -0.416,
  /** More needed: somebody named its file. */
  named: 0.414,
  /** More needed: its file is named in the plan or the latest prose. */
  namedLately: 0.209,
  /** More needed: its file is named in what the latest commands put out. */
  putOut: 0.164,
  /** Less needed: tokens of the block (logarithm). */
  block: -0.519,
  /** Less needed: it is of a document. */
  document: -0.878,
  /** More needed: it tells of an error of the last turns, in the output of a command or of a failed call. */
  unsolved: 2,
  /** More needed: a command printed it from a file. */
  printed: 0.323,
  /** Less needed: a search found it. */
  found: -0.869,
  /** More needed: turns since it was said, for what the agent put into a file (logarithm). */
  putTurns: 0.228,
};
