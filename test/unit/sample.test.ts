import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConversation } from '../../src/conversations/read';
import { checkConversation } from '../../src/core/messages/firewall';
import { Random } from '../generators/random';
import { sampleSession } from '../generators/sample/scenario';
import { sampleTranscript } from '../generators/sample/transcript';
import { condense, freshCounter } from '../generators/setups';

const file = resolve(import.meta.dirname, '../../sample/conversation.jsonl');
const committed = readFileSync(file, 'utf8');

describe('the sample conversation', () => {
  it('equals what its script writes', () => {
    expect(committed === sampleTranscript(new Random(7))).toBe(true);
  });

  it('is small enough to ship', () => {
    expect(Buffer.byteLength(committed)).toBeLessThan(150_000);
  });

  it('is read as a valid Claude Code conversation with all its messages', () => {
    const { format, messages } = readConversation(committed, { path: file });
    expect(format).toBe('claude-code');
    expect(checkConversation(messages)).toEqual([]);
    expect(messages).toHaveLength(sampleSession(new Random(7)).messages.length);
  });

  it('shrinks visibly without a model', async () => {
    const { messages } = readConversation(committed, { path: file });
    const { view } = await condense({ provider: 'lossless', config: {}, target: undefined }, messages);
    const share = 1 - freshCounter().countMessages(view) / freshCounter().countMessages(messages);
    expect(share).toBeGreaterThan(0.15);
    expect(share).toBeLessThan(0.6);
  });
});
