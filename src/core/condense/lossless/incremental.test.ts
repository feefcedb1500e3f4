/** A run over a conversation that has grown gives what a run over a copy that nobody has seen gives. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateConversation } from '../../../../test/generators/conversation';
import type { ApiMessage } from '../../messages/types';
import { freshCounter } from '../../testingCounter';
import type { Edit } from '../edits';
import { losslessProvider } from '../providers/lossless';

const config = (input: unknown): never => {
  const checked = losslessProvider.validateConfig(input);
  if (!checked.valid) throw new Error('wrong configuration');
  return checked.config as never;
};
const CONFIGS = [config({}), config({ keep: 'first' }), config({ strictOnly: true })] as const;

const counter = freshCounter();

const condense = async (messages: readonly ApiMessage[], edits: readonly Edit[], which: 0 | 1 | 2) =>
  (await losslessProvider.condense({ messages, edits, counter }, CONFIGS[which], {})).edits;

const seeds = fc.integer({ min: 1, max: 1_000_000 });
/** Where the conversation stops each time, as shares of its length; it may go back, too. */
const stops = fc.array(fc.double({ min: 0.05, max: 1, noNaN: true }), { minLength: 2, maxLength: 5 });

describe('a run over a conversation that was condensed before', () => {
  it.each([
    ['keeps the earlier edits', true],
    ['begins anew', false],
  ])('gives what a first run gives where it %s', (_name, keepsEdits) =>
    fc.assert(
      fc.asyncProperty(seeds, stops, fc.constantFrom(0, 1, 2), async (seed, shares, which) => {
        const messages = generateConversation({ seed, targetTokens: 12_000 });
        let edits: Edit[] = [];
        for (const share of keepsEdits ? shares.toSorted((a, b) => a - b) : shares) {
          const now = messages.slice(0, Math.ceil(share * messages.length));
          const unseen = structuredClone({ now, edits });
          const made = await condense(now, edits, which);
          expect(made).toEqual(await condense(unseen.now, unseen.edits, which));
          if (keepsEdits) edits = [...edits, ...made];
        }
      }),
      { numRuns: Number(process.env['FC_RUNS'] ?? 15) },
    ),
  );

  it('is not confused by another run that goes on at the same time', async () => {
    const messages = generateConversation({ seed: 5, targetTokens: 12_000 });
    const half = messages.slice(0, messages.length >> 1);
    const alone = await condense(structuredClone(messages), [], 0);
    const [whole, part, again] = await Promise.all([
      condense(messages, [], 0),
      condense(half, [], 1),
      condense(messages, [], 0),
    ]);
    expect(whole).toEqual(alone);
    expect(again).toEqual(alone);
    expect(part).toEqual(await condense(structuredClone(half), [], 1));
  });
});
