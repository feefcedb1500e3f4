import { expect, it } from 'vitest';
import { measureCoherence } from '../../core/condense/coherence/coherence';
import { Draft } from '../../core/condense/draft/draft';
import { makeToolExchange, user } from '../../core/testing';
import { createCounter } from '../../core/testingCounter';
import { previewMethods } from './methods';

const { result } = previewMethods.previewCoherence;

it("a preview's report with the most and longest allowed examples fits the panel's protocol, a larger one does not", () => {
  const failing = Array.from({ length: 40 }, (_, step) =>
    makeToolExchange(
      `c${step}`,
      'Bash',
      { command: 'x' },
      `error: ${step} ${'word '.repeat(50)}\n${'more '.repeat(60)}`,
    ),
  );
  const messages = [user('Mend it.'), ...failing.flat()];
  const draft = new Draft(messages, createCounter());
  for (let message = 2; message < messages.length; message += 2) {
    draft.cutText('s', { message, path: ['content', 0, 'content'] }, [{ start: 0, end: 400, marker: null }], {
      contentType: 'toolResults',
      operation: 'cut',
      reason: 'r',
      strict: false,
    });
  }
  const report = measureCoherence(messages, draft.edits);
  expect(report.errors.lost).toBe(40);
  expect(result.parse(report)).toEqual(report);
  const longer = { ...report.errors, lostExamples: ['x'.repeat(201)] };
  const more = { ...report.errors, lostExamples: Array<string>(21).fill('x') };
  for (const errors of [longer, more]) expect(result.safeParse({ ...report, errors }).success).toBe(false);
});
