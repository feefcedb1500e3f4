import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { checkConversation } from '../../src/core/messages/firewall';
import { composition } from '../generators/composition';
import { generateConversation } from '../generators/conversation';
import { freshCounter } from '../generators/setups';

describe('a generated conversation', () => {
  const messages = generateConversation({ seed: 3, targetTokens: 200_000 });
  const parts = composition(messages);

  it('is valid', () => {
    expect(checkConversation(messages)).toEqual([]);
  });

  it('is about as long as requested', () => {
    const tokens = freshCounter().countMessages(messages);
    expect(tokens).toBeGreaterThan(180_000);
    expect(tokens).toBeLessThan(220_000);
  });

  it('has the same composition as real conversations', () => {
    expect(parts.toolResult).toBeCloseTo(0.685, 1.5);
    expect(parts.toolInput).toBeCloseTo(0.159, 1.5);
    expect(parts.thinking).toBeCloseTo(0.079, 1.5);
    expect(parts.assistantText).toBeCloseTo(0.042, 1.5);
    expect(parts.userText).toBeCloseTo(0.035, 1.5);
    expect(parts.erroredInput).toBeCloseTo(0.06, 1.5);
  });

  it('has results of real tools', () => {
    expect(parts.results['Read']).toBeCloseTo(0.65, 1.3);
    expect(parts.results['Bash']).toBeCloseTo(0.157, 1.3);
    expect(parts.results['Grep']).toBeCloseTo(0.095, 1.3);
    expect(parts.results['Edit']).toBeCloseTo(0.033, 1.3);
    expect(parts.results['Task']).toBeCloseTo(0.03, 1.3);
  });

  it('reads files like real agents', () => {
    expect(parts.reads.identical).toBeLessThan(0.04);
    expect(parts.reads.repeatedLines).toBeGreaterThan(0.1);
    expect(parts.reads.repeatedLines).toBeLessThan(0.25);
    expect(parts.reads.lineNumbers).toBeGreaterThan(0.12);
    expect(parts.reads.lineNumbers).toBeLessThan(0.2);
    expect(parts.reads.partialRereads).toBeGreaterThan(0.75);
  });

  it('compresses like real text', () => {
    const json = JSON.stringify(messages);
    const ratio = gzipSync(json).length / json.length;
    // Real transcripts compress to between 0.20 and 0.34 of their size.
    expect(ratio).toBeGreaterThan(0.2);
    expect(ratio).toBeLessThan(0.34);
  });

  it('is deterministic for a seed and differs between seeds', () => {
    const small = (seed: number): string => JSON.stringify(generateConversation({ seed, targetTokens: 10_000 }));
    expect(small(1)).toBe(small(1));
    expect(small(1)).not.toBe(small(2));
  });

  it('has interrupted calls only if requested', () => {
    const broken = generateConversation({ seed: 1, targetTokens: 20_000, interruptedCalls: 2 });
    expect(checkConversation(broken).map(({ rule }) => rule)).toEqual(['call-answered', 'call-answered']);
  });

  it('can have another composition', () => {
    const { results } = composition(
      generateConversation({ seed: 1, targetTokens: 60_000, results: { Read: 0.2, Bash: 0.6 } }),
    );
    expect(results['Bash']).toBeGreaterThan(0.5);
  });
});
