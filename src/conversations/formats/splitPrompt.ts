import type { ApiMessage, Block } from '../../core/messages/types';

export interface BlockMessage extends ApiMessage {
  readonly content: readonly Block[];
}

/**
 * Text that an agent attached must not be taken for the user's words. Vendors join consecutive user
 * messages, so the model sees the same text.
 */
export function splitPromptAtAttachments(blocks: readonly Block[], attachedBlocks: ReadonlySet<Block>): BlockMessage[] {
  const contentRuns: { readonly isMeta: boolean; readonly content: Block[] }[] = [];
  for (const block of blocks) {
    const isMeta = attachedBlocks.has(block);
    const lastRun = contentRuns.at(-1);
    if (lastRun?.isMeta === isMeta) lastRun.content.push(block);
    else contentRuns.push({ isMeta, content: [block] });
  }
  return contentRuns.map(({ isMeta, content }) => ({ role: 'user', content, ...(isMeta && { isMeta }) }));
}
