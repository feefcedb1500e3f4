/** Reported usage is untrusted: no report may make a request free or absurdly expensive. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ConversationSpending } from '../live/conversationSpending';
import { createLimitMessages } from '../cli/gateway/limitMessages';
import type { BookingResult } from '../storage/spending';
import { UsageStreamReader } from './usageReader';
import { anthropicWire } from './wires/anthropic';
import { chatWire } from './wires/chat';
import { geminiWire } from './wires/gemini';
import { responsesWire } from './wires/responses';
import type { WireFormat } from './wires/wire';

const PROMPT = 20_000;
const MODEL = {
  id: 'a/m',
  accounting: 'openai',
  prices: { input: { base: 3 }, output: { base: 15 }, cacheRead: { base: 0.3 } },
} as const;
const BOOKED = (PROMPT * 3) / 1_000_000;

/**
 * Each entry has a wire format, and a function that makes its response with these texts as token
 * counts.
 */
const ANSWERS: readonly [WireFormat, (prompt: string, output: string) => string][] = [
  [anthropicWire, (prompt, output) => `{"usage":{"input_tokens":${prompt},"output_tokens":${output}}}`],
  [chatWire, (prompt, output) => `{"usage":{"prompt_tokens":${prompt},"completion_tokens":${output},"cost":-1e400}}`],
  [responsesWire, (prompt, output) => `{"response":{"usage":{"input_tokens":${prompt},"output_tokens":${output}}}}`],
  [geminiWire, (prompt, output) => `{"usageMetadata":{"promptTokenCount":${prompt},"candidatesTokenCount":${output}}}`],
];

/** Returns the US dollars recorded for this response. */
async function readRecordedCost(wire: WireFormat, answer: string): Promise<number | undefined> {
  const reader = new UsageStreamReader(wire, { 'content-type': 'application/json' });
  reader.pushChunk(Buffer.from(answer));
  const { usage } = await reader.finishReading();
  let cost: number | undefined;
  const booking: BookingResult = {
    kind: 'booked',
    settle: (settledCost) => {
      cost = settledCost;
      return Promise.resolve({ conversation: 0, day: 0 });
    },
  };
  const spending = new ConversationSpending({
    spending: { bookSpending: () => Promise.resolve(booking) },
    limits: () => ({ perConversation: 0, perDay: 1, stops: true }),
    messages: createLimitMessages(false),
    tell: () => undefined,
    warn: () => undefined,
  });
  const paid = await spending.beginRequest(MODEL, 'c', PROMPT, PROMPT);
  paid?.addUsage(usage);
  await paid?.end(true);
  return cost;
}

const anyWire = fc.constantFrom(...ANSWERS);
/** Impossible counts. */
const NOT_A_COUNT = ['1e400', '-1e400', '1e308', '1e10', '"20000"', '""', 'true', 'false', '[20000]', '{"a":1}'];
/** Counts that are possible, but not for this prompt. */
const NOT_THIS_PROMPT = ['null', '0', '-0', '-20000', '1', '12', '0.5', '1000'];
const count = fc.integer({ min: PROMPT * 0.7, max: PROMPT * 5 }).map(String);

it('a reported prompt size that is impossible leaves the expected cost unchanged, in every API format', () =>
  fc.assert(
    fc.asyncProperty(
      anyWire,
      fc.constantFrom(...NOT_A_COUNT, ...NOT_THIS_PROMPT),
      count,
      async (wire, prompt, output) => {
        expect(await readRecordedCost(wire[0], wire[1](prompt, output))).toBeCloseTo(BOOKED, 12);
      },
    ),
  ));

it('a reported answer size that is impossible leaves the expected cost unchanged, in every API format', () =>
  fc.assert(
    fc.asyncProperty(anyWire, count, fc.constantFrom(...NOT_A_COUNT), async (wire, prompt, output) => {
      expect(await readRecordedCost(wire[0], wire[1](prompt, output))).toBeCloseTo(BOOKED, 12);
    }),
  ));

it('the cost of a plausible usage report replaces the expected cost', () =>
  fc.assert(
    fc.asyncProperty(anyWire, count, fc.integer({ min: 1, max: 50_000 }), async (wire, prompt, output) => {
      const cost = (Number(prompt) * 3 + output * 15) / 1_000_000;
      expect(await readRecordedCost(wire[0], wire[1](prompt, String(output)))).toBeCloseTo(cost, 10);
    }),
  ));
