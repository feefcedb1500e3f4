/**
 * Properties that must hold while a conversation grows, is edited, rolled back, rewritten a
 * little, condensed, undone and pinned, and while its host restarts.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { validHistory } from '../../test/generators/arbitraries';
import { restoreMessagesBeforeEdits } from '../core/condense/edits/applyEdits';
import { isAnyThinking, isToolResult } from '../core/messages/blocks';
import { computeMaxPromptTokens } from '../core/condense/trigger/thresholds';
import { findLostLine } from '../../test/support/lostLines';
import { repeatingHistoryArbitrary } from '../core/condense/lossless/testing';
import { findNewViolations } from '../core/messages/firewall';
import type { ApiMessage } from '../core/messages/types';
import { user } from '../core/testing';
import { createCounter } from '../core/testingCounter';
import { openLedger } from '../storage/ledgerStore';
import { getReservedTokens } from './tokenLearning';
import { createTestBed, createRequest, cloneAsJson, createModel, type TestBed } from './testing';
import type { PreparedRequest } from './request';

type Action =
  | { readonly kind: 'grow'; readonly by: number }
  /** An earlier message is edited, and what followed it is gone. */
  | { readonly kind: 'rollback'; readonly to: number }
  /** An old result has other content now. */
  | { readonly kind: 'rewrite'; readonly which: number }
  | { readonly kind: 'condense'; readonly percent: number }
  | { readonly kind: 'undo' | 'redo' | 'restart' }
  | { readonly kind: 'toggle' | 'pin'; readonly which: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('grow'), by: fc.integer({ min: 1, max: 6 }) }) },
  fc.record({ kind: fc.constant('rollback'), to: fc.nat(40) }),
  fc.record({ kind: fc.constant('rewrite'), which: fc.nat(40) }),
  fc.record({ kind: fc.constant('condense'), percent: fc.integer({ min: 1, max: 90 }) }),
  fc.record({ kind: fc.constantFrom('undo', 'redo', 'restart') }),
  fc.record({ kind: fc.constantFrom('toggle', 'pin'), which: fc.nat(40) }),
);

/**
 * Histories as they reach the engine: without thinking, with a task, and ending where an agent
 * asks.
 */
const history = validHistory.map((messages) =>
  messages
    .filter(({ role }) => role !== 'system')
    .map((message) =>
      typeof message.content === 'string'
        ? message
        : { ...message, content: message.content.filter((block) => !isAnyThinking(block)) },
    )
    .filter(({ content }) => content.length > 0),
);

const run = fc.record({
  // In histories that repeat themselves, much of the new results is left out.
  full: fc.oneof(history, repeatingHistoryArbitrary),
  actions: fc.array(action, { minLength: 3, maxLength: 14 }),
  window: fc.integer({ min: 1_500, max: 12_000 }),
  provider: fc.constantFrom('lossless', 'truncation'),
});

/** Cuts the messages after a user message, since that is where an agent sends a request. */
function cutToAsk(messages: readonly ApiMessage[], length: number): ApiMessage[] {
  let end = Math.min(messages.length, Math.max(1, length));
  while (end > 1 && messages[end - 1]?.role !== 'user') end--;
  return messages.slice(0, end);
}

/** Changes the text of the last result at or before the chosen message. */
function rewritten(messages: readonly ApiMessage[], which: number): ApiMessage[] {
  const at = messages.findLastIndex(({ content }, index) => {
    return index <= which && typeof content !== 'string' && content.some(isToolResult);
  });
  const message = messages[at];
  if (!message || typeof message.content === 'string') return [...messages];
  const content = message.content.map((block) =>
    isToolResult(block) ? { ...block, content: '[Image was previously shown to you.]' } : block,
  );
  return messages.with(at, { ...message, content });
}

const json = (value: unknown): string => JSON.stringify(value);

it('random conversations, condensed, are valid, no larger, restorable, and unchanged between condensations', () =>
  fc.assert(
    fc.asyncProperty(run, ({ full, actions, window, provider }) =>
      inTemporaryFolder(async (root) => {
        const counter = createCounter();
        const start = (): TestBed => createTestBed(root, { settings: { provider } });
        let bed = start();
        let length = 1;
        let whole: readonly ApiMessage[] = full;
        let sent = cutToAsk(whole, length);
        let last: PreparedRequest | undefined;
        // Index of the message with which the latest rollback replaced others.
        let another = -1;

        for (const step of actions) {
          const { live } = bed;
          const id = last?.conversation;
          let isGrowth = false;
          switch (step.kind) {
            case 'grow':
              length = sent.length + step.by;
              sent = cutToAsk(whole, length);
              isGrowth = true;
              break;
            case 'rollback':
              whole = [...cutToAsk(whole, step.to % Math.max(1, sent.length)), ...[user('Another way.')]];
              sent = [...whole];
              another = sent.length - 1;
              break;
            case 'rewrite':
              whole = rewritten(whole, step.which % Math.max(1, sent.length));
              sent = whole.slice(0, sent.length);
              break;
            case 'condense':
              if (id) await live.condenseNow(id, { targetPercent: step.percent });
              break;
            case 'undo':
              if (id) await live.undo(id);
              break;
            case 'redo':
              if (id) await live.redo(id);
              break;
            case 'toggle': {
              const edits = (id && live.view(id)?.edits) ?? [];
              const edit = edits[step.which % Math.max(1, edits.length)];
              if (id && edit) await live.toggleEdit(id, edit.id);
              break;
            }
            case 'pin':
              if (id) await live.pin(id, step.which % Math.max(1, sent.length));
              break;
            case 'restart':
              bed = start();
              isGrowth = true;
              break;
          }
          bed.events.length = 0;
          const model = createModel({ contextWindow: window, maxOutputTokens: 256 });
          const prepared = await bed.live.prepare(createRequest(sent, { model }));
          const view = bed.live.view(prepared.conversation);
          if (!view) throw new Error('no view');

          // The original is what was sent, and the view adds no violations to it.
          expect(view.original).toEqual(cloneAsJson(sent));
          expect(findNewViolations(sent, prepared.messages, { origins: view.origins })).toEqual([]);
          expect(counter.countMessages(prepared.messages)).toBeLessThanOrEqual(counter.countMessages(sent));
          // Removed text can be restored from the disk, byte for byte.
          await bed.live.waitUntilSettled();
          const ledger = await openLedger(root, { id: prepared.conversation });
          const originals = await ledger.originals(view.edits.map(({ before }) => before));
          const restored = restoreMessagesBeforeEdits(prepared.messages, view.edits, (hash) => originals.get(hash));
          expect(json(restored)).toBe(json(sent));
          // Text that was left out because it exists elsewhere still exists there, whatever was
          // condensed, undone or rewritten since.
          const strict = view.edits.filter((edit) => edit.kind === 'cut');
          expect(findLostLine(sent, prepared.messages, strict)).toBeUndefined();
          for (const pinned of bed.live.active()?.pinned ?? []) {
            expect(prepared.messages[view.origins.indexOf(pinned)]).toEqual(sent[pinned]);
          }
          // Between two condensations the old part stays unchanged, even after a restart.
          const isCondensed = bed.events.some(({ kind }) => kind === 'condensed');
          if (isGrowth && !isCondensed && last?.conversation === prepared.conversation) {
            // A restarted host can't know that results were sent if the rollback removed their
            // answer.
            const answered = sent.findLastIndex(({ role }) => role === 'assistant');
            const isKnown = step.kind !== 'restart' || another < answered;
            const known = last.messages.filter((_, at) => isKnown || (view.origins[at] ?? answered) < answered);
            expect(json(prepared.messages.slice(0, known.length))).toBe(json(known));
          }
          const fits = prepared.tokens <= computeMaxPromptTokens(window, getReservedTokens(model));
          expect(fits || prepared.notes.some((note) => note.includes('nothing more'))).toBe(true);
          last = prepared;
        }
      }),
    ),
  ));

it('random conversations are sent unchanged after all edits are undone', () =>
  fc.assert(
    fc.asyncProperty(fc.oneof(history, repeatingHistoryArbitrary), (messages) =>
      inTemporaryFolder(async (root) => {
        const { live } = createTestBed(root, { settings: { provider: 'lossless' } });
        const sent = createRequest(messages, { model: createModel({ contextWindow: 10_000_000 }) });
        const { conversation } = await live.prepare(sent);
        await live.condenseNow(conversation, { targetPercent: 1 });
        while ((await live.undo(conversation)).kind === 'done');
        expect(json((await live.prepare(sent)).messages)).toBe(json(sent.messages));
      }),
    ),
  ));
