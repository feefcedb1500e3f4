import { describe, expect, it } from 'vitest';
import { AGEING, PromptCache, type Segment } from './promptCache';

const MINUTE = 60_000;
const piece = (identity: string, marked = false, ttl?: string): Segment => ({
  identity,
  tokens: 2000,
  marked,
  ...(ttl !== undefined && { ttl }),
});

describe('a test double of a prompt cache that ages', () => {
  it('forgets entries unused for longer than their lifetime, and renews used ones', () => {
    let now = 0;
    const cache = new PromptCache(AGEING.anthropic, () => now);
    const prompt = [piece('a'), piece('b', true)];
    expect(cache.useMarked(prompt)).toEqual({ read: 0, written: 4000, total: 4000 });
    now += 4 * MINUTE;
    expect(cache.useMarked(prompt)).toEqual({ read: 4000, written: 0, total: 4000 });
    now += 4 * MINUTE;
    expect(cache.useMarked(prompt).read).toBe(4000);
    now += 6 * MINUTE;
    expect(cache.useMarked(prompt)).toEqual({ read: 0, written: 4000, total: 4000 });
  });

  it('keeps an entry as long as its breakpoint requires', () => {
    let now = 0;
    const cache = new PromptCache(AGEING.anthropic, () => now);
    cache.useMarked([piece('a', true, '1h'), piece('b', true)]);
    now += 30 * MINUTE;
    expect(cache.useMarked([piece('a', true, '1h'), piece('b', true)])).toMatchObject({ read: 2000, written: 2000 });
  });

  it('keeps OpenAI’s entries for 30 minutes or a day, not five minutes', () => {
    let now = 0;
    const recent = new PromptCache(AGEING.openaiNew, () => now);
    const kept = new PromptCache(AGEING.openaiKept, () => now);
    const inMemory = new PromptCache(AGEING.openaiInMemory, () => now);
    const prompt = [piece('a'), piece('b')];
    for (const cache of [recent, kept, inMemory]) cache.useLongest(prompt);
    now += 6 * MINUTE;
    expect(inMemory.useLongest(prompt).read).toBe(0);
    expect(recent.useLongest([...prompt, piece('c')])).toEqual({ read: 4000, written: 2000, total: 6000 });
    now += 20 * 60 * MINUTE;
    expect(recent.useLongest(prompt).read).toBe(0);
    // OpenAI's cache counts in steps of 128 tokens, and its writes are free.
    expect(kept.useLongest(prompt)).toEqual({ read: 3968, written: 0, total: 4000 });
  });

  it("keeps different requests' entries apart", () => {
    const cache = new PromptCache({});
    const prompt = [piece('a'), piece('b')];
    cache.useLongest(prompt, 'one');
    expect(cache.useLongest(prompt, 'two').read).toBe(0);
    expect(cache.useLongest(prompt, 'one').read).toBe(3968);
  });
});

describe('the search back from a breakpoint in a test prompt cache', () => {
  it('ends after a number of blocks', () => {
    const blocks = (count: number, last = true): Segment[] =>
      Array.from({ length: count }, (_, at) => piece(`${at}`, last && at === count - 1));
    const cache = new PromptCache({ lookBack: 20 });
    cache.useMarked(blocks(5));
    expect(cache.useMarked(blocks(25)).read).toBe(5 * 2000);
    const other = new PromptCache({ lookBack: 20 });
    other.useMarked(blocks(5));
    expect(other.useMarked(blocks(26)).read).toBe(0);
  });
});
