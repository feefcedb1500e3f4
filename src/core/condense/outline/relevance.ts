import type { Focus } from './focus';
import { wordsOf } from './focus';

/** A stretch of a file's lines that belong together, such as a function. */
export interface FileBlock {
  /** Index of its first and last line in the read. */
  readonly first: number;
  readonly last: number;
  readonly text: string;
  /** The lines of it that declare something. */
  readonly head: string;
  /** About how many tokens it has. */
  readonly tokens: number;
  /** Share of its lines that edits quoted, 0 to 1. */
  readonly quoted: number;
}

/** What is known of the file that a block is part of. */
export interface FileStanding {
  /** Turns since it was last read, written or edited. */
  readonly turns: number;
  readonly isEdited: boolean;
  readonly isNamed: boolean;
}

/** Turns after which a file is half as likely to be worked on again. */
const HALF_LIFE = 15;
const EDITED = 2;
const NAMED = 2;
/** A block about nothing that was said still belongs to a file that may be. */
const GROUND = 0.02;
const QUOTED = 0.15;
/** A word in a declaration counts as so many more. */
const IN_HEAD = 1.5;

/**
 * How likely each block is to be needed, for each token that it takes: the rare words that it shares with the focus,
 * the more so in a file that is being worked on. Only the order of the values means something.
 */
export function relevanceOf(blocks: readonly { block: FileBlock; file: FileStanding }[], focus: Focus): number[] {
  const spread = new Map<string, number>();
  const shared = blocks.map(({ block }) => {
    const words = [...wordsOf(block.text)].filter((word) => focus.weights.has(word));
    for (const word of words) spread.set(word, (spread.get(word) ?? 0) + 1);
    return words;
  });
  const valueOf = (word: string): number =>
    Math.log(1 + (focus.weights.get(word) ?? 0)) * Math.log(1 + blocks.length / (spread.get(word) ?? 1));
  return blocks.map(({ block, file }, index) => {
    const head = wordsOf(block.head);
    let sum = 0;
    for (const word of shared[index] ?? []) sum += valueOf(word) * (head.has(word) ? 1 + IN_HEAD : 1);
    const standing = (file.isEdited ? EDITED : 1) * (file.isNamed ? NAMED : 1) * 0.5 ** (file.turns / HALF_LIFE);
    return (sum / Math.max(1, block.tokens) + GROUND + QUOTED * block.quoted) * standing;
  });
}
