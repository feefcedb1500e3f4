import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyHistory, validHistory } from '../../../test/generators/arbitraries';
import type { ApiMessage } from '../../core/messages/types';
import { readConversation } from '../read';
import { signer, exportTo, body, checkWithAnthropicServer, checkWithOpenAIServer } from './testing';

/** Signs a generated history's thoughts, since only the server knows how it signs. */
const signed = (messages: readonly ApiMessage[]): readonly ApiMessage[] =>
  messages.map((message) =>
    typeof message.content === 'string'
      ? message
      : {
          ...message,
          content: message.content.map((block) => {
            if (block.type === 'thinking' && typeof block['thinking'] === 'string') {
              return { ...block, signature: signer.sign(block['thinking']) };
            }
            return block.type === 'redacted_thinking' ? { ...block, data: `x.${signer.sign('x')}` } : block;
          }),
        },
  );

describe('exports of any conversation', () => {
  const history = fc.oneof(validHistory, anyHistory).map(signed);

  it('are accepted by Anthropic', () => {
    fc.assert(
      fc.property(history, (messages) => {
        expect(checkWithAnthropicServer(body(messages, 'anthropic'))).toBeUndefined();
      }),
    );
  });

  it('are accepted by OpenAI', () => {
    fc.assert(
      fc.property(history, (messages) => {
        expect(checkWithOpenAIServer(body(messages, 'openai'))).toBeUndefined();
      }),
    );
  });

  it('are unchanged when they are read and exported again', () => {
    fc.assert(
      fc.property(history, (messages) => {
        const first = exportTo({ messages }, 'anthropic').text;
        const again = readConversation(first, { name: 'export' });
        expect(exportTo(again, 'anthropic').text).toBe(first);
      }),
    );
  });

  it('lose nothing in Markdown and in the hand-over prompt except what their notes list', () => {
    fc.assert(
      fc.property(history, fc.constantFrom('markdown' as const, 'handover' as const), (messages, target) => {
        const { text: output, notes } = exportTo({ messages }, target);
        expect(output.endsWith('\n')).toBe(true);
        expect(notes.every((note) => note.endsWith('.'))).toBe(true);
      }),
    );
  });
});
