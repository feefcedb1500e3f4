import { beforeEach, describe, expect, it, vi } from 'vitest';
import { fake } from '../../test/support/vscode';
import type { CondensationOutcome } from '../core/condense';
import type { LiveDecision, LiveEvent } from '../live/events';
import type { LiveId } from '../live/request';
import {
  showAgentCondensedNotice,
  showLimitWarning,
  showLiveEvent,
  explainDecision,
  type NoticeDependencies,
} from './notices';

beforeEach(() => {
  fake.reset();
});

const WARM = { state: 'warm', basis: 'vendor', ageMs: 40_000, spanMs: 300_000 } as const;
const COLD = { state: 'cold', basis: 'vendor', ageMs: 420_000, spanMs: 300_000 } as const;
const WARM_WORDS =
  'Prompt cache: warm (last request 40 seconds earlier; the vendor keeps prompts for at least 5 minutes).';

const decision: LiveDecision = {
  reason: 'threshold',
  tokensBefore: 18_000,
  tokensAfter: 9_000,
  contextWindow: 20_000,
  cache: WARM,
};

describe('the reason given for a condensation', () => {
  it.each([
    ['threshold', 'the threshold was reached'],
    ['window', 'the request would not have fit'],
    ['background', 'it had been prepared in the background'],
    ['too-long', 'the model refused the request as too long'],
    ['bytes', 'its images were larger than the vendor accepts'],
    ['by-hand', 'asked for by hand'],
  ] as const)('is "%s", followed by the cache’s state', (reason, words) => {
    const unpriced = 'What it saves is not known because the model’s price is not known.';
    expect(explainDecision({ ...decision, reason })).toBe(`Why: ${words}. ${unpriced} ${WARM_WORDS}`);
    expect(explainDecision({ ...decision, reason, cache: COLD })).toBe(
      `Why: ${words}. ${unpriced} Prompt cache: cold (last request 7 minutes earlier; the vendor keeps prompts for at most 5 minutes).`,
    );
  });

  it('names the higher price tier that the request dropped below', () => {
    expect(explainDecision({ ...decision, dearerAbove: 200_000 })).toContain(
      'Why: the threshold was reached; requests of more than 200,000 tokens cost more per token. ',
    );
  });

  it('includes the saving if the model has a price', () => {
    expect(explainDecision(decision)).toContain('the model’s price is not known');
    const saving = { perRequest: 0.0123, cacheBreak: 0.05 };
    expect(explainDecision({ ...decision, saving: { ...saving, breakEvenRequests: 4 } })).toContain(
      'Each later request costs $0.0123 less. Rewriting the prompt cache costs $0.0500 once. Pays for itself after 4 requests.',
    );
    expect(explainDecision({ ...decision, saving: { ...saving, breakEvenRequests: undefined } })).toContain(
      'When it pays for itself is not known because its own cost is not known.',
    );
  });
});

const CONVERSATION = 'c1' as LiveId;

function parts(kind: 'none' | 'statusBar' | 'notification') {
  const log = { info: vi.fn<(line: string) => void>(), warn: vi.fn<(line: string) => void>(), show: vi.fn() };
  const undo = vi.fn(() => Promise.resolve());
  const showDiff = vi.fn(() => Promise.resolve());
  const providerName = (id: string): string => `<${id}>`;
  const showDetails = vi.fn(() => Promise.resolve());
  const getTitle = (): string => 'Fix the chat';
  const parts = { providerName, kind: () => kind, targetPercent: () => 50, log, undo, showDiff, showDetails, getTitle };
  return parts satisfies NoticeDependencies;
}

const none = { kept: 0, recallable: 0, recallableExamples: [], lost: 0, lostExamples: [] };

const outcome = {
  kind: 'condensed',
  provider: 'lossless',
  steps: [],
  tokensBefore: 16_000,
  tokensAfter: 9_000,
  cost: 0,
  timeMs: 10,
  notes: [],
  edits: [],
  calls: [],
  coherence: { files: none, errors: none, instructions: none, todos: none },
  // Contains only the members that are shown.
} as unknown as CondensationOutcome & { readonly kind: 'condensed' };

const event = (changes: Partial<LiveDecision> = {}): LiveEvent => ({
  kind: 'condensed',
  conversation: CONVERSATION,
  condensation: 'k1' as never,
  outcome,
  decision: { ...decision, ...changes },
});

describe('a notice about a condensation in the chat', () => {
  it('appears for a manual condensation regardless of the setting, and offers the same actions until the user closes it', async () => {
    const actions = ['Show Diff', 'Condense With…', 'Undo', 'Details'];
    fake.settings['contextCondenser.manual.targetPercent'] = 50;
    for (const [answers, kind] of [
      [['Condense With…'], 'none'],
      [['Details'], 'statusBar'],
      [['Show Diff', 'Show Diff', 'Undo'], 'none'],
    ] as const) {
      const all = parts(kind);
      fake.shown = [];
      fake.answers = [...answers];
      await showLiveEvent(event({ reason: 'by-hand' }), all);
      // The target was half of the messages' 16,000 tokens. For the whole request, in the model's
      // tokens, that makes 7,715.
      const words =
        'Condensed “Fix the chat” with <lossless>: 18,000 → 9,000 tokens (−50%); your target of 7,715 was missed.';
      expect(fake.shown.map(({ message }) => message)).toEqual(answers.map(() => words));
      expect(fake.shown.map(({ choices }) => choices)).toEqual(answers.map(() => actions));
      const count = (answer: string): number => answers.filter((each) => each === answer).length;
      expect(all.showDetails).toHaveBeenCalledTimes(count('Details'));
      expect(all.undo).toHaveBeenCalledTimes(count('Undo'));
      expect(all.showDiff).toHaveBeenCalledTimes(count('Show Diff'));
      expect(all.log.show).not.toHaveBeenCalled();
    }
    expect(fake.executed).toEqual([['contextCondenser.condenseFurther', { live: CONVERSATION }]]);
  });

  it('about a condensation that cost money without a result appears as the setting says', async () => {
    const calls = [{}];
    const givenUp = 'the conversation has taken another course';
    const byHand = { reason: 'by-hand' } as const;
    const given = (changes: object): Extract<LiveEvent, { readonly kind: 'not-condensed' }> => ({
      kind: 'not-condensed',
      conversation: CONVERSATION,
      reason: 'background',
      givenUp,
      // Contains only the members that are shown.
      outcome: {
        ...outcome,
        kind: 'cancelled',
        calls,
        cost: 0.06,
        ...changes,
      } as unknown as CondensationOutcome,
    });
    const words = 'A summary was abandoned: the conversation has taken another course. Cost: $0.06.';
    await showLiveEvent(given({}), parts('none'));
    await showLiveEvent(given({ calls: undefined }), parts('notification'));
    // A user who cancels needs no notice of that, but needs one of the cost, even if it is unknown.
    await showLiveEvent({ ...given({ cost: 0 }), ...byHand }, parts('notification'));
    await showLiveEvent(given({ kind: 'failed', error: new Error('no') }), parts('notification'));
    expect(fake.shown).toEqual([]);
    await showLiveEvent(given({}), parts('notification'));
    expect(fake.shown.at(-1)).toMatchObject({ kind: 'information', message: words });
    await showLiveEvent({ ...given({}), ...byHand }, parts('notification'));
    expect(fake.shown.at(-1)).toMatchObject({ kind: 'information', message: words });
    expect(fake.shown).toHaveLength(2);
    await showLiveEvent({ ...given({ cost: undefined }), ...byHand }, parts('notification'));
    expect(fake.shown.at(-1)).toMatchObject({ message: words.replace('$0.06', 'unknown') });
    const { givenUp: _why, ...unexplained } = given({ cost: undefined });
    await showLiveEvent(unexplained, parts('statusBar'));
    expect(fake.shown.at(-1)).toMatchObject({
      kind: 'status',
      message: '$(archive) A summary was abandoned. Cost: unknown.',
    });
  });

  it('is logged with the saving per request', async () => {
    const all = parts('none');
    const saving = { perRequest: 0.01, cacheBreak: 0.05 };
    await showLiveEvent(event({ saving: { ...saving, breakEvenRequests: 5 } }), all);
    await showLiveEvent(event({ saving: { ...saving, breakEvenRequests: undefined }, cache: COLD }), all);
    const [first, second] = all.log.info.mock.calls.map(([line]) => line);
    expect(first).toContain(
      `Each later request costs $0.0100 less. Rewriting the prompt cache costs $0.0500 once. Pays for itself after 5 requests. ${WARM_WORDS}`,
    );
    expect(second).toContain('Prompt cache: cold (last request 7 minutes earlier');
    expect(fake.shown).toEqual([]);
  });

  it('appears with advice if much removed content was needed again, unless notifications are off', async () => {
    const use = { turns: 10, rereads: 4, recalls: 3, failedEdits: 1, expected: 1.5 };
    // Contains only the members that are shown.
    const careful = { kind: 'careful', conversation: CONVERSATION, condensation: 'k1', use } as unknown as LiveEvent;
    const quiet = parts('none');
    await showLiveEvent(careful, quiet);
    expect(fake.shown).toEqual([]);
    expect(quiet.log.warn.mock.calls[0]?.[0]).toContain('Removed content needed again within 10 turns: 8 times');
    await showLiveEvent(careful, parts('statusBar'));
    expect(fake.shown[0]?.message).toContain('Lossless therefore condenses this conversation from now on.');
  });

  it('does not appear if the conversation merely changed, and problems are only logged', async () => {
    const all = parts('notification');
    await showLiveEvent({ kind: 'problem', message: 'The ledger could not be written.' }, all);
    await showLiveEvent({ kind: 'changed', conversation: CONVERSATION }, all);
    await showLiveEvent({ kind: 'preparing', conversation: CONVERSATION, isPreparing: true }, all);
    expect(all.log.warn.mock.calls).toEqual([['The ledger could not be written.']]);
    expect([all.log.info.mock.calls, fake.shown]).toEqual([[], []]);
  });
});

it("a gateway's condensation shows no notice if notifications are off", async () => {
  const { undo, showDiff } = parts('none');
  await showAgentCondensedNotice('Codex: condensed', { kind: 'none', undo, showDiff });
  expect(fake.shown).toEqual([]);
});

it('dismissing a message about a spending limit opens no setting', async () => {
  await showLimitWarning('Too dear.', 'agent.maxCostPerDay');
  expect(fake.shown).toMatchObject([{ kind: 'warning', message: 'Too dear.', choices: ['Open Setting'] }]);
  expect(fake.executed).toEqual([]);
});
