import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCounter } from '../../testingCounter';
import type { SummaryReply } from '../summarizer';
import { createTestBed, makeConversation } from '../providers/testingNative';
import { explainTooShortSummary, failIfServerTruncatedRequest } from './checkReply';
import { makeTestModel } from './testing';

const COST = 0.0123;
const SUMMARY = 'The parser was rewritten. '.repeat(20);

const makeReply = (
  inputTokens: number,
  source: 'reported' | 'counted' = 'reported',
  cacheReadTokens = 0,
): SummaryReply => ({
  kind: 'complete',
  text: SUMMARY,
  usage: { accounting: 'openai', source, inputTokens, outputTokens: 100, cacheReadTokens, cacheWriteTokens: 0 },
  cost: 0,
  timeMs: 1,
});

describe('a request for a summary', () => {
  it('counts as cut off by the server only if it read at least 1,000 tokens but fewer than any tokenizer counts', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4_000, max: 1_000_000 }),
        fc.double({ min: 0.001, max: 3, noNaN: true }),
        fc.constantFrom(1, 1.18, 1.5),
        (counted, share, tokenFactor) => {
          const read = Math.max(1, Math.round(counted * share));
          const checked = failIfServerTruncatedRequest(
            makeReply(read),
            { counted, cached: 0 },
            makeTestModel({ tokenFactor }),
          );
          expect(checked.kind).toBe(read >= 1_000 && read < counted * 0.3 ? 'failed' : 'complete');
        },
      ),
    );
  });

  it('that the server cut off causes an error that says what was sent, what was read, and what to do', () => {
    const model = makeTestModel({ model: 'llama3.2:3b' });
    expect(failIfServerTruncatedRequest(makeReply(4_096), { counted: 90_000, cached: 0 }, model)).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(
        /^The server of llama3\.2:3b read only 4,096 of about 90,000 tokens .*num_ctx.*OLLAMA_CONTEXT_LENGTH.*context window/,
      ),
      canRetry: false,
      offerOtherProfile: true,
    });
  });

  it.each([
    ['the server reported nothing', makeReply(12, 'counted'), { counted: 90_000, cached: 0 }],
    ['the server reported zero', makeReply(0), { counted: 90_000, cached: 0 }],
    ['cached tokens may be left out of the report', makeReply(2_000), { counted: 90_000, cached: 88_000 }],
    ['a warm cache from before a restart leaves few tokens to report', makeReply(700), { counted: 90_000, cached: 0 }],
    ["the model's tokenizer makes a third of our tokens", makeReply(32_000), { counted: 100_000, cached: 0 }],
    [
      'cached tokens are reported beside the others, as Anthropic does',
      makeReply(2_000, 'reported', 88_000),
      { counted: 90_000, cached: 0 },
    ],
  ])('does not count as cut off by the server if %s', (_, reply, sent) => {
    expect(failIfServerTruncatedRequest(reply, sent, makeTestModel())).toBe(reply);
  });
});

describe('a summary', () => {
  it.each([
    ['OK', 118_395, true],
    ["I'm sorry, but I can't help with that.", 10_000, true],
    ['OK', 9_999, false],
    [SUMMARY, 118_395, false],
    ['用户要求修复解析器。解析器已重写，测试通过。下一步：修复打印机并运行全部测试。', 118_395, false],
  ])('of the words “%s” for %d tokens counts as too short: %s', (text, tokens, isTooShort) => {
    expect(explainTooShortSummary(text, tokens, createCounter()) !== undefined).toBe(isTooShort);
  });

  it.each([
    ['is too short', 'OK', undefined, 'can’t be a summary'],
    ['is of a part of the request', SUMMARY, 2_050, 'read only 2,050 of about'],
  ])('fails the condensation each time, with its cost, if it %s', async (_, text, inputTokens, words) => {
    const { condense } = createTestBed(makeConversation(120), [text], {}, (reply) => ({
      ...reply,
      cost: COST,
      ...(inputTokens !== undefined && reply.usage && { usage: { ...reply.usage, inputTokens } }),
    }));
    for (let attempt = 1; attempt <= 2; attempt++) {
      expect(await condense()).toMatchObject({
        kind: 'failed',
        error: { message: expect.stringContaining(words) },
        cost: COST,
      });
    }
  });
});
