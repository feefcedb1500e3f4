import type { ToolKind } from '../../agents/types';
import type { ContentType } from '../../messages/types';
import { wordSet, type Focus } from './focus';
import type { TextBlock } from './textBlocks';

/** The content that a block is part of. */
export interface Standing {
  readonly type: ContentType;
  /** The kind of its call's tool; undefined for others, and for text. */
  readonly kind: ToolKind | undefined;
  /** o200k tokens of the content. */
  readonly tokens: number;
  /** Turns since it was said, or since a file that it is of was last read, written or edited. */
  readonly turns: number;
  /** Somebody named a file that it is of. */
  readonly isNamed: boolean;
}

/** Turns after which a content is half as likely to be needed. */
const HALF_LIFE = 30;
const NAMED = 2;
/** A block about nothing that was said still belongs to a file that may be worked on. */
const GROUND = 0.02;
const QUOTED = 0.15;
/** A word in a declaration counts as so many more. */
const IN_HEAD = 1.5;

/**
 * Files that are being worked on count more than output that was only run, and the agent can write its own text again.
 */
const WEIGHT = { read: 1, change: 1, written: 0.5, other: 0.1 } as const;

function weightOf({ type, kind }: Standing): number {
  if (kind === 'edit' || kind === 'write') return type === 'toolParameters' ? WEIGHT.written : WEIGHT.change;
  return kind === 'read' && type === 'toolResults' ? WEIGHT.read : WEIGHT.other;
}

/**
 * How likely each block is to be needed, for each token that it takes: the rare words that it shares with the focus, the
 * more so where it is of a file that is being worked on, and of a short read: the next edit is of a few lines, however many
 * were shown. Only the order of the values means something.
 */
export function relevanceOf(
  blocks: readonly { readonly block: TextBlock; readonly standing: Standing }[],
  focus: Focus,
): number[] {
  const spread = new Map<string, number>();
  const shared = blocks.map(({ block }) => {
    const words = [...wordSet(block.text)].filter((word) => focus.weights.has(word));
    for (const word of words) spread.set(word, (spread.get(word) ?? 0) + 1);
    return words;
  });
  const values = new Map<string, number>();
  for (const [word, count] of spread) {
    values.set(word, Math.log(1 + (focus.weights.get(word) ?? 0)) * Math.log(1 + blocks.length / count));
  }
  return blocks.map(({ block, standing }, index) => {
    const head = wordSet(block.head);
    let sum = 0;
    for (const word of shared[index] ?? []) sum += (values.get(word) ?? 0) * (head.has(word) ? 1 + IN_HEAD : 1);
    const isNear = (standing.isNamed ? NAMED : 1) * 0.5 ** (standing.turns / HALF_LIFE);
    const density = sum / Math.max(1, block.tokens) + GROUND + QUOTED * block.quoted;
    return (density * weightOf(standing) * isNear) / Math.sqrt(Math.max(1, standing.tokens));
  });
}
