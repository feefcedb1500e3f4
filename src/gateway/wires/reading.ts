/** Builds messages block by block, each with its place in the body. */
import { CallsByPrograms } from '../../core/messages/programs';
import type { ApiMessage, Block, Path, Role } from '../../core/messages/types';
import type { BlockSource, MessageSource, StringSource } from './wire';

export interface BlockWithSource {
  readonly block: Block;
  readonly source: BlockSource;
}

/** @param strings default: the block's strings are at the same relative paths in the body */
export const makeBlockWithSource = (
  block: Block,
  path: Path,
  strings: readonly StringSource[] = [{ from: [], to: path }],
) => ({
  block,
  source: { path, strings },
});

/** Makes a block that is counted but never edited. */
export const makeRawBlock = (part: unknown, path: Path): BlockWithSource =>
  makeBlockWithSource({ type: 'raw', part }, path, []);

export const makeTextBlockWithSource = (text: string, path: Path, string: Path): BlockWithSource[] =>
  text === '' ? [] : [makeBlockWithSource({ type: 'text', text }, path, [{ from: ['text'], to: string }])];

interface UnfinishedMessage {
  readonly role: Role;
  /**
   * The kind of adjacent items that this item is merged with: the model's (`reply`), or results.
   */
  readonly joins: 'reply' | 'results' | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly items: Path[];
  readonly blocks: BlockWithSource[];
}

/** Merges a model's text and calls into one message, and consecutive results into one message. */
export class MessageListBuilder {
  private readonly unfinishedMessages: UnfinishedMessage[] = [];
  private readonly programs = new CallsByPrograms();

  addMessage(
    role: Role,
    item: Path,
    itemBlocks: readonly BlockWithSource[],
    mergeKind?: 'reply' | 'results',
    fields: Readonly<Record<string, unknown>> = {},
  ): void {
    const blocks = itemBlocks.map((one) => this.emptyResultReadByProgram(one));
    const lastMessage = this.unfinishedMessages.at(-1);
    if (mergeKind !== undefined && lastMessage?.joins === mergeKind) {
      lastMessage.items.push(item);
      lastMessage.blocks.push(...blocks);
    } else {
      this.unfinishedMessages.push({ role, joins: mergeKind, fields, items: [item], blocks: [...blocks] });
    }
  }

  /** Empties a result that only a program reads: such results are not edited and use no context. */
  private emptyResultReadByProgram(one: BlockWithSource): BlockWithSource {
    const { block, source } = one;
    if (!this.programs.isResultOfProgram(block)) return one;
    return { block: { ...block, content: [] }, source: { ...source, strings: [] } };
  }

  finishReading(): { readonly messages: ApiMessage[]; readonly sources: MessageSource[] } {
    const nonEmptyMessages = this.unfinishedMessages.filter(({ blocks }) => blocks.length > 0);
    return {
      messages: nonEmptyMessages.map(({ role, fields, blocks }) => ({
        ...fields,
        role,
        content: blocks.map(({ block }) => block),
      })),
      sources: nonEmptyMessages.map(({ items, blocks }) => ({ items, blocks: blocks.map(({ source }) => source) })),
    };
  }
}
