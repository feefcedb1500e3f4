import { describe, expect, it } from 'vitest';
import { listContents } from '../../../messages/content';
import type { ApiMessage } from '../../../messages/types';
import { user, makeLines } from '../../../testing';
import { NoSummarizerError } from '../../summarizer';
import { createTestSummarizer } from '../../summary/testing';
import { createMessagesWithCalls, runPasses, createOptionsWithModel, type PassInput, type RunResult } from './testing';

describe('a batch pass of Smart', () => {
  const batch = (more: Partial<PassInput> = {}): PassInput => ({
    id: 'b',
    name: 'Batch',
    selection: { type: 'preserve_recent', count: 4 },
    mode: 'batch',
    batchConfig: { operation: 'summarize', keepLast: 1 },
    ...more,
  });
  const range = ({ result: made }: RunResult): unknown =>
    made.edits.map((edit) => (edit.kind === 'summary' ? [edit.start, edit.end] : edit.kind));

  it('summarizes the selected messages between those kept at both ends', async () => {
    const summarizer = createTestSummarizer(['All is well.']);
    expect(
      range(await runPasses(createMessagesWithCalls(8), [batch()], { smart: createOptionsWithModel(summarizer) })),
    ).toEqual([[1, 11]]);
    const first = batch({ batchConfig: { operation: 'summarize', keepFirst: 2, keepLast: 0 } });
    expect(
      range(await runPasses(createMessagesWithCalls(8), [first], { smart: createOptionsWithModel(summarizer) })),
    ).toEqual([[3, 13]]);
  });

  it('leaves out pinned and protected messages', async () => {
    const pinned = new Set([6]);
    const summarizer = createTestSummarizer(['All is well.']);
    expect(
      range(
        await runPasses(createMessagesWithCalls(8), [batch()], {
          smart: createOptionsWithModel(summarizer),
          context: { pinned },
        }),
      ),
    ).toEqual([[7, 11]]);
  });

  it('keeps a person’s words verbatim through repeated summaries', async () => {
    const [early, late] = [`Use tabs,\n\tnot blanks.\n${makeLines('rule', 500)}`, 'Not like that.\n\nLike this.'];
    const [task, ...units] = createMessagesWithCalls(150);
    const messages = [task, ...units.slice(0, 100), user(early), ...units.slice(100, 200)] as ApiMessage[];
    const grown = [...messages, user(late), ...units.slice(200)];
    const summarizer = createTestSummarizer(
      ['well', 'better', 'well'].map((state) => `All is ${state}: ${makeLines('done', 3)}`),
    );
    const summary = ({ result: { edits } }: RunResult): string =>
      edits
        .flatMap((edit) => (edit.kind === 'summary' ? listContents(edit.message) : []))
        .map(({ text }) => text)
        .join();
    const first = await runPasses(messages, [batch()], { smart: createOptionsWithModel(summarizer) });
    expect(summary(first)).toContain(early);
    const again = await runPasses(grown, [batch()], {
      smart: createOptionsWithModel(summarizer),
      context: { edits: first.result.edits },
    });
    for (const words of [early, late]) expect(summary(again)).toContain(words);
    const loose = { protect: { userMessages: false } };
    expect(
      summary(await runPasses(messages, [batch()], { smart: createOptionsWithModel(summarizer), config: loose })),
    ).not.toContain(early);
  });

  it('finds nothing more to summarize in a second run', async () => {
    const summarizer = createTestSummarizer(['All is well.']);
    const messages = createMessagesWithCalls(8);
    const { result: made } = await runPasses(messages, [batch()], { smart: createOptionsWithModel(summarizer) });
    const again = await runPasses(messages, [batch()], {
      smart: createOptionsWithModel(summarizer),
      context: { edits: made.edits },
    });
    expect(again.result.edits).toEqual([]);
    expect(summarizer.requests).toHaveLength(1);
  });

  it('changes nothing if the model fails, is missing, or costs too much', async () => {
    const failing = await runPasses(createMessagesWithCalls(8), [batch()], {
      smart: createOptionsWithModel(createTestSummarizer(['failed'])),
    });
    expect(failing.result).toMatchObject({
      edits: [],
      steps: [{ outcome: { kind: 'failed', reason: 'The model said: failed.' }, calls: 1 }],
    });
    const none = await runPasses(createMessagesWithCalls(8), [batch()], {
      smart: {
        select: () => {
          throw new NoSummarizerError('Set up a model.');
        },
      },
    });
    expect(none.result).toMatchObject({ edits: [], notes: ['Batch: Set up a model.'] });
    const dear = await runPasses(createMessagesWithCalls(8), [batch()], {
      smart: createOptionsWithModel(createTestSummarizer(['short'])),
      options: { maxCost: 0.000_001 },
    });
    expect(dear.result.edits).toEqual([]);
    expect(dear.result.notes?.[0]).toMatch(/^Batch: It would cost about/);
    const kept = await runPasses(createMessagesWithCalls(8), [batch({ batchConfig: { operation: 'keep' } })]);
    expect(kept.result.edits).toEqual([]);
    const small = createTestSummarizer(['short'], { contextWindow: 100 });
    const { result: narrow } = await runPasses(createMessagesWithCalls(8), [batch()], {
      smart: createOptionsWithModel(small),
    });
    expect(narrow.steps[0]?.outcome).toMatchObject({ kind: 'failed' });
  });
});
