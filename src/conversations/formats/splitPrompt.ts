import type { ApiMessage, Block } from '../../core/messages/types';

export interface BlockMessage extends ApiMessage {
  readonly content: readonly Block[];
}

/**
 * Text that an agent attached, such as a file's, must not be taken for the user's words. Vendors
 * join consecutive user messages, so the model sees the same text.
 */
export function splitPromptAtAttachments(blocks: readonly Block[], attachedBlocks: ReadonlySet<Block>): BlockMessage[] {
  const runs: { readonly isMeta: boolean; readonly content: Block[] }[] = [];
  for (const block of blocks) {
    const isMeta = attachedBlocks.has(block);
    const last = runs.at(-1);
    if (last?.isMeta === isMeta) last.content.push(block);
    else runs.push({ isMeta, content: [block] });
  }
  return runs.map(({ isMeta, content }) => ({ role: 'user', content, ...(isMeta && { isMeta }) }));
}
