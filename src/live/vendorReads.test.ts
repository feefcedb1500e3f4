import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { assistant, call, user } from '../core/testing';
import { createCounter } from '../core/testingCounter';
import type { ApiMessage, Block } from '../core/messages/types';
import { createTestBed, makeRead, makeReads, createRequest, createModel, makeUsage } from './testing';
import { hasServerSideContextEdits, countTokensVendorMaySkip } from './vendorReads';

const thinking = { type: 'thinking', thinking: 'Let me think. '.repeat(50), signature: 's' };
const searched = {
  type: 'web_search_tool_result',
  tool_use_id: 'w',
  content: [{ type: 'web_search_result', url: 'https://a.example', encrypted_content: 'Eo8BCi'.repeat(500) }],
};

describe('content in a request that a vendor may leave unread', () => {
  it('is all content except text, calls and their results', () => {
    const counter = createCounter();
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aaaa' } };
    const plain: Block = { type: 'text', text: 'Words.' };
    const result: Block = { type: 'tool_result', tool_use_id: 'a', content: [plain, image] };
    const messages: ApiMessage[] = [
      user('go'),
      assistant(thinking, plain, call('a', 'Read'), searched),
      { role: 'user', content: [result, { ...result, content: 'all of it' }, plain] },
    ];
    expect(countTokensVendorMaySkip(messages, counter)).toBe(
      [thinking, searched, image].reduce((sum, block) => sum + counter.countBlock(block), 0),
    );
  });

  it("such as returned thinking or the vendor's search results does not affect the learned window", () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const model = createModel({ contextWindow: 200_000 });
      const noted = [assistant(...Array.from({ length: 9 }, () => searched)), user('and now?')];
      const all = [...makeReads(2), ...noted];
      for (let step = 0; step < 6; step++) {
        all.push(...makeRead(`more${step}`, 2));
        const prepared = await live.prepare(createRequest(all, { model, extraTokens: 20_000 }));
        live.recordAnswer(prepared, makeUsage(createCounter().countMessages([...makeReads(2), user('and now?')])));
        expect(prepared.contextWindow).toBe(200_000);
      }
      expect(events.filter(({ kind }) => kind === 'problem')).toEqual([]);
    }));

  it('affects neither the learned window nor the factor if server-side context edits removed it', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const answers = [
        [8, 2_050],
        [11, 2_050],
        [11, 60_000],
      ] as const;
      for (const [count, reported] of answers)
        live.recordAnswer(
          await live.prepare(createRequest(makeReads(count), { isTransformedByVendor: true })),
          makeUsage(reported),
        );
      const after = await live.prepare(createRequest(makeReads(8)));
      expect(after).toMatchObject({ contextWindow: 40_000, isCalibrated: false });
    }));
});

describe('a request body under server-side context edits', () => {
  it.each([
    [{ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }],
    [{ context_management: { edits: [{ type: 'clear_thinking_20251015' }, { type: 'compact_20260112' }] } }],
    [{ context_management: [{ type: 'compaction', compact_threshold: 200_000 }] }],
    [{ cachedContent: 'cachedContents/a' }],
    [{ cached_content: 'cachedContents/a' }],
  ])('is recognized with %j', (body) => {
    expect(hasServerSideContextEdits(body)).toBe(true);
  });

  it.each([
    [{}],
    [{ context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }],
    [{ context_management: { edits: [] } }],
    [{ context_management: null, cachedContent: null }],
  ])('is not assumed with %j', (body) => {
    expect(hasServerSideContextEdits(body)).toBe(false);
  });
});
