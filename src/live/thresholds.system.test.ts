/** Tests when conversations are condensed, for every threshold and window size. */
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { shouldTry } from '../../test/support/long';
import type { CondensationThreshold } from '../core/condense/trigger/thresholds';
import type { ApiMessage } from '../core/messages/types';
import { createCounter } from '../core/testingCounter';
import type { MessageCounter } from '../core/tokens/messageCounter';
import type { UpstreamModel } from './request';
import { createTestBed, makeRead, makeReads, createRequest, createModel } from './testing';
import { computeDueTokensOfModel } from './tokenLearning';

const WINDOWS = [32_000, 128_000, 400_000, 1_000_000] as const;
/** Growth of a conversation from request to request, in percent of the window. */
const STEP_PERCENT = 1;
/** Tokens of each line that a call reads, and tokens of the call itself. */
const LINE_TOKENS = 11;
const CALL_TOKENS = 45;
const BEFORE_READS = makeReads(0).length;
const MESSAGES_OF_READ = makeRead('f').length;

const modelOf = (contextWindow: number, threshold: CondensationThreshold): UpstreamModel =>
  createModel({ contextWindow, maxOutputTokens: 8_000, threshold });

interface Condensed {
  /** Sizes before and after the condensation, in percent of the window. */
  readonly at: number;
  readonly to: number;
}

/**
 * A conversation that outgrows a window. Each threshold is tested with a beginning of the same
 * messages, so that each message is counted only once.
 */
interface Conversation {
  readonly counter: MessageCounter;
  readonly whole: readonly ApiMessage[];
}

function conversationFor(contextWindow: number): Conversation {
  const size = Math.floor(((contextWindow * STEP_PERCENT) / 100 - CALL_TOKENS) / LINE_TOKENS);
  return { counter: createCounter(), whole: makeReads(130, size) };
}

/** Lets a conversation grow until it is condensed, starting slightly below the expected size. */
async function firstCondensation(
  model: UpstreamModel,
  { counter, whole }: Conversation,
): Promise<Condensed | { readonly why: string }> {
  const { contextWindow } = model;
  const duePercent = (100 * computeDueTokensOfModel(model).tokens) / contextWindow;
  return inTemporaryFolder(async (root) => {
    // Removes old results completely, because this test is not about how much is kept.
    const config = { preserveRecentCount: 1, toolResults: { mode: 'suppress' } };
    const bed = createTestBed(root, { settings: { provider: 'truncation', config }, counter });
    const percentOf = (tokens: number): number => (100 * tokens) / contextWindow;
    const begun = Math.max(1, Math.floor(duePercent / STEP_PERCENT) - 3);
    let why = 'never due';
    for (let step = 0; step < 25; step++) {
      const messages = whole.slice(0, BEFORE_READS + MESSAGES_OF_READ * (begun + step + 1));
      const { outcome } = await bed.live.prepare(createRequest(messages, { model }));
      if (outcome?.kind === 'condensed') {
        return { at: percentOf(outcome.tokensBefore), to: percentOf(outcome.tokensAfter) };
      }
      if (outcome) why = 'detail' in outcome ? outcome.detail : outcome.kind;
    }
    return { why };
  });
}

/**
 * The percentage of the window at which each threshold condenses, and the one to which it
 * condenses.
 */
const TABLE = `
  %      32000     128000     400000    1000000
  5      6 → 3      6 → 3      6 → 3      6 → 3
 10     11 → 6     11 → 6     11 → 6     11 → 6
 15    16 → 10     16 → 9    16 → 10    16 → 10
 20    20 → 13    21 → 13    21 → 13    21 → 13
 25    25 → 16    26 → 16    26 → 16    26 → 16
 30    30 → 20    31 → 19    31 → 20    31 → 20
 35    36 → 23    36 → 23    36 → 23    36 → 23
 40    41 → 26    41 → 26    41 → 26    41 → 26
 45    45 → 29    46 → 29    46 → 30    46 → 30
 50    50 → 33    50 → 33    51 → 33    51 → 33
 55    55 → 37    55 → 36    56 → 36    56 → 36
 60    61 → 40    60 → 40    61 → 40    61 → 40
 65    66 → 43    65 → 43    66 → 43    66 → 43
 70    71 → 47    70 → 47    71 → 46    71 → 46
 75    75 → 50    75 → 50    76 → 50    76 → 50
 80    80 → 53    80 → 53    81 → 53    81 → 53
 85    85 → 56    85 → 57    86 → 56    86 → 56
 90    85 → 60    85 → 59    89 → 60    90 → 60
 95    85 → 63    85 → 63    89 → 63    90 → 63
100    85 → 64    85 → 64    89 → 66    90 → 66
`;
const expectedAt = (row: number, column: number): string =>
  (TABLE.trim().split('\n')[row + 1] ?? '').trim().split(/ {2,}/)[column + 1] ?? '';

/**
 * The two large windows take most of the time, so only a third of their thresholds are tested; the
 * long test run tests all.
 */
const isChosen = (row: number, column: number): boolean => column < 2 || shouldTry(row, column, 3);

it('condensing starts within 2 % of every threshold and reaches at most two thirds of it', async () => {
  const conversations = WINDOWS.map(conversationFor);
  for (let percent = 5; percent <= 100; percent += 5) {
    const row = percent / 5 - 1;
    for (const [column, contextWindow] of WINDOWS.entries()) {
      if (!isChosen(row, column)) continue;
      const model = modelOf(contextWindow, { percent });
      const due = (100 * computeDueTokensOfModel(model).tokens) / contextWindow;
      const first = await firstCondensation(model, conversations[column] ?? conversationFor(contextWindow));
      const cell = 'why' in first ? first.why : `${Math.round(first.at)} → ${Math.round(first.to)}`;
      expect.soft(cell, `${percent} % of ${contextWindow}`).toBe(expectedAt(row, column));
      if (!('why' in first)) {
        expect.soft(Math.abs(first.at - due), `${percent} % of ${contextWindow}: ${cell}`).toBeLessThanOrEqual(2);
        expect.soft(first.to, `${percent} % of ${contextWindow}: ${cell}`).toBeLessThanOrEqual(percent * 0.67 + 0.1);
      }
      if (percent <= 85) expect.soft(due).toBeCloseTo(percent, 1);
    }
  }
}, 600_000);
