import { expect, it } from 'vitest';
import { computeCallCost, sumCosts } from '../cost/callCost';
import type { ModelPrices } from '../cost/prices';
import type { Usage } from '../cost/usage';
import { createUneditedView } from '../condense/edits/view';
import type { ApiMessage } from '../messages/types';
import { MessageCounter } from '../tokens/messageCounter';
import { replayWithCondensation, type ReplayOptions } from './replayWhatIf';
import { listRequests, type RequestTokenCalibration } from './replay';

/** Counts one token per character plus four per message. */
const counter = new MessageCounter({ count: (text) => text.length });
const said = (role: 'user' | 'assistant', tokens: number): ApiMessage => ({ role, content: 'x'.repeat(tokens - 4) });

/** Answers are free, so that only input is billed. */
const CALIBRATION: RequestTokenCalibration = {
  fixed: 0,
  factor: 1,
  outputFactor: 0,
  cacheShare: 1,
  accounting: 'openai',
  cacheMs: undefined,
  writes: 'none',
};
/** Per million tokens: $1, or 10 cents if cached. */
const PRICES: ModelPrices = { input: { base: 1 }, output: { base: 0 }, cacheRead: { base: 0.1 } };
const millionths = (usages: readonly Usage[]): number =>
  (sumCosts(usages.map((usage) => computeCallCost(usage, PRICES))) ?? NaN) * 1_000_000;

const messages = [100, 100, 100, 100, 100, 100, 100, 100].map((tokens, index) =>
  said(index % 2 === 0 ? 'user' : 'assistant', tokens),
);

const run = (over: Partial<ReplayOptions> = {}) =>
  replayWithCondensation({
    messages,
    requests: listRequests(messages, counter, []),
    calibration: CALIBRATION,
    counter,
    dueTokens: 500,
    // The first message becomes twenty tokens.
    condense: (prefix) => {
      const messages = [said('user', 20), ...prefix.slice(1)];
      return Promise.resolve({ ...createUneditedView(prefix), messages });
    },
    ...over,
  });

it('a replay of a session with condensing has the manually calculated cost, even if condensing costs more', async () => {
  const { before, after, condensations } = await run();
  // The requests have 100, 300, 500 and 700 tokens, and each reads the previous one from the cache.
  // They cost 100, 10 + 200, 30 + 200 and 50 + 200.
  expect(millionths(before)).toBeCloseTo(790, 6);
  // The third request is condensed at 500 tokens and becomes 420, uncached since its first message
  // changed. The fourth has 620 tokens, with 420 cached. They cost 100, 10 + 200, 420 and 42 + 200.
  expect(millionths(after)).toBeCloseTo(972, 6);
  expect(condensations).toBe(1);
});

it('a replay of a session with condensing keeps everything before the first change cached', async () => {
  const { after } = await run({
    condense: (prefix) =>
      Promise.resolve({
        ...createUneditedView(prefix),
        messages: [...prefix.slice(0, 3), said('assistant', 20), ...prefix.slice(4)],
      }),
  });
  // The third request has 420 tokens again, with the first 300 unchanged. They cost 100, 210, 30 +
  // 120 and 242.
  expect(millionths(after)).toBeCloseTo(702, 6);
});

it('a replay of a session with condensing ignores a condensation that gains nothing, and does not retry at once', async () => {
  let asked = 0;
  const { before, after, condensations } = await run({
    dueTokens: 300,
    condense: () => {
      asked += 1;
      return Promise.resolve(undefined);
    },
  });
  expect(after).toEqual(before);
  expect(condensations).toBe(0);
  // Condensing is tried at 300, 500 and 700 tokens, each more than 10 % above the last try.
  expect(asked).toBe(3);
});

it('a replay of a session with condensing counts lines that an edit needs later, and the cost of reading them again', async () => {
  const line = 'export const the_answer_to_everything = 42;';
  const session: ApiMessage[] = [
    { role: 'user', content: 'Mend it.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: { file_path: '/a.ts' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: `${line}\n` }] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'b', name: 'Edit', input: { file_path: '/a.ts', old_string: line, new_string: 'x' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'b', content: 'done' }] },
    { role: 'assistant', content: 'Done.' },
  ];
  const lost = await run({
    messages: session,
    requests: listRequests(session, counter, []),
    dueTokens: 80,
    condense: (prefix) => {
      const cleared = prefix.map((message, index) =>
        index === 2 ? { ...message, content: [{ type: 'tool_result', tool_use_id: 'a', content: '' }] } : message,
      );
      return Promise.resolve({ ...createUneditedView(prefix), messages: cleared });
    },
  });
  expect(lost).toMatchObject({ needed: 1, missing: 1, recallable: 0 });
  expect(lost.rereads).toHaveLength(1);
  expect(lost.rereads[0]!.inputTokens - lost.rereads[0]!.cacheReadTokens).toBe(line.length + 1);
});
