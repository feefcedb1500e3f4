import { isRecord } from '../core/messages/blocks';
import type { Block, TextBlock } from '../core/messages/types';

export const isOpenAIBlock = ({ type }: Block): boolean => type.startsWith('openai_');

/**
 * Stores to which phase of an answer a text belongs (OpenAI's SDK, `phase`), so that the phase is
 * sent back.
 */
export const PHASE_BLOCK_TYPE = 'openai_phase';

export { REASONING_BLOCK_TYPE } from '../core/messages/blocks';

export function convertUnsupportedToText(block: Block): TextBlock {
  const source = block['source'];
  if (isRecord(source) && typeof source['data'] === 'string') {
    if (source['type'] === 'text') return { type: 'text', text: source['data'] };
    const title = typeof block['title'] === 'string' ? ` “${block['title']}”` : '';
    return { type: 'text', text: `[${block.type}${title} that can't be shown here]` };
  }
  return { type: 'text', text: JSON.stringify(block) };
}
