/**
 * Written by `npm run fit`; do not edit. A weight is what one unit of its feature adds to the
 * logarithm of how likely a token is to be needed. The weights were fitted together, so features
 * that overlap share their effect.
 */
import type { FeatureName } from './featureNames';

export const FEATURE_WEIGHTS: Readonly<Partial<Record<FeatureName, number>>> = {
  /** More needed: number of results after the block (logarithm). */
  results: 0.0313,
  /** More needed: how recent the block is: half after 14 turns, a tenth after 46. */
  lately: 0.72,
  /** More needed: the block is part of a known file. */
  file: 0.831,
  /** More needed: how recently its file was shown or changed: half after 14 turns. */
  touchedLately: 0.936,
  /** More needed: how recently its file was changed: half after 7 turns. */
  changedLately: 0.524,
  /** More needed: its file was shown after its last change, or was never changed. */
  open: 0.993,
  /** Less needed: number of changes to its file after the block (logarithm). */
  changesAfter: -0.682,
  /** More needed: how often its file was shown (logarithm). */
  shows: 0.187,
  /** Less needed: share of its lines that a later change removed from the file. */
  stale: -2.51,
  /** More needed: nearness to a line of its text that other calls quoted or wrote, 0 to 1. */
  near: 1.31,
  /** More needed: rare words that the block shares with what people wrote (logarithm). */
  people: 0.234,
  /** More needed: rare words that the block shares with the agent’s latest prose (logarithm). */
  prose: 0.37,
  /** More needed: rare words that the block shares with the latest calls (logarithm). */
  calls: 0.298,
  /** More needed: rare words it declares that the latest prose and calls use (logarithm). */
  declared: 0.296,
  /** Less needed: mean, over the blocks of its text, of words shared with the latest prose. */
  textProse: -0.416,
  /** More needed: the user, the plan, a search or the agent named its file. */
  named: 0.414,
  /** More needed: its file is named in the plan or the latest prose. */
  namedLately: 0.209,
  /** More needed: its file is named in the output of the latest commands. */
  putOut: 0.164,
  /** Less needed: tokens of the block (logarithm). */
  block: -0.519,
  /** Less needed: the block is part of a document. */
  document: -0.878,
  /** More needed: it reports an error of the last turns, from a command or a failed call. */
  unsolved: 2,
  /** More needed: a command printed the block from a file. */
  printed: 0.323,
  /** Less needed: a search found the block. */
  found: -0.869,
  /** More needed: turns since the agent put the block into a file (logarithm). */
  putTurns: 0.228,
};
