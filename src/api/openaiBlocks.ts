import { isRecord } from '../core/messages/blocks';
import type { Block, TextBlock } from '../core/messages/types';

/** True for a block that only OpenAI's APIs understand; see conversations/openai.ts, and openaiResponses.ts for reasoning. */
export const isOpenAIBlock = ({ type }: Block): boolean => type.startsWith('openai_');

/** Which part of an answer its text is (OpenAI's SDK, `phase`): it stands behind the text, and goes back with it. */
export const PHASE_BLOCK = 'openai_phase';

export { REASONING_BLOCK } from '../core/messages/blocks';

/** A block that a vendor has no form for, as text, so that the model still knows of it. */
export function asText(block: Block): TextBlock {
  const source = block['source'];
  if (isRecord(source) && typeof source['data'] === 'string') {
    if (source['type'] === 'text') return { type: 'text', text: source['data'] };
    const title = typeof block['title'] === 'string' ? ` “${block['title']}”` : '';
    return { type: 'text', text: `[${block.type}${title} that can't be shown here]` };
  }
  return { type: 'text', text: JSON.stringify(block) };
}
