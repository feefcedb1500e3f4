/**
 * Checks the invariants for Summary, on generated histories and with arbitrary answers of the
 * model.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CondensationManager, createNativeProvider, type CondensationOutcome } from '../../src/core/condense';
import { applyEdits, restoreMessagesBeforeEdits } from '../../src/core/condense/edits/applyEdits';
import { getOriginalText } from '../../src/core/condense/edits/edits';
import { collectInstructions } from '../../src/core/condense/summary/instructions';
import { selectSummarizer } from '../../src/core/condense/summarizer';
import { createTestSummarizer } from '../../src/core/condense/summary/testing';
import { listContents } from '../../src/core/messages/content';
import { listToolExchanges } from '../../src/core/messages/exchanges';
import { findNewViolations } from '../../src/core/messages/firewall';
import type { ApiMessage } from '../../src/core/messages/types';
import { anyHistory, validHistory } from '../generators/arbitraries';
import { freshCounter } from '../generators/setups';

const history = fc.oneof(validHistory, anyHistory);
const replies = fc.array(
  fc.oneof(
    fc.lorem({ maxCount: 30, mode: 'sentences' }),
    fc.constantFrom('empty', 'refused', 'cut-at-limit', 'cut-off', 'too-long', 'failed', '<analysis>x'),
  ),
  { minLength: 1, maxLength: 4 },
);
const setup = fc.record({
  keepFirst: fc.integer({ min: 1, max: 3 }),
  keepLast: fc.nat(4),
  factTokens: fc.constantFrom(0, 50, 4_000),
  keepUserMessages: fc.boolean(),
  contextWindow: fc.constantFrom(3_000, 8_000, 200_000),
});
type Setup = typeof setup extends fc.Arbitrary<infer T> ? T : never;

async function condense(
  messages: readonly ApiMessage[],
  script: readonly string[],
  { contextWindow, ...config }: Setup,
  more: { edits?: never[]; signal?: AbortSignal } = {},
): Promise<CondensationOutcome> {
  const summarizer = createTestSummarizer(script, { contextWindow });
  const provider = createNativeProvider({ select: () => selectSummarizer({ condensing: summarizer }) });
  const manager = new CondensationManager(freshCounter(), [provider]);
  const minimumGain = { percent: 0, tokens: 1 };
  const outcome = await manager.condense({
    conversation: 'c',
    messages,
    config,
    trigger: 'manual',
    minimumGain,
    ...more,
  });
  // The number of requests is limited, because each part is requested once per plan, and plans
  // shrink at most twice.
  expect(summarizer.requests.length).toBeLessThan(60);
  expect(outcome.calls?.length ?? 0).toBe(summarizer.requests.length);
  return outcome;
}

const holds = (
  statement: (messages: readonly ApiMessage[], outcome: CondensationOutcome, setup: Setup) => void,
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(history, replies, setup, async (messages, script, chosen) => {
      statement(messages, await condense(messages, script, chosen), chosen);
    }),
  );

describe('any condensation by Summary', () => {
  it('keeps order, task, pairs and IDs, without new violations or refusals', () =>
    holds((messages, outcome) => {
      expect(outcome.kind).not.toBe('refused');
      if (outcome.kind !== 'condensed') return;
      const { origins } = applyEdits(messages, outcome.edits);
      expect(findNewViolations(messages, outcome.view, { origins })).toEqual([]);
      const task = messages.find(({ role }) => role === 'user');
      expect(outcome.view.find(({ role }) => role === 'user')).toBe(task);
    }));

  it('never gets more tokens', () =>
    holds((_messages, outcome) => {
      if (outcome.kind === 'condensed') expect(outcome.tokensAfter).toBeLessThan(outcome.tokensBefore);
    }));

  it('keeps people’s words verbatim if they are at most half of what is summarized', () =>
    holds((messages, outcome, { keepUserMessages }) => {
      if (outcome.kind !== 'condensed' || !keepUserMessages) return;
      const counter = freshCounter();
      for (const edit of outcome.edits) {
        if (edit.kind !== 'summary') continue;
        const words = collectInstructions(messages.slice(0, edit.end), listToolExchanges(messages)).filter(
          ({ message }) => message >= edit.start && message < edit.end,
        );
        const tokens = words.reduce((sum, { text }) => sum + counter.countText(text), 0);
        if (tokens > Math.floor(edit.tokensBefore / 2)) continue;
        const summary = listContents(edit.message).map(({ text }) => text);
        for (const { text } of words) expect(summary.join()).toContain(text);
      }
    }));

  it('can be restored byte for byte', () =>
    holds((messages, outcome) => {
      if (outcome.kind !== 'condensed') return;
      const originals = new Map(outcome.edits.map((edit) => [edit.before, getOriginalText(messages, edit)]));
      const restored = restoreMessagesBeforeEdits(outcome.view, outcome.edits, (hash) => originals.get(hash));
      expect(JSON.stringify(restored)).toBe(JSON.stringify(messages));
    }));

  it('never applies an unusable reply, and reports the cost of every call', () =>
    holds((_messages, outcome) => {
      const last = outcome.calls?.at(-1);
      if (outcome.kind === 'condensed') expect(last?.outcome).toBe('complete');
      const sum = (outcome.calls ?? []).reduce((total, { cost }) => total + (cost ?? 0), 0);
      expect(outcome.cost).toBeCloseTo(sum, 10);
    }));

  it('changes nothing if it is cancelled at any time', () =>
    fc.assert(
      fc.asyncProperty(history, setup, fc.nat(3), async (messages, { contextWindow, ...config }, after) => {
        const abort = new AbortController();
        let asked = 0;
        const summarizer = createTestSummarizer(
          async () => {
            if (asked++ < after) return 'a part';
            abort.abort(new Error('stop'));
            return 'aborted';
          },
          { contextWindow },
        );
        const provider = createNativeProvider({ select: () => selectSummarizer({ condensing: summarizer }) });
        const manager = new CondensationManager(freshCounter(), [provider]);
        const request = { conversation: 'c', messages, config, trigger: 'manual', signal: abort.signal } as const;
        const outcome = await manager.condense(request);
        if (abort.signal.aborted) expect(outcome.kind).toBe('cancelled');
      }),
    ));
});
