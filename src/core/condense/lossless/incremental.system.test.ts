/**
 * A run over a conversation that has grown must give the same result as a run over a copy that was
 * never seen.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateConversation } from '../../../../test/generators/conversation';
import type { ApiMessage } from '../../messages/types';
import { createCounter } from '../../testingCounter';
import { applyEdits } from '../edits/applyEdits';
import { makeEditPlaceKey, type Edit } from '../edits/edits';
import { losslessProvider } from '../providers/lossless';
import { repeatingHistoryArbitrary } from './testing';

const config = (input: unknown): never => {
  const checked = losslessProvider.validateConfig(input);
  if (!checked.valid) throw new Error('wrong configuration');
  return checked.config as never;
};
const CONFIGS = [config({}), config({ keep: 'first' }), config({ strictOnly: true })] as const;

const counter = createCounter();

const condense = async (messages: readonly ApiMessage[], edits: readonly Edit[], which: 0 | 1 | 2) =>
  (await losslessProvider.condense({ messages, edits, counter }, CONFIGS[which], {})).edits;

/**
 * Returns another message with the first one's calls or results, since a message whose call is
 * gone never reaches a model.
 */
function inPlaceOf(message: ApiMessage, other: ApiMessage | undefined): ApiMessage {
  if (!other || other.role !== message.role || typeof other.content === 'string') return message;
  const [own] = typeof message.content === 'string' ? [] : message.content;
  const [first, ...rest] = other.content;
  if (own?.type === 'tool_use' && first?.type === 'tool_use')
    return { ...other, content: [{ ...first, id: own.id }, ...rest] };
  if (own?.type === 'tool_result' && first?.type === 'tool_result')
    return { ...other, content: [{ ...first, tool_use_id: own.tool_use_id }, ...rest] };
  return message;
}

const seeds = fc.integer({ min: 1, max: 1_000_000 });
/**
 * Where the conversation ends in each run, as shares of its length. A run may also end before the
 * previous one.
 */
const stops = fc.array(fc.double({ min: 0.05, max: 1, noNaN: true }), { minLength: 2, maxLength: 5 });

describe('Lossless over a conversation that was condensed before', () => {
  it.each([
    ['keeps the earlier edits', true],
    ['begins anew', false],
  ])('gives the same result as a first run if it %s', (_name, keepsEdits) =>
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
    ),
  );

  /** A change to a conversation between two runs. */
  const change = fc.record({
    kind: fc.constantFrom('grows', 'grows', 'is cut back', 'has a copy', 'has another message', 'branches'),
    /** A share of the conversation's length. */
    where: fc.double({ min: 0.05, max: 1, noNaN: true }),
    /**
     * Which edits the next run gets: all including this run's, all without this run's, none, or
     * every second one.
     */
    edits: fc.constantFrom('taken', 'taken', 'left', 'given up', 'halved'),
    which: fc.constantFrom<0 | 1 | 2>(0, 0, 0, 1, 2),
  });
  const generated = (targetTokens: number) => seeds.map((seed) => generateConversation({ seed, targetTokens }));
  const repeating = repeatingHistoryArbitrary.map(([task, ...turns]) => [{ ...(task as ApiMessage) }, ...turns]);

  it.each([
    ['generated conversations', generated(8_000)],
    ['histories that repeat themselves', repeating],
  ])('gives the same result as a first run even after the conversation was changed, for %s', (_name, histories) =>
    fc.assert(
      fc.asyncProperty(
        histories,
        histories,
        fc.array(change, { minLength: 2, maxLength: 7 }),
        async (start, other, changes) => {
          let messages: readonly ApiMessage[] = start;
          let length = 1;
          let edits: readonly Edit[] = [];
          for (const { kind, where, edits: outcome, which } of changes) {
            const at = Math.min(Math.ceil(where * messages.length), messages.length - 1);
            if (kind === 'grows') length = Math.max(length, at + 1);
            if (kind === 'is cut back') length = Math.min(length, at + 1);
            if (kind === 'has a copy')
              messages = messages.map((message, index) => (index === at ? { ...message } : message));
            if (kind === 'has another message')
              messages = messages.map((message, index) => (index === at ? inPlaceOf(message, other[at]) : message));
            if (kind === 'branches') messages = [...messages.slice(0, at), ...other.slice(at)];
            const now = messages.slice(0, length);
            const gone = new Set(applyEdits(now, edits).stale.map(makeEditPlaceKey));
            edits = edits.filter((edit) => !gone.has(makeEditPlaceKey(edit)));
            const unseen = structuredClone({ now, edits });
            const made = await condense(now, edits, which);
            expect(made).toEqual(await condense(unseen.now, unseen.edits, which));
            if (outcome === 'taken') edits = [...edits, ...made];
            if (outcome === 'given up') edits = [];
            if (outcome === 'halved') edits = [...edits, ...made].filter((_edit, index) => index % 2 === 0);
          }
        },
      ),
    ),
  );

  it('shows a result again if the call it refers to was replaced', async () => {
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const line = (number: number): string => `  const a${number} = compute(request, ${number});`;
    const call = (id: string, name: string, input: Readonly<Record<string, unknown>>): ApiMessage => ({
      role: 'assistant',
      content: [{ type: 'tool_use', id, name, input }],
    });
    const found = numbers.slice(0, 5).map((number) => `src/a.ts${number === 1 ? ':1:' : `-${number}-`}${line(number)}`);
    const messages: readonly ApiMessage[] = [
      { role: 'user', content: 'task' },
      call('a', 'Grep', { pattern: 'a' }),
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: found.join('\n') }] },
      call('b', 'Edit', { file_path: 'src/a.ts', old_string: numbers.map(line).join('\n'), new_string: line(1) }),
    ];
    const edits = await condense(messages, [], 0);
    expect(edits).toHaveLength(2);
    // In a command's output, the text before a line's content is not a prefix but part of the line.
    const command = `npm test ${numbers.slice(1).map(line).join('\n')}`;
    const now = messages.with(1, call('a', 'Bash', { command }));
    const made = await condense(now, edits, 0);
    expect(made.map(({ operation }) => operation)).toEqual(['reference', 'restore', 'restore']);
    const unseen = structuredClone({ now, edits });
    expect(made).toEqual(await condense(unseen.now, unseen.edits, 0));
  });

  it('is not disturbed by another run at the same time', async () => {
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
